/** One stream of a run: its requests, its raw observations, and what its loss means for the run. */
import { asNumber, asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { getObject } from '../../kube/get.ts';
import { followLog } from '../../kube/logs.ts';
import { refusedBy, refusedPods } from '../../kube/refused.ts';
import { readRefusal } from '../../kube/status.ts';
import { watchObjects } from '../../kube/watch.ts';
import type { Since } from '../../kube/watch-position.ts';
import { PodexitError } from '../../errors.ts';
import type { RawObservation } from '../../model/observation.ts';
import { narrowers } from '../../model/kube.ts';
import { namesStopSignal } from '../../model/observe.ts';
import type { StreamGate } from './stream-health.ts';
import { briefFate, deletionProgress } from '../ending/leaving.ts';
import { groupText, type Group } from '../group/group.ts';
import { reportLoss, warnRefused, type Run } from './live-run.ts';
import { nameOf, namespaceOf, uidOf, type Watched } from './watched.ts';

export interface FollowOptions {
  /** Opened when the stream is in sync, or never will be. */
  gate?: StreamGate;
  /** Called with each raw observation before it is delivered. */
  onObservation?: (rawObservation: RawObservation) => void;
  /** Can end this stream before the run ends; the caller aborts it with the run. */
  signal?: AbortSignal;
  /** Only what has changed since then. */
  since?: Since | undefined;
}

/** Runs one list-and-watch. Only the pods' stream can end the run; the loss of any other stream becomes a gap. */
export async function follow(
  run: Run,
  target: Watched,
  { gate, onObservation, signal, since }: FollowOptions = {},
): Promise<void> {
  const { options, group } = run;
  const isOfPods = target === group.pods;
  const until = signal ?? run.signal;
  const own = { stream: target.stream };
  const asked = { namespace: group.namespace, onlyReads: group.isEndless };
  gate?.expect(own);
  const waiting = isOfPods ? announceWaiting(run) : undefined;
  const health = run.streams.open(target.stream, options.clock.now(), {
    onAlive: (isAlive) => run.listener.alive?.(target, isAlive),
    waitingFor: waiting?.because,
    // No slice lists the pod any more, so that none has news of it. Saves a request at the end.
    isOver:
      group.isOne && target.stream === 'endpointslices'
        ? () => [...(run.traceOf('')?.slices.values() ?? [])].every(({ states }) => !states.at(-1)?.value.own)
        : undefined,
    // An endless run asks no stream to confirm what it delivered: one that is connected again counts as whole.
    isNeeded: group.isEndless ? false : isOfPods || undefined,
  });
  const deliver = (rawObservation: RawObservation): void => {
    if (rawObservation.kind === 'listed') waiting?.over();
    if (rawObservation.kind === 'refused' && isOfPods) {
      if (!isDeleting(run)) throw refusedPods(options.cluster, asked, rawObservation);
      return stopWithoutPodWatch(run, rawObservation.message);
    }
    if (rawObservation.kind === 'refused') warnRefused(run, rawObservation);
    const kept = isOfPods ? ofGroup(group, rawObservation) : rawObservation;
    // If the pod has its own stream, its workload's stream only repeats what that one says about it.
    const isRepeated = target.stream === 'pods' && group.isOne && kept?.kind === 'changed';
    if (!kept || (isRepeated && uidOf(asObject(kept.object)) === run.traceOf('')?.uid)) return;
    onObservation?.(kept);
    run.deliver(kept);
    if (rawObservation.kind === 'synced' || rawObservation.kind === 'refused') gate?.open(own);
  };
  try {
    // Thousands of objects are read at the start: only what a trace needs of them is kept.
    const keep = group.isEndless ? narrowers[target.stream] : undefined;
    await watchObjects(options.cluster, { ...target, keep }, { signal: until, deliver, health, since });
  } catch (error) {
    if (isOfPods && isDeleting(run) && error instanceof PodexitError) stopWithoutPodWatch(run, error.message);
    else if (isOfPods && !until.aborted) run.fail(error);
    else if (!until.aborted) reportLoss(run, own, error);
  } finally {
    waiting?.over();
    gate?.open(own);
    run.streams.close(health);
  }
}

/**
 * A raw observation of the pods' stream, without pods of other groups; undefined if none is left. A server also sends DELETED
 * for a pod that a selector matches no longer, with its last state that matched; a pod that it removes has grace 0 by then.
 */
function ofGroup({ owns, pods }: Group, rawObservation: RawObservation): RawObservation | undefined {
  if (rawObservation.kind === 'listed')
    return { ...rawObservation, objects: rawObservation.objects.filter((pod) => owns(asObject(pod))) };
  if (rawObservation.kind !== 'changed') return rawObservation;
  const { at, stream, change, object } = rawObservation;
  const pod = asObject(object);
  if (!owns(pod)) return undefined;
  const { deletionGracePeriodSeconds: grace = 0 } = metadataOf(pod);
  if (change !== 'DELETED' || !(pods.labelSelector || pods.fieldSelector) || grace === 0) return rawObservation;
  return { kind: 'gap', at, stream, pod: uidOf(pod), from: at, cause: 'disconnected' };
}

const isDeleting = (run: Run): boolean => run.requested || run.traces().some(({ deletion }) => deletion !== undefined);

/** The pods can no longer be watched: the run ends, and reports what was seen. */
function stopWithoutPodWatch(run: Run, why: string): void {
  const { options, group, signal, deliver, endWith } = run;
  if (signal.aborted) return;
  const at = options.clock.now();
  const fate = group.isOne ? `${briefFate(deletionProgress(run.traceOf(''), run.requested), 'it')}, and ` : '';
  options.warn(
    `${groupText(group)} can no longer be watched (${why}); ${fate}the report covers what was observed so far`,
  );
  deliver({ at, kind: 'gap', stream: group.pods.stream, from: at, cause: 'refused' });
  endWith({ at, kind: 'timer', name: 'settled' });
}

/** Follows one container's log from the pod's deletion or from now on, for the times of its lines. */
async function followContainer(run: Run, pod: JsonObject, container: string, gate?: StreamGate): Promise<void> {
  const { options, signal } = run;
  const ofPod = run.ofPod(uidOf(pod));
  const own = { stream: 'logs', container, ...ofPod } as const;
  gate?.expect(own);
  const health = run.streams.open('logs', options.clock.now());
  const target = {
    namespace: namespaceOf(pod) ?? options.cluster.namespace,
    pod: nameOf(pod),
    container,
    uid: asString(metadataOf(pod)['uid']),
  };
  const deliver = (rawObservation: RawObservation): void => {
    if (rawObservation.kind === 'refused') warnRefused(run, rawObservation);
    run.deliver({ ...rawObservation, ...ofPod });
    if (rawObservation.kind === 'log-opened' || rawObservation.kind === 'refused') gate?.open(own);
  };
  try {
    const since = logsSince(pod);
    await followLog(options.cluster, target, { signal, deliver, matters: namesStopSignal, since });
  } catch (error) {
    reportLoss(run, own, error);
  } finally {
    gate?.open(own);
    run.streams.close(health);
  }
}

/** Follows at most `most` logs at the same time. */
export function createLogs(run: Run, most: number, onTooMany = (): void => {}) {
  let open = 0;
  return (pod: JsonObject, container: string, gate?: StreamGate): void => {
    if (open >= most) return onTooMany();
    open += 1;
    void followContainer(run, pod, container, gate).finally(() => (open -= 1));
  };
}

/** 2 s before the deletion was requested (API server's clock, ms), for other clocks and stamps of whole seconds. */
function logsSince(pod: JsonObject): number | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(pod);
  const deadline = Date.parse(String(deletionTimestamp));
  const grace = asNumber(deletionGracePeriodSeconds) ?? 0;
  return Number.isFinite(deadline) ? deadline - grace * 1000 - 2000 : undefined;
}

