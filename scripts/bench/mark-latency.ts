/**
 * The time from the arrival of a watch line to its mark on stdout. For comparison it measures in turns a process that
 * only echoes the lines: the cost of a socket and a pipe on this machine. One process forwards the lines, another reads
 * stdout. Both use the machine's clock.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBusyCluster, changesPerSecond } from './busy-cluster.ts';
import type { Contest } from './contest.ts';
import { ended, podexit, start } from './program.ts';
import { monotonic, type Passed } from './proxy.ts';
import { quantile, spreadOf } from './spread.ts';
import { latencyOf, type ReadMark } from './mark-source.ts';

/** The promised 99th percentile. */
const maxP99Ms = 10;
/** How long the echo listens: about as long as the pod takes to exit. */
const echoMs = 4000;

export async function markLatency(rounds: number): Promise<Contest[]> {
  const before = stolenMs();
  const { ours, echoed } = await inTurns(rounds);
  const p99 = quantile(ours, 0.99);
  const note = `p99 of ${ours.length} marks: ${p99.toFixed(1)} ms, of the echo ${quantile(echoed, 0.99).toFixed(1)} ms${taken(before)}`;
  return [
    {
      name: `mark on stdout, ${changesPerSecond} changes/s`,
      unit: 'ms',
      ours: spreadOf(ours),
      // No ratio: the echo says how busy the machine is, but a busy machine does not slow the two alike.
      reference: { name: 'a line echoed', ...spreadOf(echoed) },
      promise: { of: 'p99, ms', value: p99, most: maxP99Ms },
      note,
    },
  ];
}

const taken = (before: number | undefined): string =>
  before === undefined ? '' : `; the host took ${(stolenMs() ?? before) - before} ms of processor time meanwhile`;

/**
 * CPU time that the host took from this virtual machine, which delays every program on it: ms, over all processors
 * since the machine started; undefined if unknown. Linux counts in steps of 10 ms.
 */
function stolenMs(): number | undefined {
  try {
    // proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal; in hundredths of a second.
    const [, , , , , , , , steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/);
    return Number(steal) * 10;
  } catch {
    return undefined;
  }
}

const ascending = (a: number, b: number): number => a - b;

async function inTurns(rounds: number) {
  const ours: number[] = [];
  const echoed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(...(await markLatencies()));
    echoed.push(...(await echoLatencies()));
  }
  return { ours: ours.sort(ascending), echoed: echoed.sort(ascending) };
}

async function markLatencies(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-bench-'));
  const file = join(folder, 'recording.ndjson');
  const { read, ...seen } = await listen(({ pod, url, flags }) => [
    ...[...podexit, pod, '-o', 'ndjson', '--no-config', '--record', file],
    ...[...flags, '--server', url],
  ]);
  const run = { ...seen, recording: readFileSync(file, 'utf8') };
  rmSync(folder, { recursive: true });
  const settlesAt = (read.find(({ text }) => text.startsWith(report))?.readAt ?? Infinity) - settlingMs;
  return (
    read
      .filter(({ text, readAt }) => readAt < settlesAt && comesFromWatch(text))
      // A mark that comes again was corrected, often by the end of the run and not by a line.
      .filter(({ text }, index, marks) => marks.findIndex((one) => idOf(one.text) === idOf(text)) === index)
      .flatMap(({ text, readAt }) => latencyOf({ ...(JSON.parse(text) as Pick<ReadMark, 'mark'>), readAt }, run) ?? [])
  );
}

const report = '{"type":"report"';
/** Marks printed this shortly before the report are settled by the end of the run, not caused by a watch line. */
const settlingMs = 10;

/** Marks that come from our own request, not from a watch. */
const ownMarks: readonly unknown[] = ['requested', 'accepted'];

function comesFromWatch(line: string): boolean {
  const { type, id } = JSON.parse(line) as { type?: string; id?: unknown };
  return type === 'mark' && !ownMarks.includes(id);
}

const idOf = (line: string): unknown => (JSON.parse(line) as { id?: unknown }).id;

async function echoLatencies(): Promise<number[]> {
  const { read, passed } = await listen(({ url, namespace }) => [process.execPath, echo, url, namespace], echoMs);
  return read.map(({ text, readAt }) => readAt - (passed.find(({ bytes }) => bytes.includes(text))?.at ?? NaN));
}

const echo = fileURLToPath(new URL('echo.mjs', import.meta.url));

/** `url`: the relay's. */
interface Listened {
  url: string;
  pod: string;
  namespace: string;
  flags: readonly string[];
}

/** Runs a program in the busy cluster. Returns the lines that it printed, and what the relay forwarded to it. */
async function listen(
  words: (to: Listened) => string[],
  stopAfter?: number,
): Promise<{ pod: string; read: { text: string; readAt: number }[]; passed: readonly Passed[] }> {
  const { server, flags, passed, close } = await startBusyCluster('graceful-exit');
  const child = start(words({ ...server, flags, url: server.relayUrl }), 'pipe');
  const stop = stopAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), stopAfter);
  // Only read now and parse later: work here would take CPU time from the program.
  const chunks: Passed[] = [];
  child.stdout?.on('data', (bytes: Buffer) => chunks.push({ bytes, at: monotonic() }));
  await ended(child);
  clearTimeout(stop);
  const relayed = await passed();
  await close();
  return { pod: server.pod, read: linesOf(chunks), passed: relayed };
}

/** Each line with the time at which its end was read. */
function linesOf(chunks: readonly Passed[]): { text: string; readAt: number }[] {
  let rest = Buffer.alloc(0);
  return chunks.flatMap(({ bytes, at }) => {
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf('\n') + 1;
    rest = all.subarray(end);
    const text = all.toString('utf8', 0, end);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => ({ text: line, readAt: at }));
  });
}
