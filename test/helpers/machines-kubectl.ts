import { spawnSync } from 'node:child_process';

/** Whether the machine has a kubectl of its own; what is tested with it is skipped, and says so, where not. */
export const hasKubectl = spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).error === undefined;
if (!hasKubectl) process.stderr.write('skipped, there is no kubectl on the PATH\n');