/** Says after 3 s, and again after twice the time each, that the first list of the pods has not arrived, and why. */
function announceWaiting({ group, options: { clock, warn } }: Run) {
  const since = clock.now();
  let why = `${group.isOne ? 'its' : 'their'} list has not been answered`;
  let cancel = (): void => {};
  const arm = (after: number): void => {
    const announce = (): void => {
      warn(`waiting for ${groupText(group)} for ${Math.round((clock.now() - since) / 1000)} s: ${why}`);
      arm(after * 2);
    };
    cancel = clock.setTimeout(announce, Math.max(0, since + after - clock.now()));
  };
  arm(3000);
  return {
    /** Why it has not arrived yet, in words. */
    because: (newer: string): void => void (why = newer),
    /** It has arrived, or is no longer waited for. */
    over: (): void => cancel(),
  };
}

/** One GET to see whether the namespace is terminating. A 404 proves nothing, and is no gap. */
export async function deliverNamespace(run: Run, namespace: string): Promise<void> {
  const { options, signal, deliver } = run;
  const { cluster } = options;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const stream = 'namespace';
  try {
    const { status, at, body } = await getObject(cluster, path, { signal });
    if (status === 200) deliver({ at, kind: 'listed', stream, resourceVersion: '', objects: [body] });
    else if (status !== 404)
      deliver(refusedBy(cluster, { stream, path }, { refusal: readRefusal(status, body), verb: 'get' }));
  } catch (error) {
    reportLoss(run, { stream }, error);
  }
}
