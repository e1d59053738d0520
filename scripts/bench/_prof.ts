import { startBusyCluster } from './busy-cluster.ts';
import { spawn } from 'node:child_process';
const flags2 = process.argv.slice(2);
for (let i = 0; i < 3; i++) {
  const { server, flags, close } = await startBusyCluster('graceful-exit');
  const c = spawn(
    process.execPath,
    [
      ...flags2,
      'bin/kubectl-podexit',
      server.pod,
      '-o',
      'ndjson',
      '--no-config',
      '--record',
      `/tmp/rec-${process.pid}-${i}`,
      ...flags,
      '--server',
      server.url,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env.PATH, HOME: '/tmp/profhome', NO_COLOR: '1' } },
  );
  await new Promise((r) => c.on('close', r));
  await close();
}
