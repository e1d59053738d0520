/** The files of `--report`: refused before anything is deleted where they cannot be, written when the report is there. */
import { closeSync, constants, promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { PodexitError } from '../errors.ts';
import { unrecordable } from '../recording/recorder.ts';
import { causeOf, emptyOutput, openOutput, writeSome } from '../recording/output-file.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import { isDocument, renderDocument } from './documents.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';

export interface ReportFile {
  file: string;
  format: Format;
}

/** Throws `report.unwritable`. What changes later, a disk that fills up, still costs only the file and exit code 1. */
export async function assertWritable(files: readonly ReportFile[]): Promise<void> {
  for (const { file } of files) {
    const cause = await obstacleTo(file);
    if (cause === undefined) continue;
    throw new PodexitError(
      'report.unwritable',
      `cannot write the report ${file} (${cause})`,
      'Choose another path for --report.',
    );
  }
}

/** Throws `record.unwritable`: before anything is asked of the cluster, though the file is opened only when a pod is there. */
export async function assertRecordable(file: string | undefined): Promise<void> {
  const cause = file === undefined ? undefined : await obstacleTo(file);
  if (file !== undefined && cause !== undefined) throw unrecordable(file, cause);
}

/** An error code of the system. A file that is not there yet is no obstacle, but its folder must take it. */
async function obstacleTo(file: string): Promise<string | undefined> {
  try {
    const found = await fs.stat(file).catch(() => undefined);
    if (found?.isDirectory()) return 'EISDIR';
    await fs.access(found ? file : dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** False, and a word on stderr, where it could not be written. */
export async function writeReport({ file, format }: ReportFile, report: Report, ports: Ports): Promise<boolean> {
  try {
    await writeWhole(file, await contentOf(format, report), ports);
    return true;
  } catch (error) {
    ports.stderr.write(`podexit: the report ${file} could not be written (${causeOf(error)})\n`);
    return false;
  }
}

/** ms between two looks at a pipe that is full. */
const napMs = 20;

/** Waits for a reader that is slow, as every command in a pipe does, but not for one that never comes. */
async function writeWhole(file: string, text: string, { clock }: Ports): Promise<void> {
  const output = openOutput(file, 0o666);
  try {
    emptyOutput(output);
    const bytes = Buffer.from(text);
    for (let written = 0; written < bytes.length;) {
      const taken = writeSome(output, bytes, written);
      written += taken;
      if (taken === 0) await new Promise<void>((resolve) => void clock.setTimeout(resolve, napMs));
    }
  } finally {
    closeSync(output.descriptor);
  }
}

/** Report files of one of several pods, each named after its pod: `exit.html` becomes `exit-POD.html`. 0, or 1. */
export async function finishFiles(
  report: Report,
  pod: string,
  files: readonly ReportFile[],
  ports: Ports,
): Promise<number> {
  const own = files.map(({ file, format }) => ({ file: ownFile(file, pod), format }));
  const written = await Promise.all(own.map((one) => writeReport(one, report, ports)));
  return written.includes(false) ? 1 : 0;
}

/** Names pods apart: a StatefulSet's next pod has the name of the last one, and is called `web-0-2`. */
export function ownNames(): (pod: { name: string; uid: string }) => string {
  const owners = new Map<string, string>();
  return ({ name, uid }) => {
    for (let nth = 1; ; nth++) {
      const own = nth === 1 ? name : `${name}-${nth}`;
      if (!owners.has(own)) owners.set(own, uid);
      if (owners.get(own) === uid) return own;
    }
  };
}

/** `exit.html` of one of several pods, also where the name has no ending; /dev/stdout and the like take all of them. */
export const ownFile = (file: string, pod: string): string =>
  file.startsWith('/dev/')
    ? file
    : file.replace(/((?:\.junit)?\.[^./\\]+)?$/, (ending: string | undefined = '') => `-${pod}${ending}`);

/** A report as the text of a format. */
export async function contentOf(format: Format, report: Report): Promise<string> {
  if (isDocument(format)) return renderDocument(format, report);
  const { createNdjson } = await import('../render/ndjson.ts');
  let text = '';
  createNdjson((line) => (text += line)).end(exitReportOf(report));
  return text;
}
