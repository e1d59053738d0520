/**
 * The cost of following many pods at once: a recorded scale-down, with its pods copied as often as needed, played by a
 * server in its own process. Linux only: CPU time and peak memory are read from /proc.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { Contest } from './contest.ts';
import { ended, podexit, start, startServer } from './program.ts';
import type { PlayedWorkload } from './rollout-server.ts';
import { spreadOf } from './spread.ts';

interface Size {
  /** Pods that terminate. */
  readonly pods: number;
  /** Pods of the same workload that stay. */
  readonly others: number;
}

interface Cost {
  readonly cpuMs: number;
  readonly peakMiB: number;
  /** As printed by `-v=2`. Tests of runs over many pods compare them with the counts of the server. */
  readonly watches: number;
  readonly requests: number;
}

const sizes: readonly Size[] = [
  { pods: 60, others: 0 },
  { pods: 60, others: 440 },
  { pods: 500, others: 0 },
];

/** `quick`: only the smallest size. */
export async function rolloutCost(quick: boolean): Promise<Contest[]> {
  if (!existsSync('/proc/self/stat')) return [];
  const rows: Contest[] = [];
  for (const size of quick ? sizes.slice(0, 1) : sizes) rows.push(...rowsOf(size, await costOf(size)));
  return rows;
}

/** The limits for pods of one node. Memory: 150 MiB up to 70 pods, 400 MiB up to 500. */
function rowsOf({ pods, others }: Size, { cpuMs, peakMiB, watches, requests }: Cost): Contest[] {
  const of = `${pods} pods${others > 0 ? ` beside ${others} others` : ''}`;
  return [
    {
      name: `CPU of one of ${of}`,
      unit: 'ms',
      ours: spreadOf([cpuMs / pods]),
      promise: { of: 'all, ms', value: cpuMs, most: 600 + 60 * pods },
      note: `${(cpuMs / 1000).toFixed(1)} s in all`,
    },
    {
      name: `memory, ${of}`,
      unit: 'MiB',
      ours: spreadOf([peakMiB]),
      promise: { of: 'MiB', value: peakMiB, most: pods + others <= 70 ? 150 : 400 },
    },
    {
      name: `requests, ${of}`,
      unit: 'requests',
      ours: spreadOf([requests]),
      promise: { of: 'requests', value: requests, most: 40 + 6 + 2 * pods },
      note: `${watches} of them watches (at most 15)${watches > 15 ? ': TOO MANY' : ''}`,
    },
  ];
}

async function costOf({ pods, others }: Size): Promise<Cost> {
  const { server, flags, close } = await startServer<PlayedWorkload>('rollout-server.ts', [`${pods}`, `${others}`]);
  const words = ['deployment/checkout', '--all-terminating', '-o', 'name', '-v=2', '--no-config'];
  const child = start([...podexit, ...words, '--server', server.url, ...flags], 'pipe', undefined, 'pipe');
  let [named, printed] = ['', ''];
  child.stdout?.on('data', (bytes: Buffer) => (named += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => (printed += bytes.toString()));
  let used = { cpuMs: 0, peakMiB: 0 };
  const polling = setInterval(() => (used = usedBy(child.pid) ?? used), 50);
  await ended(child);
  clearInterval(polling);
  await close();
  const [, watches, , rest] = /(\d+) watches, (\d+) logs, (\d+) other requests/.exec(printed)?.map(Number) ?? [];
  const reported = new Set(named.split('\n').filter((line) => line.startsWith('pod/'))).size;
  if (watches === undefined || rest === undefined || reported !== pods)
    throw new Error(`the run reported ${reported} of ${pods} pods: ${printed}`);
  return { ...used, watches, requests: watches + rest };
}

/** /proc counts in hundredths of a second on every Linux that Node runs on. */
const tickMs = 10;

/** What the process has used so far; undefined once it has exited. */
function usedBy(pid = 0): Pick<Cost, 'cpuMs' | 'peakMiB'> | undefined {
  try {
    // The name in parentheses may contain spaces; utime and stime are the 12th and 13th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const kib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    if (!Number.isFinite(kib)) return undefined;
    return { cpuMs: (Number(fields[11]) + Number(fields[12])) * tickMs, peakMiB: kib / 1024 };
  } catch {
    return undefined;
  }
}
