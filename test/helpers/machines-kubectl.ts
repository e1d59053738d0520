import { spawnSync } from 'node:child_process';

/** Whether there is a kubectl on the PATH. Without it the tests that need it are skipped, with a message. */
export const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).error === undefined;
if (!hasKubectl) process.stderr.write('skipped, there is no kubectl on the PATH\n');
