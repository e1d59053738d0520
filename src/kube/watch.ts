import type { Deliver } from '../model/observation.ts';
import type { Cluster, StreamedResponse } from './cluster.ts';
import { decide, pick, type Next, type Outcome } from './decide.ts';
import { readJson } from './http/body.ts';
import { TransportFailure } from './http/failure.ts';
import { listObjects } from './list.ts';
import { refusedBy } from './refused.ts';
import { readRefusal } from './status.ts';
import { delay } from './env.ts';
import { selectors, type WatchTarget } from './resource-path.ts';
import { isExecFailure, stopError, waitingReason } from './server-errors.ts';
import {
  doubtBookmark,
  reportList,
  unwatchedHealth,
  type Health,
  type Position,
  type StreamContext,
} from './watch-position.ts';
import { followWatch } from './watch-response.ts';

/**
 * The state of a collection and all that changes in it, for as long as the signal lives: `listed` and `synced` once,
 * then `changed`; `gap` and a new `listed` where history was lost; `refused` (and then the end) where the server
 * refuses it; `dated` for each answer. A lost connection loses nothing: `resumed` says that what comes next may be old.
 *
 * Ends quietly on abort, and when the cluster is closed. Throws PodexitError `auth.unauthorized`, `server.untrusted`,
 * `server.not-kubernetes`, and, where the server was never reached, `server.unreachable` or `auth.exec-failed`.
 */
export async function watchObjects(
  cluster: Cluster,
  target: WatchTarget,
  { signal, deliver, health = unwatchedHealth() }: { signal: AbortSignal; deliver: Deliver; health?: Health },
): Promise<void> {
  const { env, memory } = cluster;
  const position = beginning(env.now());
  const context: StreamContext = { cluster, target, position, signal, deliver, health };
  const isOver = (): boolean => signal.aborted || cluster.closed.aborted;
  let step: GoOn = { next: 'relist', wait: [0, 0] };
  for (;;) {
    await pause(context, pick(step.wait, env.random()));
    if (isOver()) return;
    const outcome = await attempt(context, step);
    if (isOver()) return;
    health.lost(position.goodAt);

    const next = decide(outcome, { ...position, reached: memory.reached });
    env.log(5, cluster.clean(`${target.stream}: ${outcome.kind}, next: ${next.next}`));
    // One object of a stream that the answer can do without costs that stream alone.
    const isLeftOut = next.next === 'stop' && next.because === 'oversized' && target.stream !== 'pod';
    if (next.next === 'stop' && !isLeftOut) throw stopError(cluster, next.because, outcome);
    if (next.next === 'refuse' || next.next === 'stop') {
      deliver(refusedBy(cluster, target, 'verb' in outcome ? outcome : { verb: 'watch' }));
      return;
    }
    if (!position.synced) health.waitingFor?.(waitingReason(cluster, target, outcome));
    count(position, outcome);
    if (next.next === 'relist' && next.lost !== undefined) {
      position.lost = next.lost;
      position.relists++;
    }
    step = next;
  }
}

/** Ends early when the caller doubts the stream, or is done. The signal is made only where there is a wait. */
async function pause({ cluster, signal, health: { doubted } }: StreamContext, ms: number): Promise<void> {
  if (ms <= 0) return;
  const woken = AbortSignal.any([signal, cluster.closed, ...(doubted.aborted ? [] : [doubted])]);
  await delay(cluster.env, ms, woken);
}

const beginning = (now: number): Position => ({
  failures: 0,
  behind: 0,
  relists: 0,
  dead: 0,
  foreign: 0,
  renewed: false,
  synced: false,
  streamingFailures: 0,
  goodAt: now,
  sureAt: now,
  keys: new Set(),
  whole: false,
});

function count(position: Position, outcome: Outcome): void {
  position.failures++;
  if (outcome.kind === 'behind') position.behind++;
  if (outcome.kind === 'dead') position.dead++;
  position.foreign = outcome.kind === 'foreign' ? position.foreign + 1 : 0;
  if (outcome.kind === 'renewed') position.renewed = true;
}

