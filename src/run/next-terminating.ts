/** `--attach` with a workload: waits for the next of its pods that is being deleted. */
import type { Cluster } from '../kube/cluster.ts';
import type { Health } from '../kube/health.ts';
import { untold } from '../kube/health.ts';
import { refusedPods } from '../kube/pod-refused.ts';
import { watchObjects } from '../kube/watch.ts';
import { PodexitError } from '../errors.ts';
import type { Sighting } from '../model/observation.ts';
import type { PodSelector } from './candidates.ts';
import type { Deadline } from './deadline.ts';
import type { Ahead, State } from './foregoing.ts';
import { listenAhead } from './foregoing.ts';
import type { FoundPod } from './found-pod.ts';
import type { WaitingLimit } from './waiting-limit.ts';
import type { Raw } from './watched.ts';
import { asRaw, isFinishedPod, metadataOf, nameOf, uidOf } from './watched.ts';

export interface Waiting {
  cluster: Cluster;
  selector: PodSelector;
  /** For messages. */
  what: string;
  deadline: Deadline;
  limit: WaitingLimit;
  /** Told of each pod whose end nobody saw. */
  missed: Onlooker['missed'];
}

/** A pod that is being deleted, and what was heard before, where that was more than its end. */
export interface TerminatingPod extends FoundPod {
  readonly uid: string;
}

/** Whoever wants to know more of a target's pods than which of them terminate. */
export interface Onlooker {
  /** Every state of every pod of the target; undefined: it is gone. */
  seen(this: void, uid: string, pod: Raw | undefined): void;
  /** It is gone, and how it ended was not seen; `why` is a sentence's end. */
  missed(this: void, pod: Raw, why: string): void;
  /** All pods of the target that there are. */
  listed(this: void, pods: readonly Raw[]): void;
  /** Whether silence means that nothing happens. */
  hears(this: void, isSo: boolean): void;
}

/** Throws `attach.not-started` (exit 3) when none came in time, and as refusedPods says. */
export async function nextTerminating(waiting: Waiting): Promise<TerminatingPod> {
  const { cluster, selector, deadline, limit, missed } = waiting;
  const [stop, deaf] = [new AbortController(), new AbortController()];
  const over = AbortSignal.any([stop.signal, deadline.signal, limit.signal]);
  const ahead = listenAhead(cluster, selector, deaf.signal, () => deaf.abort());
  const seen = (_uid: string, pod: Raw | undefined): void => void (pod && limit.saw(pod));
  let found: TerminatingPod | undefined;
  try {
    for await (const pod of terminatingPods(cluster, selector, over, ahead, { seen, missed })) {
      found = pod;
      break;
    }
  } finally {
    stop.abort();
    // Who routes is heard on until the pod's own run does.
    if (!found?.before) deaf.abort();
  }
  if (found) return found;
  throw notStarted(waiting);
}

const notStarted = ({ cluster, what, limit }: Waiting): PodexitError =>
  new PodexitError(
    'attach.not-started',
    `no pod of ${what} in namespace "${cluster.namespace}" was being deleted within ${limit.signal.aborted ? limit.text() : '--timeout'}`,
    'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits for ever.',
    { exitCode: 3 },
  );

/** Each pod once, as soon as it is seen with a deletionTimestamp. Ends quietly on abort. Throws as refusedPods says. */
export async function* terminatingPods(
  cluster: Cluster,
  selector: PodSelector,
  signal: AbortSignal,
  ahead: Ahead,
  { seen, missed, listed, hears }: Partial<Onlooker> = {},
): AsyncGenerator<TerminatingPod> {
  const told = new Set<string>();
  try {
    for await (const sighting of watchObjects(cluster, podsOf(cluster, selector), { signal, health: hearing(hears) })) {
      if (sighting.kind === 'refused') throw refusedPods(cluster, cluster.namespace, sighting);
      ahead.heard(sighting);
      const pods = objectsOf(sighting).map(asRaw).filter(selector.owns);
      if (sighting.kind === 'listed') {
        lostIn(pods, ahead).forEach((pod) => missed?.(pod, 'it went while the watch of the pods was lost'));
        listed?.(pods);
      }
      const removed = sighting.kind === 'changed' && sighting.change === 'DELETED';
      for (const pod of pods) {
        const uid = uidOf(pod);
        seen?.(uid, removed ? undefined : pod);
        if (removed) {
          ahead.forget(uid);
          if (!told.has(uid) && wasForced(pod)) missed?.(pod, 'it was removed at once');
        } else if (isAlive(pod)) ahead.saw(stateOf(pod, sighting));
        else if (!told.has(uid)) {
          told.add(uid);
          const before = ahead.ends({ pod, at: sighting.at });
          yield { name: nameOf(pod), uid, ...(before ? { before } : {}) };
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const hearing = (hears: Onlooker['hears'] = () => {}): Health => ({
  ...untold(),
  lost: () => hears(false),
  flows: () => hears(true),
});

/** Pods that were alive before a gap and are not in the list after it. */
function lostIn(pods: readonly Raw[], ahead: Ahead): Raw[] {
  const there = new Set(pods.map(uidOf));
  return ahead
    .keepOnly(new Set(pods.filter(isAlive).map(uidOf)))
    .filter((pod) => !there.has(uidOf(pod)) && !isFinishedPod(pod));
}

/** By a deletion without a grace. What only lost its labels has no deletionTimestamp, and what never ran has nothing to end. */
const wasForced = (pod: Raw): boolean => !isAlive(pod) && asRaw(pod['status'])['phase'] === 'Running';

function podsOf({ namespace }: Cluster, { labels, fields }: PodSelector) {
  return {
    stream: 'siblings' as const,
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
    ...(labels === '' ? {} : { labelSelector: labels }),
    ...(fields === '' ? {} : { fieldSelector: fields }),
  };
}

function objectsOf(sighting: Sighting): readonly unknown[] {
  if (sighting.kind === 'listed') return sighting.objects;
  return sighting.kind === 'changed' ? [sighting.object] : [];
}

const stateOf = (pod: Raw, sighting: Sighting): State => ({
  pod,
  at: sighting.at,
  ...(sighting.kind === 'listed' && sighting.sentAt !== undefined ? { sentAt: sighting.sentAt } : {}),
});

const isAlive = (pod: Raw): boolean => metadataOf(pod)['deletionTimestamp'] === undefined;
