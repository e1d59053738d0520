/** When endpoints, the phase and successors really changed, in ns of true time. */
import { isReady, isTerminal, type KubeObject, type Pod } from './objects.ts';
import type { World } from './world.ts';

export type ChangeTimes = ReturnType<typeof noteChangeTimes>;

type Endpoint = { targetRef: { uid: string }; conditions: { ready: boolean } };

export function noteChangeTimes({ api, time }: World, own: Pod) {
  const [unrouted, endpointRemoved] = [new Map<string, number>(), new Map<string, number>()];
  /** Pods that were created later, by name. */
  const [created, scheduled] = [new Map<string, number>(), new Map<string, number>()];
  const [started, ready] = [new Map<string, number>(), new Map<string, number>()];
  /** `doneAt`: when the terminal phase was written while the pod was being deleted. */
  const done = { doneAt: undefined as number | undefined };
  const times = Object.assign(done, { unrouted, endpointRemoved, created, scheduled, started, ready });
  const noteFirst = (times: Map<string, number>, key: string): void => {
    if (!times.has(key)) times.set(key, time.now);
  };
  const ownEndpoint = (slice: KubeObject): Endpoint | undefined =>
    (slice.endpoints as Endpoint[] | null)?.find((endpoint) => endpoint.targetRef.uid === own.metadata.uid);
  const [listed, routed] = [new Set<string>(), new Set<string>()];
  const seeSlice = (slice: KubeObject): void => {
    const { name } = slice.metadata;
    const endpoint = ownEndpoint(slice);
    if (routed.has(name) && !endpoint?.conditions.ready) noteFirst(unrouted, name);
    if (listed.has(name) && !endpoint) noteFirst(endpointRemoved, name);
    if (endpoint) listed.add(name);
    if (endpoint?.conditions.ready) routed.add(name);
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
    if (change === 'ADDED') noteFirst(created, name);
    if (!created.has(name)) return;
    if (pod.spec.nodeName !== undefined) noteFirst(scheduled, name);
    const { containerStatuses = [] } = pod.status;
    if (containerStatuses.length > 0 && containerStatuses.every(({ state }) => state.running)) noteFirst(started, name);
    if (isReady(pod)) noteFirst(ready, name);
  });
  return times;
}
