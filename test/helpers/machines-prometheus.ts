import { spawnSync } from 'node:child_process';

/** Whether prometheus and promtool are on the PATH. Without them the tests that need them are skipped, with a message. */
export const hasPrometheus = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined,
);
if (!hasPrometheus) process.stderr.write('skipped, there is no prometheus with its promtool on the PATH\n');