type GoOn = Extract<Next, { next: 'resume' | 'relist' }>;

/** One list or watch, from its request to its end. */
async function attempt(context: StreamContext, step: GoOn): Promise<Outcome> {
  const { cluster, position, signal } = context;
  try {
    if (step.next === 'resume') return await watchOn(context, true);
    const isStreamed =
      cluster.memory.streamingLists !== 'withheld' && position.streamingFailures < mostStreamingFailures;
    return isStreamed && !step.notOlder
      ? await streamList(context)
      : await listAndWatch(context, step.notOlder === true);
  } catch (error) {
    if (error instanceof TransportFailure) return { kind: 'unanswered', failure: error };
    if (signal.aborted) return { kind: 'ended' };
    // A laptop wakes before its network does: once the server was reached, the plugin is tried again as the server is.
    if (isExecFailure(error) && cluster.memory.reached) return { kind: 'unanswered' };
    throw error;
  }
}

/** Whatever the server, or something before it, has against streaming lists: a plain list and a watch do the same. */
const mostStreamingFailures = 2;
/** ms until the headers of a streaming list: a watch is answered at once, and its state may take longer. */
const streamingAnswerMs = 10_000;

/** The list as the beginning of the watch (KEP-3157): one request, one connection, consistent. */
async function streamList(context: StreamContext): Promise<Outcome> {
  const { cluster, target, position, signal, deliver } = context;
  position.streamingFailures++;
  const query = {
    ...selectors(target),
    watch: '1',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
  };
  const response = await cluster.stream({
    ...{ method: 'GET', path: target.path, query, signal },
    answerWithinMs: streamingAnswerMs,
  });
  response.dated.forEach(deliver);
  if (isForeignBody(response)) return foreign(response);
  if (response.status === 200) return await followWatch(context, response, { initial: true });
  const refused = await refusedWatch(context, response);
  if (response.status !== 400 && response.status !== 422) return refused;
  cluster.memory.streamingLists = 'withheld';
  return { kind: 'no-streaming-list' };
}

async function listAndWatch(context: StreamContext, notOlder: boolean): Promise<Outcome> {
  const { cluster, target, position, signal, deliver } = context;
  const result = await listObjects(cluster, target, { signal, notOlderThan: notOlder ? position.received : undefined });
  result.dated.forEach(deliver);
  if (result.kind === 'failed') return result.outcome;
  return reportList(context, result) ?? (await watchOn(context, false));
}

/** `resumes`: an earlier watch was cut, so what comes first may have happened at any time since then. */
async function watchOn(context: StreamContext, resumes: boolean): Promise<Outcome> {
  const { cluster, target, position, signal, deliver } = context;
  const query = {
    ...selectors(target),
    watch: '1',
    resourceVersion: position.resourceVersion ?? '',
    allowWatchBookmarks: 'true',
  };
  const response = await cluster.stream({ method: 'GET', path: target.path, query, signal });
  response.dated.forEach(deliver);
  if (isForeignBody(response)) return foreign(response);
  if (response.status !== 200) return await refusedWatch(context, response);
  if (resumes) deliver({ kind: 'resumed', at: response.at, stream: target.stream, since: position.goodAt });
  return await followWatch(context, response, { initial: false });
}

/** Kubernetes answers in JSON, and says so. */
function isForeignBody({ status, headers }: StreamedResponse): boolean {
  const type = headers['content-type'];
  return status === 200 && type !== undefined && !/\bjson\b/i.test(type);
}

function foreign(response: StreamedResponse): Outcome {
  response.body.destroy();
  return { kind: 'foreign' };
}

async function refusedWatch({ position, signal }: StreamContext, response: StreamedResponse): Promise<Outcome> {
  const refusal = readRefusal(response.status, await readJson(response.body, signal), response.headers);
  doubtBookmark(position, refusal);
  return { kind: 'refused', refusal, frame: false, verb: 'watch' };
}
