/** Peak resident memory of a trace, compared with that of kubectl watching the same pod. Linux only (VmHWM). */
import { existsSync, readFileSync } from 'node:fs';
import { startBusyCluster } from './busy-cluster.ts';
import { against, type Contest } from './contest.ts';
import { ended, hasKubectl, podexit, start } from './program.ts';
import { spreadOf } from './spread.ts';

/** The length of the trace in the promise. */
const promisedSeconds = 60;

export async function peakMemory(rounds: number, seconds: number): Promise<Contest[]> {
  if (!existsSync('/proc/self/status')) return [];
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [mine, other] = await Promise.all([
      peakOf(seconds, (pod) => [...podexit, pod, '-o', 'ndjson', '--no-config']),
      hasKubectl ? peakOf(seconds, (pod) => ['kubectl', 'get', 'pod', pod, '-w']) : undefined,
    ]);
    ours.push(mine);
    if (other !== undefined) theirs.push(other);
  }
  const spread = spreadOf(ours);
  return [
    {
      name: 'peak memory of a trace',
      unit: 'MiB',
      ours: spread,
      ...(theirs.length > 0 && against(spread, 'kubectl get pod -w', spreadOf(theirs), 1.6)),
      note: seconds < promisedSeconds ? `of ${seconds} s, not of ${promisedSeconds}` : `of ${seconds} s`,
    },
  ];
}

/** MiB. The node of this recording is silent for longer than a minute, so the trace runs all that time. */
async function peakOf(seconds: number, words: (pod: string) => string[]): Promise<number> {
  const cluster = await startBusyCluster('node-down');
  const child = start([...words(cluster.server.pod), ...cluster.flags]);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const kib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
  child.kill('SIGKILL');
  await ended(child);
  await cluster.close();
  return kib / 1024;
}
