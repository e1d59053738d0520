/**
 * From the arrival of a mark's line of a watch to the mark on stdout; and, in turns, the same of a process that
 * does nothing but say which line arrived: what a socket and a pipe cost on this machine now. One process hands the lines on,
 * another reads stdout, both by the clock of the machine.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startBusyCluster, changesPerSecond } from './busy-cluster.ts';
import type { Contest } from './contest.ts';
import { ended, podexit, start } from './program.ts';
import type { Passed } from './relay.ts';
import { monotonic } from './relay.ts';
import { quantile, spreadOf } from './spread.ts';
import { stolenMs } from './stolen.ts';
import { latencyOf, type ReadMark } from './mark-source.ts';

/** ms, of the 99th percentile */
const limit = 10;
/** ms that the echo listens: about as long as the pod takes to exit. */
const listening = 4000;

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
      promise: { of: 'p99, ms', value: p99, most: limit },
      note,
    },
  ];
}

const taken = (before: number | undefined): string =>
  before === undefined ? '' : `; the host took ${(stolenMs() ?? before) - before} ms of processor time meanwhile`;

const ascending = (a: number, b: number): number => a - b;

async function inTurns(rounds: number) {
  const ours: number[] = [];
  const echoed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(...(await ofMarks()));
    echoed.push(...(await ofEchoes()));
  }
  return { ours: ours.sort(ascending), echoed: echoed.sort(ascending) };
}

async function ofMarks(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-bench-'));
  const file = join(folder, 'recording.ndjson');
  const { read, ...heard } = await listen(({ pod, url, flags }) => [
    ...[...podexit, pod, '-o', 'ndjson', '--no-config', '--record', file],
    ...[...flags, '--server', url],
  ]);
  const said = { ...heard, recording: readFileSync(file, 'utf8') };
  rmSync(folder, { recursive: true });
  const settlesAt = (read.find(({ text }) => text.startsWith(report))?.readAt ?? Infinity) - settling;
  return read
    .filter(({ text, readAt }) => readAt < settlesAt && comesFromWatch(text))
    .flatMap(({ text, readAt }) => latencyOf({ ...(JSON.parse(text) as Pick<ReadMark, 'mark'>), readAt }, said) ?? []);
}

const report = '{"type":"report"';
/** ms before the report in which it settles marks: those lines answer no line of a watch. */
const settling = 10;

/** They come from our own request, and from no watch. */
const ownMarks: readonly unknown[] = ['requested', 'accepted'];

function comesFromWatch(line: string): boolean {
  const { type, id } = JSON.parse(line) as { type?: string; id?: unknown };
  return type === 'mark' && !ownMarks.includes(id);
}

async function ofEchoes(): Promise<number[]> {
  const { read, passed } = await listen(({ url, namespace }) => [process.execPath, echo, url, namespace], listening);
  return read.map(({ text, readAt }) => readAt - (passed.find(({ bytes }) => bytes.includes(text))?.at ?? NaN));
}

const echo = fileURLToPath(new URL('echo.mjs', import.meta.url));

/** `url`: of the relay. */
interface Listened {
  url: string;
  pod: string;
  namespace: string;
  flags: readonly string[];
}

/** What a program said among the changes, line by line, and what was said to it. */
async function listen(
  words: (to: Listened) => string[],
  stopAfter?: number,
): Promise<{ pod: string; read: { text: string; readAt: number }[]; passed: readonly Passed[] }> {
  const { server, flags, passed, close } = await startBusyCluster('graceful-exit');
  const child = start(words({ ...server, flags, url: server.relayUrl }), 'pipe');
  const stop = stopAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), stopAfter);
  // Read now, understood later: what we do here keeps a processor from the program.
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
