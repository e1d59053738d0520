/** The requests of a client to the embedded API server: how many of each kind, and how many streams at once. */
import type { Loopback } from '../../src/demo/loopback.ts';

export interface RequestCounts {
  requests: number;
  watches: number;
  /** The maximum of watches that were open at the same time. */
  watchesAtOnce: number;
  /** The maximum of log streams that were open at the same time. */
  logsAtOnce: number;
  /** Requests by kind: `watch pods`, `get pods/log`, `list services`, … */
  byKind: Record<string, number>;
}

type Request = Loopback['requests'][number];

export function countRequests(requests: readonly Request[]): RequestCounts {
  const byKind: Record<string, number> = {};
  for (const { verb, resource, subresource } of requests) {
    const kind = `${verb} ${[resource, subresource].filter((part) => part !== undefined).join('/')}`.trim();
    byKind[kind] = (byKind[kind] ?? 0) + 1;
  }
  const watches = requests.filter(({ verb }) => verb === 'watch');
  return {
    requests: requests.length,
    watches: watches.length,
    watchesAtOnce: mostAtOnce(watches),
    logsAtOnce: mostAtOnce(requests.filter(({ subresource }) => subresource === 'log')),
    byKind,
  };
}

function mostAtOnce(requests: readonly Request[]): number {
  const steps = requests.flatMap(({ at, endedAt = Infinity }) => [
    { at, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  // At the same time, ends come first: a stream that replaces another one is not a second one.
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let [open, most] = [0, 0];
  for (const { by } of steps) most = Math.max(most, (open += by));
  return most;
}
