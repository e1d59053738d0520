/** The streams of several pods: which each pod opens when it is seen, and when it terminates, and those of an endless run. */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import type { RawObservation } from '../../model/observation.ts';
import type { StreamGate } from './stream-health.ts';
import type { Run } from './live-run.ts';
import type { SharedStreams } from './shared-streams.ts';
import {
  isFinishedPod,
  isTerminatingPod,
  nameOf,
  uidOf,
  namespaceOf,
  nodesTargets,
  nodeTargets,
  objectsIn,
  ownerOf,
  ownersTarget,
  runningContainers,
  servicesTarget,
  slicesTarget,
} from './watched.ts';
import { createLogs, deliverNamespace, follow } from './follow.ts';

/** Sees the pods' stream before it is delivered: opens the streams that the pods need, and passes on their states. */
export function createPodObserver(
  run: Run,
  shared: SharedStreams,
  gate: StreamGate,
): (rawObservation: RawObservation) => void {
  const { listener } = run;
  /** What its messages need of the newest state of each pod, by uid; of a terminating pod of the first one. */
  const known = new Map<string, JsonObject>();
  const take = (pod: JsonObject, isRemoved: boolean, isNews = true): void => {
    const uid = uidOf(pod);
    listener.seen?.(uid, isRemoved ? undefined : pod);
    const wasTerminating = isTerminatingPod(known.get(uid) ?? {});
    if (isRemoved) {
      known.delete(uid);
      shared.closeOf(pod);
      run.probing?.close(uid);
      return wasTerminating ? undefined : onSuddenRemoval(run, pod);
    }
    if (!wasTerminating) known.set(uid, briefOf(pod));
    shared.openRoutes(pod);
    shared.openOwners(pod);
    if (!isTerminatingPod(pod) || wasTerminating) return;
    if (listener.shouldTrace?.(uid, pod) === false) return;
    if (isNews) reportLateStreams(run, uid, gate);
    shared.openPlace(pod);
    shared.openLogs(pod);
    run.probing?.open({ name: nameOf(pod), uid });
  };
  const leave = (uid = ''): void => {
    shared.closeOf(known.get(uid) ?? {});
    known.delete(uid);
  };
  return (rawObservation) => {
    if (rawObservation.kind === 'changed') take(asObject(rawObservation.object), rawObservation.change === 'DELETED');
    if (rawObservation.kind === 'gap') leave(rawObservation.pod);
    if (rawObservation.kind !== 'listed') return;
    const pods = rawObservation.objects.map(asObject);
    const there = new Set(pods.map(uidOf));
    for (const [uid, pod] of known) {
      if (there.has(uid)) continue;
      leave(uid);
      if (!isTerminatingPod(pod) && !isFinishedPod(pod))
        listener.missed?.(pod, missedText(pod, 'it disappeared while the watch of the pods was lost'));
    }
    listener.listed?.(pods);
    // A pod that was already terminating when first seen missed its beginning on every stream.
    pods.forEach((pod) => take(pod, false, known.has(uidOf(pod))));
  };
}

const briefOf = ({ metadata, spec, status }: JsonObject): JsonObject => {
  const { uid, name, namespace, deletionTimestamp } = asObject(metadata);
  const [{ nodeName }, { phase }] = [asObject(spec), asObject(status)];
  return { metadata: { uid, name, namespace, deletionTimestamp }, spec: { nodeName }, status: { phase } };
};

/** A pod is gone and was not seen terminating: forced, perhaps by our own DELETE, whose answer starts the trace. */
function onSuddenRemoval({ options, group, listener, timers, traceOf }: Run, pod: JsonObject): void {
  const report = (): void => listener.missed?.(pod, missedText(pod, 'it was removed at once'));
  const uid = uidOf(pod);
  // Deleted with grace 0. It has no deletionTimestamp if it only lost its labels; if it never ran, nothing ended.
  const wasForced = isTerminatingPod(pod) && asObject(pod['status'])['phase'] === 'Running';
  if (!group.named?.some((one) => one.uid === uid)) return wasForced ? report() : undefined;
  const unlessTraced = (): void => (traceOf(uid) ? undefined : report());
  // Meanwhile the answer to our own request may show that it caused the removal.
  timers.set(`removed/${uid}`, options.clock.setTimeout(unlessTraced, 2000));
}

