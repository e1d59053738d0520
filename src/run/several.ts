/** The pods of a run over several: what is opened for each as it is seen, and as it terminates. */
import { asObject, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { RawObservation, StreamName } from '../model/observation.ts';
import { forTerminal } from '../render/safe-text.ts';
import type { Gate } from './stream-health.ts';
import type { Run, Several } from './live-run.ts';
import type { SharedStreams } from './shared-streams.ts';
import { isFinishedPod, isTerminatingPod, nameOf, uidOf } from './watched.ts';

/** ms before a deletion from which its pod's log is read: clocks of server and node differ a little, stamps are cut to seconds. */
const beforeDeletion = 2000;

/** When the deletion was asked for by the API server's clock (ms), and a little before. */
export function logsSince(pod: JsonObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(pod);
  const deadline = Date.parse(String(deletionTimestamp));
  const grace = typeof deletionGracePeriodSeconds === 'number' ? deletionGracePeriodSeconds : 0;
  return Number.isFinite(deadline) ? deadline - grace * 1000 - beforeDeletion : undefined;
}

/** Looks at what the pods' stream brings, before it is delivered: opens what the pods need, and calls the listener. */
export function createPodObserver(
  run: Run,
  several: Several,
  shared: SharedStreams,
  gate: Gate,
): (rawObservation: RawObservation) => void {
  const { listener, wants } = several;
  const alive = new Map<string, JsonObject>();
  const terminating = new Set<string>();
  const take = (pod: JsonObject, isRemoved: boolean, isNews = true): void => {
    const uid = uidOf(pod);
    listener.seen(uid, isRemoved ? undefined : pod);
    if (isRemoved || isTerminatingPod(pod)) alive.delete(uid);
    else alive.set(uid, pod);
    if (isRemoved) {
      run.probing?.close(uid);
      if (!terminating.delete(uid)) removedAtOnce(run, several, pod);
      return;
    }
    shared.openRoutes(pod, gate);
    shared.openOwners(pod);
    if (!isTerminatingPod(pod) || terminating.has(uid)) return;
    terminating.add(uid);
    if (!wants(uid, pod)) return;
    if (isNews) reportLateStreams(run, uid, gate);
    shared.openPlace(pod);
    shared.openLogs(pod, logsSince(pod));
    run.probing?.open({ name: nameOf(pod), uid });
  };
  return (rawObservation) => {
    if (rawObservation.kind === 'changed') take(asObject(rawObservation.object), rawObservation.change === 'DELETED');
    if (rawObservation.kind !== 'listed') return;
    const pods = rawObservation.objects.map(asObject);
    const there = new Set(pods.map(uidOf));
    for (const [uid, pod] of alive) {
      if (there.has(uid)) continue;
      alive.delete(uid);
      if (!isFinishedPod(pod)) listener.missed(pod, 'it went while the watch of the pods was lost');
    }
    listener.listed(pods);
    // Who comes to a deletion under way has missed its beginning on every stream.
    pods.forEach((pod) => take(pod, false, alive.has(uidOf(pod))));
  };
}

/** ms in which the answer to our own request may show that it was the one deletion. */
const ownAnswerMs = 2000;

/** A pod that was not seen to terminate: by force, perhaps our own, whose answer begins its trace. */
function removedAtOnce({ options, timers, traceOf }: Run, { named, listener }: Several, pod: JsonObject): void {
  const missed = (): void => listener.missed(pod, 'it was removed at once');
  const uid = uidOf(pod);
  if (!named?.some((one) => one.uid === uid)) return wasForced(pod) ? missed() : undefined;
  const unlessTraced = (): void => (traceOf(uid) ? undefined : missed());
  timers.set(`removed/${uid}`, options.clock.setTimeout(unlessTraced, ownAnswerMs));
}

/** What is not in sync as a pod begins to terminate may have missed its beginning. */
function reportLateStreams({ options, deliver }: Run, pod: string, gate: Gate): void {
  const at = options.clock.now();
  for (const stream of gate.shut())
    if (!stream.includes('/'))
      deliver({ at, kind: 'gap', stream: stream as StreamName, pod, from: at, cause: 'not-synced' });
}

/** By a deletion without a grace. What only lost its labels has no deletionTimestamp, and what never ran has nothing to end. */
const wasForced = (pod: JsonObject): boolean => isTerminatingPod(pod) && asObject(pod['status'])['phase'] === 'Running';

/** A line for stderr: a pod that is gone, whose termination was not observed. `why` ends the sentence. */
export const missedText = (pod: JsonObject, why: string): string =>
  `podexit: ${forTerminal(nameOf(pod))}: its termination was not observed: ${why}\n`;
