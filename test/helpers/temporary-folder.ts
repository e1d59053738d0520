import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What Node's `os.tmpdir()`, and the programs that tests start, look at: POSIX first, then Windows. */
const variables = ['TMPDIR', 'TMP', 'TEMP'];

/**
 * Gives a whole test run one folder for everything temporary, and takes it away at the end: a run makes some hundreds of
 * kubeconfigs and recordings, and a machine that tests often would fill up with them.
 */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-tests-'));
  for (const variable of variables) process.env[variable] = folder;
  // Windows keeps a file that a process just ended still holds.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
