/** Waits until a copy is as it should be before the next exit: all pods ready, and answering. */
import { PodexitError } from '../errors.ts';
import { delay } from '../kube/env.ts';
import { sumOf } from '../model/probe-numbers.ts';
import type { ProbeTally } from '../model/probe-observation.ts';
import { asString, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { ProbeSettings } from '../probe/target.ts';
import { startProbes } from '../probe/start.ts';
import { createObstacles } from '../run/progress/obstacles.ts';
import { rawConditionOf, isTerminatingPod, uidOf } from '../run/streams/watched.ts';
import type { Session } from '../run/session.ts';
import type { Copy } from './copies.ts';
import { podsOf } from './objects.ts';

/** ms without a failure, after which a copy counts as answering. */
const quietMs = 1000;
/** ms that ready pods have to answer. */
const answerMs = 30_000;
const lookMs = 250;

/**
 * `say` gets what keeps pods from becoming ready. Throws `try.not-ready` and `probe.not-answering`. The pods that are
 * ready now, oldest first.
 */
export async function untilReady(
  { cluster }: Session,
  copy: Copy,
  { timeoutMs, left, say }: { timeoutMs: number; left: AbortSignal; say(sentence: string): void },
): Promise<JsonObject[]> {
  const obstacles = createObstacles(say);
  const until = cluster.env.now() + timeoutMs;
  for (;;) {
    const pods = await podsOf(cluster, copy.labels);
    const ready = pods.filter((pod) => !isTerminatingPod(pod) && rawConditionOf(pod, 'Ready', 'True') !== undefined);
    if (ready.length === copy.replicas && pods.length === copy.replicas) return ready.sort(byAge);
    pods.forEach((pod) => obstacles.pod(uidOf(pod), pod));
    left.throwIfAborted();
    if (cluster.env.now() >= until) throw notReady(copy, ready.length, timeoutMs, obstacles.text());
    await delay(cluster.env, lookMs, left);
  }
}

const byAge = (a: JsonObject, b: JsonObject): number => (createdAt(a) < createdAt(b) ? -1 : 1);
const createdAt = (pod: JsonObject): string => asString(metadataOf(pod)['creationTimestamp']) ?? '';

function notReady(
  { name, replicas, deployment }: Copy,
  ready: number,
  ms: number,
  why: string | undefined,
): PodexitError {
  const reason = why ?? 'its pods started, and their readiness probes do not succeed';
  return new PodexitError(
    'try.not-ready',
    `${ready} of ${replicas} pods of ${deployment.metadata?.name} (${name}) are ready after ${ms / 1000}s: ${reason}`,
    name === 'patched'
      ? 'Look at the patch first; today’s copy became ready or waits too.'
      : 'Wait longer with --timeout.',
  );
}

/** Sends requests until a second has passed without a failure, and counts them. */
export async function untilAnswering(
  { cluster, ports }: Session,
  settings: ProbeSettings,
  left: AbortSignal,
): Promise<ProbeTally> {
  const counts: ProbeTally[] = [];
  let quiet = 0;
  let failure = new Error('no request was answered');
  const options = {
    probes: [settings],
    now: ports.clock.now,
    userAgent: `kubectl-podexit/${ports.version}`,
    ask: cluster.sendOnce,
    namespace: cluster.namespace,
  };
  const stop = new AbortController();
  const probes = startProbes(
    options,
    (observation) => {
      if (observation.kind !== 'probe-counts') return;
      const tally = sumOf([observation.new, observation.kept]);
      counts.push(tally);
      quiet = tally.failed > 0 ? 0 : quiet + (tally.sent > 0 ? observation.at - observation.since : 0);
    },
    AbortSignal.any([left, stop.signal]),
  );
  probes.ready.catch((error: unknown) => void (failure = error as Error));
  const until = cluster.env.now() + answerMs;
  try {
    while (quiet < quietMs) {
      await delay(cluster.env, lookMs, left);
      left.throwIfAborted();
      if (quiet < quietMs && cluster.env.now() >= until) throw failure;
    }
    await probes.stop();
  } finally {
    stop.abort();
  }
  return sumOf(counts);
}
