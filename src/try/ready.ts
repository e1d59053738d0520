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

export interface Waiting {
  readonly session: Session;
  /** That the pods have to become ready. */
  readonly timeoutMs: number;
  /** Aborted, with the name of the signal, when the user leaves. */
  readonly left: AbortSignal;
  /** One sentence for stderr: what keeps the pods from becoming ready, each once. */
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
    if (cluster.env.now() >= until) {
      const { name, replicas, deployment } = copy;
      const why = obstacles.text() ?? 'its pods started, and their readiness probes do not succeed';
      throw new PodexitError(
        'try.not-ready',
        `${ready.length} of ${replicas} pods of ${deployment.metadata?.name} (${name}) are ready after ${timeoutMs / 1000}s: ${why}`,
        name === 'patched'
          ? 'The copy without the patch became ready, so look at the patch.'
          : 'A copy has no labels of the original, which a network policy may ask for; or wait longer with --timeout.',
      );
    }
    await delay(cluster.env, lookMs, left);
  }
}

const createdAt = (pod: JsonObject): string => asString(metadataOf(pod)['creationTimestamp']) ?? '';
