/** When endpoints, phase and successors really changed (true time, ns). */
import type { KubeObject, Pod } from './objects.ts';
import { isReady, isTerminal } from './objects.ts';
import type { World } from './world.ts';

export interface ChangeTimes {
  /** The terminal phase was written while the pod was being deleted. */
  doneAt?: number;
  readonly unrouted: ReadonlyMap<string, number>;
  readonly endpointRemoved: ReadonlyMap<string, number>;
  /** Pods that came later, by name. */
  readonly created: ReadonlyMap<string, number>;
  readonly scheduled: ReadonlyMap<string, number>;
  readonly started: ReadonlyMap<string, number>;
  readonly ready: ReadonlyMap<string, number>;
}

type Endpoint = { targetRef: { uid: string }; conditions: { ready: boolean } };

export function noteChangeTimes(world: World, own: Pod): ChangeTimes {
  const { api, time } = world;
  const [unrouted, endpointRemoved] = [new Map<string, number>(), new Map<string, number>()];
  const [created, scheduled] = [new Map<string, number>(), new Map<string, number>()];
  const [started, ready] = [new Map<string, number>(), new Map<string, number>()];
  const successors = { created, scheduled, started, ready };
  const times: { doneAt?: number } & ChangeTimes = { unrouted, endpointRemoved, ...successors };
  const first = (known: Map<string, number>, key: string): void => {
    if (!known.has(key)) known.set(key, time.now);
  };
  const ofUs = (slice: KubeObject): Endpoint | undefined =>
    (slice.endpoints as Endpoint[] | null)?.find((endpoint) => endpoint.targetRef.uid === own.metadata.uid);
  const [listed, routed] = [new Set<string>(), new Set<string>()];
  const seeSlice = (slice: KubeObject): void => {
    const { name } = slice.metadata;
    const mine = ofUs(slice);
    if (routed.has(name) && !mine?.conditions.ready) first(unrouted, name);
    if (listed.has(name) && !mine) first(endpointRemoved, name);
    if (mine) listed.add(name);
    if (mine?.conditions.ready) routed.add(name);
  };
  api.all('endpointslices').forEach(seeSlice);
  api.on('endpointslices', (_change, slice) => seeSlice(slice));
  api.on('pods', (change, object) => {
    const pod = object as Pod;
    const { name, uid, deletionTimestamp } = pod.metadata;
    if (uid === own.metadata.uid) {
      if (deletionTimestamp !== undefined && isTerminal(pod) && !isTerminal(own)) times.doneAt ??= time.now;
      return;
    }
    if (change === 'ADDED') first(created, name);
    if (!created.has(name)) return;
    if (pod.spec.nodeName !== undefined) first(scheduled, name);
    const { containerStatuses = [] } = pod.status;
    if (containerStatuses.length > 0 && containerStatuses.every(({ state }) => state.running)) first(started, name);
    if (isReady(pod)) first(ready, name);
  });
  return times;
}
