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
  // Read now, understood later: what we do here keeps a processor from the program.
  const chunks: Chunk[] = [];
  child.stdout?.on('data', (bytes: Buffer) => chunks.push({ bytes, readAt: performance.now() }));
  await ended(child);
  clearTimeout(stop);
  await cluster.close();
  const lines = linesOf(chunks);
  const settlesAt = reportedAt(chunks) - settling;
  return lines.flatMap(({ text, readAt }) => (readAt < settlesAt ? latencyOf(text, readAt) : []));
}

/** `readAt`: of performance.now(). */
interface Chunk {
  bytes: Buffer;
  readAt: number;
}

/** When the report began to arrive. */
function reportedAt(chunks: readonly Chunk[]): number {
  let before = Buffer.concat(chunks.map(({ bytes }) => bytes)).indexOf(report);
  return before === -1 ? Infinity : (chunks.find(({ bytes }) => (before -= bytes.length) < 0)?.readAt ?? Infinity);
}

/** Each line with the time at which its end was read. */
function linesOf(chunks: readonly Chunk[]): { text: string; readAt: number }[] {
  let rest = Buffer.alloc(0);
  return chunks.flatMap(({ bytes, readAt }) => {
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf('\n') + 1;
    rest = all.subarray(end);
    const text = all.toString('utf8', 0, end);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ text: line, readAt }));
  });
}

const report = '{"type":"report"';
/** ms before the report in which it settles marks: those lines answer no line of a watch. */
const settling = 10;

/** What we asked and what was answered is told by no watch. */
const ownMarks: readonly unknown[] = ['requested', 'accepted'];

function latencyOf(line: string, readAt: number): number[] {
  const { type, at, id } = JSON.parse(line) as { type?: string; at?: unknown; id?: unknown };
  const isToldByWatch = type === 'mark' && typeof at === 'string' && !ownMarks.includes(id);
  return isToldByWatch ? [performance.timeOrigin + readAt - Date.parse(at)] : [];
}

function percentile99(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.99,
  );
}
