/** What the simulation knows at its end. All times are true times, in ns since the beginning. */
import type { Container } from './container.ts';
import type { InstantName, TrueInstant } from './expected.ts';
import type { HookTruth } from './kill-pod.ts';
import type { Kubelet } from './kubelet.ts';
import type { World } from './world.ts';
import { isReady, isTerminal, type KubeObject, type Pod } from './objects.ts';

export interface Facts {
  containers: readonly Container[];
  hooks: ReadonlyMap<string, HookTruth>;
  noticedAt?: number;
  acceptedAt?: number;
  finishedAt?: number;
  finalDeleteAt?: number;
  removedAt?: number;
  /** Seconds: the effective grace period of the first stop attempt. */
  grace?: number;
  /** Each time the kubelet starts to stop the pod, with the grace period (s). */
  stopAttempts: readonly { at: number; grace: number }[];
  /** The trigger's evidence is complete. */
  deletedByTrigger: boolean;
  ranAtFirst: (container: Container) => boolean;
  dropped: (reason: string) => boolean;
  /** The machine is gone with everything that ran on it. */
  nodeGone: boolean;
  /** Events and changes of owners may arrive after the recorder has stopped. */
  mayArriveLate: boolean;
  /** The kubelet froze, restarted or got two DELETEs: what hooks and the grace period show is ambiguous. */
  disturbed: boolean;
  instants: TrueInstant[];
}

export function gatherFacts(world: World, kubelet: Kubelet, acceptedAt: number | undefined, times: ChangeTimes): Facts {
  const { story, triggerAt, removed } = world;
  const { noticedAt, finishedAt, finalDeleteAt, grace, hooks, containers, stopAttempts } = kubelet;
  const known = { noticedAt, acceptedAt, finishedAt, finalDeleteAt, removedAt: removed.at, grace };
  const byUs = ['this-command', 'eviction-api'].includes(story.trigger.kind);
  const instants: TrueInstant[] = [];
  const add = (name: InstantName, at: number | undefined, subject?: string): void => {
    if (at === undefined) return;
    const client = world.clocks.client.nanoseconds(at);
    instants.push({ name, ...(subject === undefined ? {} : { subject }), client });
  };
  if (byUs) add('requested', triggerAt);
  add('accepted', acceptedAt);
  add('noticed', kubelet.firstSignAt);
  for (const { story: container, truth } of containers) {
    const hook = hooks.get(container.name);
    add('prestop-start', hook?.startAt, container.name);
    add('prestop-end', hook?.endAt, container.name);
    add('stop-signal', truth.signalAt, container.name);
    add('kill', truth.killAt, container.name);
    add('exited', truth.exitAt, container.name);
  }
  add('containers-done', times.doneAt);
  add('final-delete', finalDeleteAt);
  add('removed', removed.at);
  const addAll = (name: InstantName, times: ReadonlyMap<string, number>): void =>
    times.forEach((at, subject) => add(name, at, subject));
  addAll('unrouted', times.unrouted);
  addAll('endpoint-removed', times.endpointRemoved);
  addAll('replacement-created', times.created);
  addAll('replacement-scheduled', times.scheduled);
  addAll('replacement-started', times.started);
  addAll('replacement-ready', times.ready);
  return {
    containers,
    hooks,
    ...known,
    stopAttempts,
    deletedByTrigger: story.events.dropped.length === 0 && !isLate(world) && story.pod.state === 'running',
    ranAtFirst: (one) => story.pod.state === 'running' && one.story.state.kind === 'running',
    dropped: (reason) => story.events.dropped.includes(reason) || story.trigger.kind === 'namespace-deletion',
    nodeGone: story.trigger.kind === 'pod-gc',
    mayArriveLate: isLate(world),
    disturbed: isDisturbed(world, kubelet),
    instants,
  };
}

/** Streams and queues that take longer may deliver too late. */
const maxTimelyDelayMs = 300;

function isLate({ story: { network, events, faults } }: World): boolean {
  if (faults.some(({ kind }) => kind === 'api-busy' || kind === 'events-refused')) return true;
  const slowest = Math.max(0, ...Object.values(network.watchMs).map((span) => span[1]));
  return slowest + events.queueMs[1] > maxTimelyDelayMs;
}

const isDisturbed = ({ story }: World, { stopAttempts, noticedAt }: Kubelet): boolean =>
  noticedAt === undefined ||
  stopAttempts.length > 1 ||
  story.faults.some((fault) => fault.kind === 'freeze' || fault.kind === 'kubelet-restart') ||
  story.later.some((later) => later.kind === 'delete');

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
