/** From the arrival of what tells a mark to the mark on stdout, as the reader of the pipe sees it. */
import { startBusyCluster, changesPerSecond } from './busy-cluster.ts';
import type { Contest } from './contest.ts';
import { ended, podexit, start } from './program.ts';
import { quantile, spreadOf } from './spread.ts';

/** ms */
const limit = 5;

export async function markLatency(rounds: number): Promise<Contest[]> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(...(await latencies()));
  const p99 = quantile(
    [...all].sort((a, b) => a - b),
    0.99,
  );
  return [
    {
      name: `mark on stdout, ${changesPerSecond} changes/s`,
      unit: 'ms',
      ours: spreadOf(all),
      ratio: p99 / limit,
      promised: 1,
      note: `p99 ${p99.toFixed(1)} ms of ${all.length} marks, limit ${limit} ms`,
    },
  ];
}

async function latencies(): Promise<number[]> {
  const cluster = await startBusyCluster('graceful-exit');
  const child = start([...podexit, cluster.server.pod, '-o', 'ndjson', '--no-config', ...cluster.flags], 'pipe');
  const found: number[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const now = performance.timeOrigin + performance.now();
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) found.push(...latencyOf(line, now));
  });
  await ended(child);
  await cluster.close();
  return found;
}

function latencyOf(line: string, now: number): number[] {
  const { type, at } = JSON.parse(line) as { type?: string; at?: unknown };
  return type === 'mark' && typeof at === 'string' ? [now - Date.parse(at)] : [];
}
