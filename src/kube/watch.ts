import type { Deliver } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import { decide, randomMs, type Next, type AttemptEnd } from './decide.ts';
import { readJson } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { listObjects } from './get.ts';
import { refusedBy } from './refused.ts';
import { readRefusal } from './status.ts';
import { delay } from './env.ts';
import { selectors, type WatchTarget } from './resource-path.ts';
import { isExecFailure, stopError, waitingReason } from './server-errors.ts';
import {
  initialPosition,
  reportList,
  type Health,
  type Position,
  type Since,
  type StreamContext,
} from './watch-position.ts';
import { followWatch, noStreamingLists } from './watch-response.ts';

interface WatchOptions {
  signal: AbortSignal;
  deliver: Deliver;
  health?: Health;
  since?: Since | undefined;
  /** Ends when the state has come: as a plain list, however long the server is busy. */
  once?: boolean;
}

/** The health of a stream that nobody needs. */
export const unwatched = (): Health => {
  const ignore = (): void => {};
  return { lost: ignore, flows: ignore, sure: ignore, whole: ignore, doubted: new AbortController().signal };
};

/**
 * Delivers the state of a collection and its changes, until the signal aborts: `listed` and `synced` once, then
 * `changed`; `gap` and a new `listed` if history was lost; `refused`, as the last one, if the server refuses; `dated`
 * for each answer. A lost connection loses nothing: `resumed` says that what comes next may be old. With `since`, the state
 * is not listed: only changes come (`resumed`, `synced`, then `changed`), unless the server has forgotten them.
 *
 * Ends quietly on abort, and when the cluster is closed. Throws PodexitError `auth.unauthorized`, `server.untrusted`,
 * `server.not-kubernetes`, and, if the server was never reached, `server.unreachable` or `auth.exec-failed`.
 */
export async function watchObjects(
  cluster: Cluster,
  target: WatchTarget,
  { signal, deliver, health = unwatched(), since, once = false }: WatchOptions,
): Promise<void> {
  const { env, memory } = cluster;
  const position = initialPosition(since?.at ?? env.now(), since?.resourceVersion);
  const context: StreamContext = { cluster, target, position, signal, deliver, health };
  const isOver = (): boolean => signal.aborted || cluster.closed.aborted;
  let step: RetryStep = { next: since ? 'resume' : 'relist', wait: [0, 0] };
  for (;;) {
    const ms = randomMs(step.wait, env.random());
    const { doubted } = health;
    // Ends early when the caller doubts the stream, or aborts. Creates a signal only if there is a wait.
    if (ms > 0) await delay(env, ms, AbortSignal.any([signal, cluster.closed, ...(doubted.aborted ? [] : [doubted])]));
    if (isOver()) return;
    const outcome = await attempt(context, step, once);
    if (isOver() || (once && position.synced)) return;
    health.lost(position.completeUntil);

    const next = decide(outcome, { ...position, reached: memory.reached });
    env.log(5, cluster.clean(`${target.stream}: ${outcome.kind}, next: ${next.next}`));
    // An oversized object ends only its own stream, unless that is the pod's.
    const endsOnlyStream = next.next === 'stop' && next.because === 'oversized' && target.stream !== 'pod';
    if (next.next === 'stop' && !endsOnlyStream) throw stopError(cluster, next.because, outcome);
    if (next.next === 'refuse' || next.next === 'stop') {
      deliver(refusedBy(cluster, target, 'verb' in outcome ? outcome : { verb: 'watch' }));
      return;
    }
    if (!position.synced) health.waitingFor?.(waitingReason(cluster, target, outcome));
    countOutcome(position, outcome);
    if (next.next === 'relist' && next.lost !== undefined) {
      position.lost = next.lost;
      position.relists++;
    }
    step = next;
  }
}

function countOutcome(position: Position, outcome: AttemptEnd): void {
  position.failures++;
  if (outcome.kind === 'behind') position.behind++;
  if (outcome.kind === 'dead') position.dead++;
  position.foreign = outcome.kind === 'foreign' ? position.foreign + 1 : 0;
}

type RetryStep = Extract<Next, { next: 'resume' | 'relist' }>;

/** One list or watch, from its request to its end. */
async function attempt(context: StreamContext, step: RetryStep, once: boolean): Promise<AttemptEnd> {
  const { cluster, target, position, signal, deliver } = context;
  try {
    if (step.next === 'resume') return await watchFrom('cut', context);
    // After two failures, whatever their cause, a plain list and a watch bring the same.
    const isStreamed = cluster.memory.streamingLists !== 'unsupported' && position.streamingFailures < 2;
    if (isStreamed && !step.notOlder && !once) return await watchFrom('state', context);
    const notOlderThan = step.notOlder ? position.received : undefined;
    const result = await listObjects(cluster, target, { signal, deliver, notOlderThan });
    if (result.kind === 'failed') return result.outcome;
    return reportList(context, result) ?? (once ? { kind: 'ended' } : await watchFrom('list', context));
  } catch (error) {
    if (error instanceof TransportFailure) return { kind: 'unanswered', failure: error };
    if (signal.aborted) return { kind: 'ended' };
    // A laptop wakes before its network does: once the server was reached, a failing plugin is retried like the server.
    if (isExecFailure(error) && cluster.memory.reached) return { kind: 'unanswered' };
    throw error;
  }
}

/**
 * Where a watch begins: with the whole state (KEP-3157: consistent; it saves 9 of 21 requests of a deletion), after a list,
 * or where an earlier watch was cut, so that the first lines may have happened at any time since then.
 */
type Start = 'state' | 'list' | 'cut';

async function watchFrom(start: Start, context: StreamContext): Promise<AttemptEnd> {
  const { cluster, target, position, signal, deliver } = context;
  const initial = start === 'state';
  if (initial) position.streamingFailures++;
  const from = initial
    ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
    : { resourceVersion: position.resourceVersion ?? '' };
  const query = { ...selectors(target), watch: '1', ...from, allowWatchBookmarks: 'true' };
  // Like any watch it is answered at once, only its state may take longer.
  const answerWithinMs = initial ? 10_000 : undefined;
  const response = await cluster.stream({ method: 'GET', path: target.path, query, signal, answerWithinMs });
  response.dated.forEach(deliver);
  const type = response.headers['content-type'];
  // Kubernetes answers in JSON, and its content type says so.
  if (response.status === 200 && type !== undefined && !/\bjson\b/i.test(type)) {
    response.body.destroy();
    return { kind: 'foreign' };
  }
  if (response.status !== 200) {
    const refusal = readRefusal(response.status, await readJson(response.body, signal), response.headers);
    if (initial && [400, 422].includes(response.status)) return noStreamingLists(cluster);
    return { kind: 'refused', refusal, verb: 'watch' };
  }
  const own = { at: response.at, stream: target.stream };
  if (start === 'cut') deliver({ kind: 'resumed', ...own, since: position.completeUntil });
  if (start === 'cut' && !position.synced) deliver({ kind: 'synced', ...own });
  position.synced ||= start === 'cut';
  return await followWatch(context, response, { initial });
}
