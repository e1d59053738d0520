/** One stream of a run: its requests, its raw observations, and what its loss means for the run. */
import { asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { TransportFailure } from '../../kube/http/failure.ts';
import { followLog } from '../../kube/logs.ts';
import { refusedPods } from '../../kube/refused.ts';
import { watchObjects, type Since } from '../../kube/watch.ts';
import { PodexitError } from '../../errors.ts';
import type { RawObservation, StreamName } from '../../model/observation.ts';
import { narrowers } from '../../model/kube.ts';
import { namesStopSignal } from '../../model/observe.ts';
import type { StreamGate } from './stream-health.ts';
import { briefFate, deletionProgress } from '../ending/leaving.ts';
import { groupText, type Group } from '../group/group.ts';
import type { Run } from './live-run.ts';
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

/** Follows one container's log, for the times of its lines. `since`: from this time on (ms); absent: from now on. */
export async function followContainer(
  run: Run,
  pod: JsonObject,
  container: string,
  { gate, since }: { gate?: StreamGate | undefined; since?: number | undefined },
): Promise<void> {
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
    await followLog(options.cluster, target, { signal, deliver, matters: namesStopSignal, since });
  } catch (error) {
    reportLoss(run, own, error);
  } finally {
    gate?.open(own);
    run.streams.close(health);
  }
}

/** A stream that failed permanently becomes a gap. An unexpected error ends the run, with its stack. */
export function reportLoss(
  { options, signal, deliver, fail }: Run,
  stream: { stream: StreamName; container?: string; pod?: string },
  error: unknown,
): void {
  if (signal.aborted) return;
  if (!(error instanceof PodexitError || error instanceof TransportFailure)) return fail(error);
  const at = options.clock.now();
  deliver({ at, kind: 'gap', ...stream, from: at, cause: 'disconnected' });
}

/** Warns once for each stream that the report needs; the loss of others is mentioned in the report alone. */
export function warnRefused(
  { options, warned }: Run,
  { verb, resource, group, stream, status }: Extract<RawObservation, { kind: 'refused' }>,
): void {
  const lost = lossWithout[stream];
  if (lost === undefined || warned.has(stream)) return;
  warned.add(stream);
  const of = group === '' ? resource : `${resource}.${group}`;
  options.warn(
    status === 403
      ? `no permission to ${verb} ${of}: ${lost}`
      : `the server refuses to ${verb} ${of} (${status}): ${lost}`,
  );
}

const lossWithout: Partial<Record<StreamName, string>> = {
  services: 'traffic is not observable',
  endpointslices: 'traffic is not observable',
  events: 'the start of the termination and hooks are approximate',
  logs: 'SIGTERM and exit times are approximate',
  node: 'node failures are not observable',
  owner: 'the cause of the deletion may stay unknown',
  pods: 'the replacement is not observable',
};

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
