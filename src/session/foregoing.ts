/**
 * What was heard of a workload before one of its pods began to terminate. The run of that pod begins after its deletion, and
 * by itself would see neither the state that the deletion found nor who routed to it then.
 */
import type { Cluster } from '../cluster/cluster.ts';
import type { Sighting } from '../trace/observation.ts';
import type { ToldRoutes } from './routes-ahead.ts';
import { routesAhead } from './routes-ahead.ts';
import type { Raw } from './watched.ts';
import { metadataOf } from './watched.ts';

export interface Foregoing {
  /** The pod with its deletionTimestamp. */
  readonly pod: Raw;
  /** The pod as it was, and as it then changed, when they came. */
  readonly states: readonly Sighting[];
  /** Client ms: since then who routes was to be heard. */
  readonly since: number;
  /** Client ms of the newest of `states`: what came after it is for the run to find. */
  readonly until: number;
  /** As RoutesAhead has it. */
  routes(services: readonly string[]): ToldRoutes | undefined;
  /** The run hears all by itself from now on. */
  stop(): void;
}

export interface Ahead {
  /** A state of a pod that is not terminating, and when it came (client ms). */
  saw(pod: Raw, at: number): void;
  /** The watch that tells the states was cut, and went on. */
  resumed(sighting: Extract<Sighting, { kind: 'resumed' }>): void;
  /** The change that brought its deletionTimestamp; undefined where the pod had not been seen before. */
  terminates(pod: Raw, at: number): Foregoing | undefined;
  forget(pod: Raw): void;
}

/** `stop` ends what is watched for it, and is asked by whoever is done with what it was handed. */
export function listenAhead(cluster: Cluster, signal: AbortSignal, stop: () => void = () => {}): Ahead {
  const since = cluster.surroundings.now();
  const routes = routesAhead(cluster, signal);
  const before = new Map<string, { pod: Raw; at: number }>();
  let resumed: Extract<Sighting, { kind: 'resumed' }> | undefined;
  return {
    saw(pod, at) {
      if (!before.has(uidOf(pod))) void routes.expect(pod);
      before.set(uidOf(pod), { pod, at });
    },
    resumed: (sighting) => void (resumed = sighting),
    terminates(pod, at) {
      const known = before.get(uidOf(pod));
      before.delete(uidOf(pod));
      if (!known) return undefined;
      return {
        pod,
        states: [
          { kind: 'listed', at: known.at, stream: 'pod', resourceVersion: '', objects: [known.pod] },
          ...(resumed ? [{ ...resumed, stream: 'pod' } as const] : []),
          { kind: 'changed', at, stream: 'pod', change: 'MODIFIED', object: pod },
        ],
        since,
        until: at,
        routes: routes.told,
        stop,
      };
    },
    forget: (pod) => void before.delete(uidOf(pod)),
  };
}

const uidOf = (pod: Raw): string => String(metadataOf(pod)['uid']);
