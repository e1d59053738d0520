/** Peak resident memory of a trace, against kubectl that watches the same pod; Linux only (VmHWM). */
import { existsSync, readFileSync } from 'node:fs';
import { startBusyCluster } from './busy-cluster.ts';
import type { Contest } from './contest.ts';
import { contest } from './contest.ts';
import { ended, hasKubectl, podexit, start } from './program.ts';

export async function peakMemory(rounds: number, seconds: number): Promise<Contest[]> {
  if (!existsSync('/proc/self/status')) return [];
  return [
    await contest({
      name: 'peak memory of a trace',
      unit: 'MiB',
      rounds,
      promised: 1.6,
      ours: () => peakOf(seconds, (pod) => [...podexit, pod, '-o', 'ndjson', '--no-config']),
      reference: hasKubectl
        ? { name: 'kubectl get pod -w', measure: () => peakOf(seconds, (pod) => ['kubectl', 'get', 'pod', pod, '-w']) }
        : undefined,
    }),
  ];
}

async function peakOf(seconds: number, words: (pod: string) => string[]): Promise<number> {
  const cluster = await startBusyCluster('no-grace-spec-default');
  const child = start([...words(cluster.server.pod), ...cluster.flags]);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const kib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]);
  child.kill('SIGKILL');
  await ended(child);
  await cluster.close();
  return kib / 1024;
}
