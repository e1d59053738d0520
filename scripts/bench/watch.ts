/**
 * `npm run bench:watch -- [--seconds 600] [--pods 5000] [--changes 200] [--exits 20] [--faults]`:
 * `watch -A` beside `kubectl get pods -A -w -o json`, both on one embedded server in a process of its own. Prints CPU time,
 * memory, missed and doubled exits, and how late the lines are. `--faults`: the server cuts watches, forgets its history,
 * refuses requests and sends half lines all the time, and kubectl, which ends at the first of these, is left out. Linux
 * only: it reads /proc.
 */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { ChildProcess } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ended, podexit, start, startServer } from './program.ts';
import type { RemovedPod, WatchedCluster } from './watch-server.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    pods: { type: 'string', default: '5000' },
    changes: { type: 'string', default: '200' },
    exits: { type: 'string', default: '20' },
    faults: { type: 'boolean', default: false },
  },
});
const { pods, changes, exits, faults } = values;
const seconds = Number(values.seconds);

const cluster = await startServer<WatchedCluster>('watch-server.ts', [
  ...[pods, changes, exits],
  faults ? 'faults' : '',
]);
const [, , ...connection] = cluster.flags;
const ours = start([...podexit, 'watch', '-A', '-o', 'ndjson', '--no-logs', ...connection], 'pipe');
const theirs = faults ? undefined : start(['kubectl', 'get', 'pods', '-A', '-w', '-o', 'json', ...connection]);

/** When each pod was removed, and when each of its lines came. */
const removedAt = new Map<string, number>();
const printedAt = new Map<string, number[]>();
let summary = { unseen: 0, gaps: 0, stillTerminating: 0 };
/** The pods that no list and no watch ever showed: nobody who watches can count them. */
const neverShown = new Set<string>();
cluster.child.on('message', ({ uid, at, isShown }: RemovedPod) => {
  removedAt.set(uid, at);
  if (!isShown) neverShown.add(uid);
});
let [rest, lastLineAt] = ['', Date.now()];
ours.stdout?.setEncoding('utf8').on('data', (text: string) => {
  lastLineAt = Date.now();
  const lines = (rest + text).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) {
    const [, uid] = /^\{"type":"report".*?"uid":"(uid-\d+)"/.exec(line) ?? [];
    if (uid !== undefined) printedAt.set(uid, [...(printedAt.get(uid) ?? []), Date.now()]);
    if (line.startsWith('{"type":"watch-summary"')) summary = JSON.parse(line) as typeof summary;
  }
});

/** Both have read their first lists. */
await setTimeout(10_000);
const usage = () => ({ ours: usageOf(ours), theirs: theirs && usageOf(theirs) });
const before = usage();
cluster.child.send('begin');
const rss: number[] = [];
for (let second = 0; second < seconds; second += 5) {
  await setTimeout(5000);
  rss.push(usageOf(ours).rssMiB);
}
const after = usage();
cluster.child.send('stop');
// On a busy machine it may be behind: then the last exits have not reached it yet.
do await setTimeout(1000);
while (Date.now() - lastLineAt < 15_000);
const children = theirs ? [ours, theirs] : [ours];
for (const child of children) child.kill('SIGTERM');
await Promise.all(children.map(ended));
await cluster.close();
process.stdout.write(reportText());

interface Usage {
  cpuMs: number;
  rssMiB: number;
  peakMiB: number;
}

/** The name in parentheses may contain spaces; utime and stime, in hundredths of a second, are 12 and 13 fields after it. */
function usageOf({ pid }: ChildProcess): Usage {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, rssMiB: mib('VmRSS'), peakMiB: mib('VmHWM') };
}

function reportText(): string {
  const late = [...removedAt].flatMap(([uid, at]) => (printedAt.get(uid) ?? []).map((printed) => printed - at));
  late.sort((a, b) => a - b);
  const quantile = (share: number): string => `${late[Math.floor(late.length * share)] ?? '–'} ms`;
  const withoutLine = [...removedAt.keys()].filter((uid) => !printedAt.has(uid));
  const [missed, hidden] = [withoutLine.length, withoutLine.filter((uid) => neverShown.has(uid)).length];
  const doubled = [...printedAt.values()].filter(({ length }) => length > 1).length;
  const own = after.ours.cpuMs - before.ours.cpuMs;
  const beside = (unit: string, mine: number, other?: number): string =>
    other === undefined ? '' : `, kubectl ${other.toFixed(0)} ${unit}: ratio ${(mine / other).toFixed(2)}`;
  const kubectlMs = after.theirs && before.theirs && after.theirs.cpuMs - before.theirs.cpuMs;
  const mean = (of: readonly number[]): number => of.reduce((sum, one) => sum + one, 0) / of.length;
  const [minuteBefore, lastFive] = [mean(rss.slice(-72, -60)), mean(rss.slice(-60))];
  return [
    `${pods} pods, ${changes} changes/s, ${exits} exits/s, ${seconds} s${faults ? ', with faults' : ''}`,
    `exits          ${removedAt.size}: ${missed} without a line (${summary.unseen} counted as not observed, ${summary.stillTerminating} as still terminating, ${faults ? `${hidden} never in a list or watch, ` : ''}${missed - summary.unseen - summary.stillTerminating - (faults ? hidden : 0)} in no count), ${doubled} twice; ${summary.gaps} gaps`,
    `line           after removal p50 ${quantile(0.5)}, p99 ${quantile(0.99)}`,
    `CPU            watch ${own} ms (${(own / removedAt.size).toFixed(1)} ms an exit)${beside('ms', own, kubectlMs)}`,
    `peak memory    watch ${after.ours.peakMiB.toFixed(0)} MiB${beside('MiB', after.ours.peakMiB, after.theirs?.peakMiB)}`,
    `memory         ${rss.map((one) => one.toFixed(0)).join(' ')} MiB, every 5 s`,
    ...(seconds < 360
      ? []
      : [`flat           the last 5 minutes / the minute before: ${(lastFive / minuteBefore).toFixed(3)}`]),
    '',
  ].join('\n');
}
