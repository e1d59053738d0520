/** `--attach` with a workload: waits for the next of its pods that is being deleted. */
import type { Cluster } from '../cluster/cluster.ts';
import { refusedPods } from '../cluster/pod-refused.ts';
import { watchObjects } from '../cluster/watch.ts';
import { PodexitError } from '../errors.ts';
import type { Sighting } from '../trace/observation.ts';
import type { PodSelector } from './candidates.ts';
import type { Deadline } from './deadline.ts';
import type { Ahead, State } from './foregoing.ts';
import { listenAhead } from './foregoing.ts';
import type { FoundPod } from './found-pod.ts';
import type { Raw } from './watched.ts';
import { asRaw, metadataOf, uidOf } from './watched.ts';

export interface Waiting {
  cluster: Cluster;
  selector: PodSelector;
  /** For messages. */
  what: string;
  deadline: Deadline;
}

/** A pod that is being deleted, and what was heard before, where that was more than its end. */
export interface TerminatingPod extends FoundPod {
  readonly uid: string;
}

/** Throws `attach.not-started` (exit 3) when none came by the timeout, and as refusedPods says. */
export async function nextTerminating(waiting: Waiting): Promise<TerminatingPod> {
  const { cluster, selector, what, deadline } = waiting;
  const [stop, deaf] = [new AbortController(), new AbortController()];
  const over = AbortSignal.any([stop.signal, deadline.signal]);
  const ahead = listenAhead(cluster, selector, deaf.signal, () => deaf.abort());
  let found: TerminatingPod | undefined;
  try {
    for await (const pod of terminatingPods(cluster, selector, over, ahead)) {
      found = pod;
      break;
    }
  } finally {
    stop.abort();
    // Who routes is heard on until the pod's own run does.
    if (!found?.before) deaf.abort();
  }
  if (found) return found;
  throw new PodexitError(
    'attach.not-started',
    `no pod of ${what} in namespace "${cluster.namespace}" was being deleted within --timeout`,
    'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits for ever.',
    { exitCode: 3 },
  );
}

/** Each pod once, as soon as it is seen with a deletionTimestamp. Ends quietly on abort. Throws as refusedPods says. */
export async function* terminatingPods(
  cluster: Cluster,
  selector: PodSelector,
  signal: AbortSignal,
  ahead: Ahead,
  /** Told of every state of every pod of the target, and of pods that are gone (undefined). */
  look: (uid: string, pod: Raw | undefined) => void = () => {},
): AsyncGenerator<TerminatingPod> {
  const told = new Set<string>();
  try {
    for await (const sighting of watchObjects(cluster, podsOf(cluster, selector), { signal })) {
      if (sighting.kind === 'refused') throw refusedPods(cluster, cluster.namespace, sighting);
      ahead.heard(sighting);
      const pods = objectsOf(sighting).map(asRaw).filter(selector.owns);
      if (sighting.kind === 'listed') ahead.keepOnly(new Set(pods.filter(isAlive).map(uidOf)));
      const removed = sighting.kind === 'changed' && sighting.change === 'DELETED';
      for (const pod of pods) {
        const uid = uidOf(pod);
        look(uid, removed ? undefined : pod);
        if (removed) ahead.forget(uid);
        else if (isAlive(pod)) ahead.saw(stateOf(pod, sighting));
        else if (!told.has(uid)) {
          told.add(uid);
          const before = ahead.ends({ pod, at: sighting.at });
          yield { name: String(metadataOf(pod)['name']), uid, ...(before ? { before } : {}) };
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

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