/** Streams that are not in sync when a pod begins to terminate may have missed its beginning. */
function reportLateStreams({ options, deliver }: Run, pod: string, gate: StreamGate): void {
  const at = options.clock.now();
  for (const { stream, container } of gate.shut())
    if (container === undefined) deliver({ at, kind: 'gap', stream, pod, from: at, cause: 'not-synced' });
}

const missedText = (pod: JsonObject, why: string): string => `${nameOf(pod)}: its termination was not observed: ${why}`;

/** Those of an endless run, bounded. `gate`: the streams that a pod must not terminate without, or its report has a gap. */
export function createWideStreams(run: Run, gate: StreamGate): SharedStreams {
  const { namespace } = run.group;
  const kinds = new Set<string>();
  const openKind = (kind: string): void => {
    const target = ownersTarget(namespace, kind);
    if (!target || kinds.has(kind)) return;
    kinds.add(kind);
    void follow(run, target, {
      onObservation(rawObservation) {
        for (const object of objectsIn(rawObservation)) openKind(ownerOf(object)?.kind ?? '');
      },
    });
  };
  const leases = createLeases(run);
  const namespaces = new Set<string>();
  const followLog = createLogs(run, 50);
  return {
    listServices() {
      for (const target of [servicesTarget(namespace), slicesTarget(namespace)]) void follow(run, target, { gate });
      for (const target of nodesTargets()) void follow(run, target);
    },
    openRoutes: () => {},
    openOwners: (pod) => openKind(ownerOf(pod)?.kind ?? ''),
    openOwner: ({ kind }) => openKind(kind),
    openPlace(pod) {
      leases.open(pod);
      const name = namespaceOf(pod) ?? run.options.cluster.namespace;
      if (namespaces.has(name)) return;
      namespaces.add(name);
      // It is read again after 10 s, to see whether it is terminating.
      const forget = (): void => void namespaces.delete(name);
      run.timers.set(`namespace/${name}`, run.options.clock.setTimeout(forget, 10_000));
      void deliverNamespace(run, name);
    },
    openLogs(pod) {
      // Beyond the bound the times of its containers are less exact; they stay right.
      for (const container of run.options.followLogs ? runningContainers(pod) : []) followLog(pod, container);
    },
    closeOf: leases.close,
  };
}

/** The Leases of nodes on which pods terminate. No AbortSignal.any: on Node 20 the run's signal would keep each of them. */
function createLeases(run: Run) {
  const open = new Map<string, { pods: Set<string>; stop: AbortController }>();
  run.signal.addEventListener('abort', () => open.forEach(({ stop }) => stop.abort()));
  return {
    open(pod: JsonObject): void {
      const node = asObject(pod['spec'])['nodeName'];
      if (typeof node !== 'string') return;
      const known = open.get(node);
      if (known || open.size >= 20) return void known?.pods.add(uidOf(pod));
      const stop = new AbortController();
      open.set(node, { pods: new Set([uidOf(pod)]), stop });
      const target = nodeTargets(node).find(({ stream }) => stream === 'lease');
      if (target) void follow(run, target, { signal: stop.signal });
    },
    /** The pod is gone. */
    close(pod: JsonObject): void {
      const node = String(asObject(pod['spec'])['nodeName']);
      const known = open.get(node);
      if (!known?.pods.delete(uidOf(pod)) || known.pods.size > 0) return;
      known.stop.abort();
      open.delete(node);
    },
  };
}
