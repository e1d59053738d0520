/** The pods that share their streams: which further streams each one opens when it is seen, and when it terminates. */
import { asObject, type JsonObject } from '../../model/observe/read.ts';
import type { RawObservation } from '../../model/observation.ts';
import type { StreamGate } from './stream-health.ts';
import type { Run } from './live-run.ts';
import type { SharedStreams } from './shared-streams.ts';
import { isFinishedPod, isTerminatingPod, nameOf, uidOf } from './watched.ts';

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
