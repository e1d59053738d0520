/** Files of one run that must not be one file: the later would overwrite the earlier, a report its own recording. */
import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { PodexitError } from '../errors.ts';
import type { ReportFile } from './writable.ts';

/** Throws `usage.same-file` where a report is the recording, by whatever path. `recording`: the file and its flag. */
export function assertDistinct(recording: { file: string; what: string }, reports: readonly ReportFile[]): void {
  const identity = identityOf(recording.file);
  const same = identity === undefined ? undefined : reports.find(({ file }) => identityOf(file) === identity);
  if (!same) return;
  throw new PodexitError(
    'usage.same-file',
    `${recording.what} ${recording.file} and --report ${same.file} are the same file`,
    'The report would overwrite the recording: name two files.',
  );
}

const mostLinks = 40;

/** The same for every path to a file, also one that is not there yet; pipes and devices take both, one after the other. */
function identityOf(file: string, links = 0): string | undefined {
  const found = attempt(() => statSync(file, { bigint: true }));
  if (found) return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  const link = attempt(() => readlinkSync(file));
  if (link !== undefined && links < mostLinks) return identityOf(resolve(dirname(file), link), links + 1);
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
