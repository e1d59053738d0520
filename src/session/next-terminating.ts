/** `--attach` with a workload: waits for the next of its pods that is being deleted. */
import type { Cluster } from '../cluster/cluster.ts';
import { refusedPods } from '../cluster/pod-refused.ts';
import { watchObjects } from '../cluster/watch.ts';
import { PodexitError } from '../errors.ts';
import type { PodSelector } from './candidates.ts';
import type { Ahead, Foregoing } from './foregoing.ts';
import { listenAhead } from './foregoing.ts';
import type { FoundPod } from './found-pod.ts';
import type { Clock } from './clock.ts';
import type { Raw } from './watched.ts';
import { asRaw, metadataOf } from './watched.ts';

export interface Waiting {
  cluster: Cluster;
  selector: PodSelector;
  /** For messages. */
  what: string;
  clock: Clock;
  /** ms; null: for ever. */
  timeoutMs: number | null;
}

/** Throws `attach.not-started` (exit 3) when none came by the timeout, and as refusedPods says. */
export async function nextTerminating({ cluster, selector, what, clock, timeoutMs }: Waiting): Promise<FoundPod> {
  const [stop, deaf] = [new AbortController(), new AbortController()];
  const cancel = timeoutMs === null ? () => {} : clock.setTimeout(() => stop.abort(), timeoutMs);
  // Who routes is heard on until the pod's own run does.
  const ahead = listenAhead(cluster, deaf.signal, () => deaf.abort());
  try {
    for await (const { pod, before } of terminatingPods(cluster, selector, stop.signal, ahead)) {
      if (!before) deaf.abort();
      return foundIn(pod, before);
    }
  } catch (error) {
    deaf.abort();
    throw error;
  } finally {
    cancel();
    stop.abort();
  }
  deaf.abort();
  throw new PodexitError(
    'attach.not-started',
    `no pod of ${what} in namespace "${cluster.namespace}" was being deleted within --timeout`,
    'Start the rollout or the deletion while this waits, or wait longer: --timeout 0 waits for ever.',
    { exitCode: 3 },
  );
}

export function foundIn(pod: Raw, before: Foregoing | undefined): FoundPod {
  const { name, uid } = metadataOf(pod);
  return { name: String(name), uid: String(uid), ...(before ? { before } : {}) };
}

/** `before`: what was heard until then, where that was more than the pod's end. */
export interface Terminating {
  readonly pod: Raw;
  readonly before: Foregoing | undefined;
}

/** Each pod once, as soon as it is seen with a deletionTimestamp. Ends quietly on abort. Throws as refusedPods says. */
export async function* terminatingPods(
  cluster: Cluster,
  selector: PodSelector,
  signal: AbortSignal,
  ahead: Ahead,
  /** Told of every state of every pod of the target, and of pods that are gone (undefined). */
  look: (uid: string, pod: Raw | undefined) => void = () => {},
): AsyncGenerator<Terminating> {
  const told = new Set<string>();
  const path = `/api/v1/namespaces/${encodeURIComponent(cluster.namespace)}/pods`;
  const { labels, fields } = selector;
  const target = {
    stream: 'siblings' as const,
    path,
    ...(labels === '' ? {} : { labelSelector: labels }),
    ...(fields === '' ? {} : { fieldSelector: fields }),
  };
  try {
    for await (const sighting of watchObjects(cluster, target, { signal })) {
      if (sighting.kind === 'refused') throw refusedPods(cluster, cluster.namespace, sighting);
      if (sighting.kind === 'resumed') ahead.resumed(sighting);
      const removed = sighting.kind === 'changed' && sighting.change === 'DELETED';
      const objects =
        sighting.kind === 'listed' ? sighting.objects : sighting.kind === 'changed' ? [sighting.object] : [];
      for (const pod of objects.map(asRaw).filter(selector.owns)) {
        const { uid, deletionTimestamp } = metadataOf(pod);
        look(String(uid), removed ? undefined : pod);
        if (removed) ahead.forget(pod);
        else if (deletionTimestamp === undefined) ahead.saw(pod, sighting.at);
        if (removed || deletionTimestamp === undefined || told.has(String(uid))) continue;
        told.add(String(uid));
        // What a list shows may have been so for as long as the watch was away.
        if (sighting.kind === 'listed') ahead.forget(pod);
        yield { pod, before: ahead.terminates(pod, sighting.at) };
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
