/** Whether the files of a run can be written, asked before anything is deleted. */
import { constants, promises as fs } from 'node:fs';
import { dirname } from 'node:path';
import { PodexitError } from '../errors.ts';
import { unrecordable } from '../recording/recorder.ts';
import type { Format } from './formats.ts';

/** Of `--report`. */
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
