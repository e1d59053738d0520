/**
 * From the arrival of the line of a watch that tells a mark to the mark on stdout, as the reader of the pipe sees it; and,
 * in turns, the same of a process that does nothing but say when a line of a watch arrived: what a pipe costs on this
 * machine now.
 */
import { fileURLToPath } from 'node:url';
import { startBusyCluster, changesPerSecond } from './busy-cluster.ts';
import type { BusyCluster } from './busy-cluster.ts';
import type { Contest } from './contest.ts';
import { ended, podexit, start } from './program.ts';
import { quantile, spreadOf } from './spread.ts';

/** ms, of the 99th percentile */
const limit = 5;
/** ms that the echo listens: about as long as the pod takes to exit. */
const listening = 4000;

export async function markLatency(rounds: number): Promise<Contest[]> {
  const ours: number[] = [];
  const echoed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(
      ...(await latencies(({ server, flags }) => [...podexit, server.pod, '-o', 'ndjson', '--no-config', ...flags])),
    );
    echoed.push(
      ...(await latencies(({ server }) => [process.execPath, echo, server.url, server.namespace], listening)),
    );
  }
  const spread = spreadOf(ours);
  const p99 = percentile99(ours);
  return [
    {
      name: `mark on stdout, ${changesPerSecond} changes/s`,
      unit: 'ms',
      ours: spread,
      // No ratio: the echo says how busy the machine is, but a busy machine does not slow the two alike.
      reference: { name: 'a line echoed', ...spreadOf(echoed) },
      promise: { of: 'p99, ms', value: p99, most: limit },
      note: `p99 of ${ours.length} marks: ${p99.toFixed(1)} ms, of the echo ${percentile99(echoed).toFixed(1)} ms`,
    },
  ];
}

const echo = fileURLToPath(new URL('echo.mjs', import.meta.url));

async function latencies(words: (cluster: BusyCluster) => string[], stopAfter?: number): Promise<number[]> {
  const cluster = await startBusyCluster('graceful-exit');
  const child = start(words(cluster), 'pipe');
  const stop = stopAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), stopAfter);
  const found: { latency: number; readAt: number }[] = [];
  let [rest, settlesAt] = ['', Infinity];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const readAt = performance.timeOrigin + performance.now();
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) found.push(...latencyOf(line, readAt).map((latency) => ({ latency, readAt })));
    if ([...lines, rest].some((line) => line.startsWith(report))) settlesAt = Math.min(settlesAt, readAt - settling);
  });
  await ended(child);
  clearTimeout(stop);
  await cluster.close();
  return found.flatMap(({ latency, readAt }) => (readAt < settlesAt ? latency : []));
}

const report = '{"type":"report"';
/** ms before the report in which it settles marks: those lines answer no line of a watch. */
const settling = 10;

/** What we asked and what was answered is told by no watch. */
const ownMarks: readonly unknown[] = ['requested', 'accepted'];

function latencyOf(line: string, now: number): number[] {
  const { type, at, id } = JSON.parse(line) as { type?: string; at?: unknown; id?: unknown };
  const isToldByWatch = type === 'mark' && typeof at === 'string' && !ownMarks.includes(id);
  return isToldByWatch ? [now - Date.parse(at)] : [];
}

function percentile99(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.99,
  );
}
