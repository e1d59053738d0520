/**
 * How much a rollout takes longer if podexit follows it, on a machine without an idle processor: 60 pods that take CPU
 * time, beside one busy loop for each processor, in turns with and without podexit.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { contest, type Contest } from './contest.ts';
import { ended, podexit, start, startServer } from './program.ts';
import type { PlayedWorkload } from './rollout-server.ts';

/** ms for podexit to be following. */
const readyMs = 5000;

export async function rolloutSlowdown(rounds: number): Promise<Contest[]> {
  const slowdown = await contest({
    name: 'rollout of 60 that podexit follows',
    unit: 'ms',
    rounds,
    ours: () => rollout(true),
    reference: { name: 'not followed', measure: () => rollout(false) },
    promised: 1.04,
    note: `beside ${cpus().length} busy loops`,
  });
  return [slowdown];
}

async function rollout(isFollowed: boolean): Promise<number> {
  const {
    child: server,
    server: played,
    flags,
    close,
  } = await startServer<PlayedWorkload>('rollout-server.ts', ['60', '0', 'worked']);
  const words = ['deployment/checkout', '--all-terminating', '-o', 'ndjson', '--no-config', '--server', played.url];
  const follower = isFollowed ? start([...podexit, ...words, ...flags]) : undefined;
  await new Promise((resolve) => setTimeout(resolve, readyMs));
  const loops = cpus().map(() => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  server.send('begin');
  const [tookMs] = (await once(server, 'message')) as [number];
  loops.forEach((loop) => loop.kill('SIGKILL'));
  follower?.kill('SIGKILL');
  if (follower) await ended(follower);
  await close();
  return tookMs;
}
