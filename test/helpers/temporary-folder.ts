import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** What Node's `os.tmpdir()`, and the programs that tests start, look at: POSIX first, then Windows. */
const variables = ['TMPDIR', 'TMP', 'TEMP'];

/** Short, since a browser puts a socket below it, and a socket's path has some hundred characters (`sun_path`). */
const prefix = 'podexit-';

/**
 * Gives a whole test run one folder for everything temporary, and takes it away at the end: a run makes some hundreds of
 * kubeconfigs and recordings, and a machine that tests often would fill up with them. Vitest calls this for the run and
 * again for each project that extends it; those share the first one's folder.
 */
export default function setup(): (() => void) | undefined {
  if (basename(tmpdir()).startsWith(prefix)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  for (const variable of variables) process.env[variable] = folder;
  // Windows keeps a file that a process just ended still holds.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
