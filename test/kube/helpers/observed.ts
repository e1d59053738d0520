import type { Cluster } from '../../../src/kube/cluster.ts';
import { deletePod, type DeleteTarget } from '../../../src/kube/delete.ts';
import { type LogOptions, followLog as follow, type LogTarget } from '../../../src/kube/logs.ts';
import type { WatchTarget } from '../../../src/kube/resource-path.ts';
import type { Health } from '../../../src/kube/watch-position.ts';
import { watchObjects as watch } from '../../../src/kube/watch.ts';
import type { Deliver, RawObservation } from '../../../src/model/observation.ts';

/** What watchObjects delivers, as an async iterable. */
export const watchObjects = (
  cluster: Cluster,
  target: WatchTarget,
  options: { signal: AbortSignal; health?: Health } = { signal: stopping() },
) => observed(options.signal, (to) => watch(cluster, target, { ...options, ...to }));

/** What followLog delivers, as an async iterable. */
export const followLog = (
  cluster: Cluster,
  target: LogTarget,
  options: Omit<LogOptions, 'deliver'> = { signal: stopping() },
) => observed(options.signal, (to) => follow(cluster, target, { ...options, ...to }));

/** All that deletePod yields. */
export const deleted = (cluster: Cluster, target: DeleteTarget, signal = stopping()): Promise<RawObservation[]> =>
  all(deletePod(cluster, target, { signal }));

/** Leaving the loop early ends the stream. */
async function* observed(
  signal: AbortSignal,
  start: (to: { signal: AbortSignal; deliver: Deliver }) => Promise<void>,
): AsyncGenerator<RawObservation, void> {
  const left = new AbortController();
  const delivered: RawObservation[] = [];
  let wake = (): void => {};
  let over: { error?: unknown } | undefined;
  const deliver = (one: RawObservation): void => {
    delivered.push(one);
    wake();
  };
  const ended = start({ signal: AbortSignal.any([signal, left.signal]), deliver })
    .then(
      () => (over = {}),
      (error: unknown) => (over = { error }),
    )
    .finally(() => wake());
  try {
    for (;;) {
      const next = delivered.shift();
      if (next) yield next;
      else if (over && 'error' in over) throw over.error;
      else if (over) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    left.abort();
    await ended;
  }
}

/** Returns the first raw observations except those about the clock or the connection, and ends the source. */
export async function take(
  source: AsyncGenerator<RawObservation>,
  count: number,
  except: readonly RawObservation['kind'][] = ['dated', 'resumed'],
): Promise<RawObservation[]> {
  const seen: RawObservation[] = [];
  for await (const rawObservation of source) {
    if (!except.includes(rawObservation.kind)) seen.push(rawObservation);
    if (seen.length === count) break;
  }
  return seen;
}

/** Returns all of them, to the end of the source. */
export async function all(source: AsyncGenerator<RawObservation>): Promise<RawObservation[]> {
  return await take(source, Number.POSITIVE_INFINITY);
}

export function kinds(rawObservations: readonly RawObservation[]): string[] {
  return rawObservations.map(({ kind }) => kind);
}

/** Ends a test that hangs. */
export function stopping(ms = 100_000): AbortSignal {
  return AbortSignal.timeout(ms);
}
