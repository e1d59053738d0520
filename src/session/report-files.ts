/** The files of `--report`: refused before anything is deleted where they cannot be, written when the report is there. */
import { constants, promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { PodexitError } from '../errors.ts';
import type { ExitReport } from '../trace/report.ts';
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
export async function writeReport(
  { file, format }: ReportFile,
  report: ExitReport,
  { stderr }: Ports,
): Promise<boolean> {
  try {
    await fs.writeFile(file, await contentOf(format, report));
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    stderr.write(`podexit: the report ${file} could not be written (${code ?? message})\n`);
    return false;
  }
}

/** Report files of one of several pods, each named after its pod: `exit.html` becomes `exit-POD.html`. 0, or 1. */
export async function finishFiles(report: ExitReport, files: readonly ReportFile[], ports: Ports): Promise<number> {
  const own = files.map(({ file, format }) => ({ file: ownFile(file, report.pod.name), format }));
  const written = await Promise.all(own.map((one) => writeReport(one, report, ports)));
  return written.includes(false) ? 1 : 0;
}

/** `exit.html` of one of several pods. */
export const ownFile = (file: string, pod: string): string => file.replace(/((?:\.junit)?\.[^./\\]+)$/, `-${pod}$1`);

/** A report as the text of a format. */
export async function contentOf(format: Format, report: ExitReport): Promise<string> {
  if (isDocument(format)) return renderDocument(format, report);
  const { createNdjson } = await import('../render/ndjson.ts');
  let text = '';
  createNdjson((line) => (text += line)).end(report);
  return text;
}
