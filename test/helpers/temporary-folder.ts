import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The variables of Node's `os.tmpdir()` and of the programs that tests start: POSIX first, then Windows. */
const variables = ['TMPDIR', 'TMP', 'TEMP'];

/** Short, because a browser creates a socket in it, and the path of a socket has about 100 characters (`sun_path`). */
const prefix = 'podexit-';

/**
 * Creates one temporary folder for the whole test run, and removes it at the end: a run writes hundreds of kubeconfigs
 * and recordings. Vitest calls this for the run and for each project that extends it. These share the first folder.
 */
export default function setup(): (() => void) | undefined {
  if (basename(tmpdir()).startsWith(prefix)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  for (const variable of variables) process.env[variable] = folder;
  // On Windows a process that has just exited may still lock a file.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
