/** The files of a run, its recording and its reports: that they can be written is checked before any deletion. */
import { constants, promises as fs, readlinkSync, realpathSync, statSync, closeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PodexitError } from '../errors.ts';
import { causeOf, emptyOutput, openOutput, openRecorder, unrecordable, writeSome } from '../recording/recorder.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { ReportFile } from './formats.ts';
import { render, type Views } from './render.ts';
import type { OutputPorts } from './ports.ts';
import { recordingVersion } from '../recording/reader.ts';
import { forJson } from './safe-text.ts';

/** Throws `usage.same-file`, `record.unwritable` or `report.unwritable`. The recording itself is opened later. */
export async function assertOutputs({ record, reports }: { record?: string; reports: readonly ReportFile[] }) {
  if (record !== undefined) {
    assertDistinct({ file: record, what: '--record' }, reports);
    const cause = await writeErrorOf(record);
    if (cause !== undefined) throw unrecordable(record, cause);
  }
  await assertWritable(reports);
}

/** Throws `report.unwritable`. A later failure, for example a full disk, costs only the file and exit code 1. */
export async function assertWritable(files: readonly ReportFile[]): Promise<void> {
  for (const file of files.map((one) => one.file)) {
    // A folder with a file for each pod is made if it is missing.
    if (isForEachPod({ file })) await fs.mkdir(dirname(file), { recursive: true }).catch(() => undefined);
    const cause = await writeErrorOf(file);
    if (cause === undefined) continue;
    throw new PodexitError(
      'report.unwritable',
      `cannot write the report ${file} (${cause})`,
      'Choose another path for --report.',
    );
  }
}

/** `exits/POD.html`: a file for each pod. */
export const isForEachPod = ({ file }: Pick<ReportFile, 'file'>): boolean => /^POD\./.test(basename(file));

/** The system's error code if the file cannot be written. A new file needs a writable folder. */
async function writeErrorOf(file: string): Promise<string | undefined> {
  try {
    const found = await fs.stat(file).catch(() => undefined);
    if (found?.isDirectory()) return 'EISDIR';
    await fs.access(found ? file : dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Throws `usage.same-file` if a report is the recording, by any path. `recording`: the file and its flag. */
export function assertDistinct(recording: { file: string; what: string }, reports: readonly ReportFile[]): void {
  const identity = identityOf(recording.file);
  const same = identity && reports.find(({ file }) => identityOf(file) === identity);
  if (!same) return;
  throw new PodexitError(
    'usage.same-file',
    `${recording.what} ${recording.file} and --report ${same.file} are the same file`,
    'The report would overwrite the recording: name two files.',
  );
}

/** Equal for all paths to a file, even a new one. Undefined for pipes and devices, which may take both. */
function identityOf(file: string, links = 0): string | undefined {
  const found = attempt(() => statSync(file, { bigint: true }));
  if (found) return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  const link = attempt(() => readlinkSync(file));
  if (link !== undefined && links < 40) return identityOf(resolve(dirname(file), link), links + 1);
  const folder = dirname(resolve(file));
  return join(attempt(() => realpathSync(folder)) ?? folder, basename(file));
}

function attempt<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** Returns 0, or 1 and a warning on stderr if a file could not be written. */
export async function writeReports<R>(
  views: Views<R>,
  result: R,
  files: readonly ReportFile[],
  ports: OutputPorts,
): Promise<0 | 1> {
  let code: 0 | 1 = 0;
  const write = async ({ file, format }: ReportFile): Promise<void> => {
    try {
      await writeWhole(file, await render(format, views, result), ports);
    } catch (error) {
      code = 1;
      ports.stderr.write(`podexit: the report ${file} could not be written (${causeOf(error)})\n`);
    }
  };
  await Promise.all(files.map(write));
  return code;
}

/** The file of one pod, by its unique name: `exits/web-0.html` for `exits/POD.html`. */
export const fileOfPod = ({ file, format }: ReportFile, pod: string): ReportFile => ({
  file: `${file.slice(0, -basename(file).length)}${basename(file).replace('POD', () => pod)}`,
  format,
});

/** Waits for a slow reader, as every command in a pipe does, but not for a reader that never opens the pipe. */
async function writeWhole(file: string, text: string, { clock }: OutputPorts): Promise<void> {
  const output = openOutput(file, 0o666);
  try {
    emptyOutput(output);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) {
      const taken = writeSome(output, bytes, written);
      written += taken;
      if (taken === 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, 20));
    }
  } finally {
    closeSync(output.descriptor);
  }
}

/** A unique name for each pod: a StatefulSet's next pod has the same name as the last, and is called `web-0-2`. */
export function uniquePodNames(): (pod: { name: string; uid: string }) => string {
  const owners = new Map<string, string>();
  return ({ name, uid }) => {
    for (let nth = 1; ; nth++) {
      const own = nth === 1 ? name : `${name}-${nth}`;
      if (!owners.has(own)) owners.set(own, uid);
      if (owners.get(own) === uid) return own;
    }
  };
}

/** The recorder of a run. `onFailure`: the recording breaks off. Throws `record.unwritable`. */
export function recorderFor(
  file: string,
  logText: boolean,
  { clock, version }: Pick<OutputPorts, 'clock' | 'version'>,
  onFailure: (error: Error) => void,
): Recorder {
  const recorded = new Date(clock.now()).toISOString();
  const header = { podexit: recordingVersion, program: version, recorded, logText };
  return openRecorder(file, header, { safe: forJson, onFailure });
}
