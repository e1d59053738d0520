/** Waits until all pods of a copy are ready. */
import { PodexitError } from '../errors.ts';
import { delay } from '../kube/env.ts';
import { asString, metadataOf, type JsonObject } from '../model/observe/read.ts';
import { createObstacles } from '../run/progress/obstacles.ts';
import type { Session } from '../run/session.ts';
import { printLabels } from '../run/streams/selectors.ts';
import { isFinishedPod, rawConditionOf, isTerminatingPod, uidOf } from '../run/streams/watched.ts';
import type { Copy } from './copies.ts';
import { labelled } from './objects.ts';

interface Waiting {
  readonly session: Session;
  readonly timeoutMs: number;
  readonly left: AbortSignal;
  /** Gets what keeps the pods from becoming ready, each once. */
  say(sentence: string): void;
}

const lookMs = 250;

/** The pods of the copy, oldest first. Throws `try.not-ready`, and the reason of `left`. */
export async function untilReady(
  copy: Copy,
  { session: { cluster }, timeoutMs, left, say }: Waiting,
): Promise<JsonObject[]> {
  const selector = printLabels({ matchLabels: copy.labels });
  const obstacles = createObstacles(say);
  const until = cluster.env.now() + timeoutMs;
  for (;;) {
    const pods = (await labelled(cluster, 'Pod', selector)).filter((pod) => !isFinishedPod(pod));
    const ready = pods.filter((pod) => !isTerminatingPod(pod) && rawConditionOf(pod, 'Ready', 'True') !== undefined);
    if (ready.length === copy.replicas && pods.length === copy.replicas)
      return ready.sort((a, b) => createdAt(a).localeCompare(createdAt(b)));
    pods.forEach((pod) => obstacles.pod(uidOf(pod), pod));
    left.throwIfAborted();
    if (cluster.env.now() >= until) throw notReady(copy, ready.length, timeoutMs, obstacles.text());
    await delay(cluster.env, lookMs, left);
  }
}

const createdAt = (pod: JsonObject): string => asString(metadataOf(pod)['creationTimestamp']) ?? '';

function notReady(
  { name, replicas, deployment }: Copy,
  ready: number,
  ms: number,
  why = 'its pods started, and their readiness probes do not succeed',
): PodexitError {
  return new PodexitError(
    'try.not-ready',
    `${ready} of ${replicas} pods of ${deployment.metadata?.name} (${name}) are ready after ${ms / 1000}s: ${why}`,
    name === 'patched'
      ? 'The copy without the patch became ready, so look at the patch.'
      : 'A copy has no labels of the original, which a network policy may ask for; or wait longer with --timeout.',
  );
}
