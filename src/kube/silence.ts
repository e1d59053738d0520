/** Finds out whether a silent watch has missed something. */
import { asArray, asObject } from '../model/observe/read.ts';
import type { ApiResponse } from './cluster.ts';
import { randomMs, waitToAskAgain } from './decide.ts';
import type { Env } from './env.ts';
import type { LineEvent, NextLine } from './http/body.ts';
import { acceptMetadata, isForeign, keyOf, selectors, type WatchTarget } from './resource-path.ts';
import { answerIfAny } from './server-errors.ts';
import { continueOf, isNewer, isProxyPage, newestVersion, readRefusal, versionOf } from './status.ts';
import { resetFailures, rewind, type Health, type Position, type StreamContext } from './watch-position.ts';

type Asking = Pick<StreamContext, 'cluster' | 'target' | 'signal' | 'deliver'> & {
  position: Partial<Pick<Position, 'newest' | 'received'>> & Pick<Position, 'keys'>;
};

interface Comparison {
  /**
   * `more`: the server has something that the stream has not delivered (yet), whatever position the stream claims.
   * `less`: the server lacks something that the stream has delivered. `unknown`: no usable answer.
   */
  has: 'same' | 'more' | 'less' | 'unknown';
  /** With `more`: the latest version that the stream has not delivered, if it is known. */
  latest?: string;
  /** The answer covers all objects of the stream, not only a first page. */
  complete: boolean;
  retryAfterMs?: number;
}

/**
 * Asks the server whether a silent stream has missed something, if possible for metadata only. A healthy stream may be
 * silent for minutes. A missing answer proves nothing.
 */
export async function askWhatIsNew({ cluster, target, position, signal, deliver }: Asking): Promise<Comparison> {
  const request = { method: 'GET', ...question(target, position), signal } as const;
  const response = await answerIfAny(cluster.request(request), signal);
  if (response === undefined) return { has: 'unknown', complete: false };
  const { status, body, headers, dated } = response;
  const complete = target.name !== undefined || continueOf(body) === '';
  const compared = compare(response, target, position, complete);
  // How long an answer took counts even if it comes too late to compare. A refusal needs no storage.
  dated.forEach((one) => deliver({ ...one, read: compared.has === 'unknown' ? 'failed' : 'stored' }));
  const retryAfterMs = status === 200 ? undefined : readRefusal(status, body, headers).retryAfterMs;
  return { ...compared, retryAfterMs, complete };
}

/** If the server answers this at once, and not the question, its storage stands still. The question reports errors. */
async function askMemory({ cluster, target, position, signal, deliver }: Asking): Promise<void> {
  const request = { method: 'GET', ...question(target, position, '0'), signal } as const;
  const answer = await cluster.request(request).catch(() => undefined);
  if (answer?.status === 200) answer.dated.forEach((one) => deliver({ ...one, read: 'cached' }));
}

/** The object itself if it is named, else the beginning of the list. */
function question(target: WatchTarget, { keys }: Asking['position'], resourceVersion?: string) {
  if (target.name !== undefined) {
    const path = `${target.path}/${encodeURIComponent(target.name)}`;
    return { path, query: { resourceVersion }, accept: acceptMetadata('PartialObjectMetadata') };
  }
  const narrowed = selectors(target);
  // Enough to find a pod's newest Event anywhere in the list, and to see that none is missing.
  const limit = Object.values(narrowed).some(Boolean) ? Math.max(50, Math.min(keys.size, 500)) : 1;
  const query = { ...narrowed, limit: String(limit), resourceVersion };
  return { path: target.path, query, accept: acceptMetadata('PartialObjectMetadataList') };
}

function compare(
  { status, body }: ApiResponse,
  target: WatchTarget,
  { newest, received, keys }: Asking['position'],
  complete: boolean,
): Pick<Comparison, 'has' | 'latest'> {
  const isNamed = target.name !== undefined;
  const version = versionOf(body);
  const isGone = isNamed && status === 404 && !isProxyPage({ status, body });
  // A 200 without a version is not from Kubernetes: it proves nothing.
  if (!isGone && (status !== 200 || version === undefined)) return { has: 'unknown' };
  const found = isNamed
    ? [body]
    : asArray(asObject(body)['items'], Infinity).filter((object) => !isForeign(target, object));
  const objects = isGone ? [] : found;
  const latest = newestVersion(objects);
  // If a named object was never delivered, only the version of its list can be compared.
  const known = isNamed ? (newest ?? received) : newest;
  if (latest !== undefined && (known === undefined || isNewer(latest, known))) return { has: 'more', latest };
  if (isNewer(isNamed ? newest : received, version)) return { has: 'less' };
  const there = new Set(objects.map(keyOf));
  return { has: complete && [...keys].some((key) => !there.has(key)) ? 'more' : 'same' };
}

/** ms for an answer. A later one is out of date: the server is asked again. */
const [slowAnswerMs, maxAnswerMs] = [1000, 3000];
/**
 * The result for a silent stream: a line after all; `alive`: it has delivered everything; `dead`: it has not delivered
 * something that the server has; `ahead`: the server has long lacked what it has delivered; or no answer.
 */
type SilenceResult = LineEvent | { kind: 'alive' | 'dead' | 'ahead' } | { kind: 'unanswered'; retryAfterMs?: number };

/** Asks the server what a silent stream should have delivered, and continues reading meanwhile. */
export async function checkSilence(context: StreamContext, next: NextLine): Promise<SilenceResult> {
  const { cluster, position, signal } = context;
  const asked = cluster.env.now();
  const answering = askWhatIsNew(context);
  const answered = new AbortController();
  const settle = (): void => answered.abort();
  answering.then(settle, settle);
  // Continue reading: a line makes the answer unnecessary, and the answer may take long.
  let line = await next(slowAnswerMs, answered.signal);
  if (line === undefined && !answered.signal.aborted) {
    if (context.target.stream === 'pod') void askMemory(context);
    line = await next(maxAnswerMs - slowAnswerMs, answered.signal);
  }
  if (line !== undefined) return line;
  if (!answered.signal.aborted) return { kind: 'unanswered' };
  const answer = await answering;
  if (answer.has === 'less') {
    position.serverBehindSince ??= asked;
    // 10 s is longer than the lag of a server that is just behind.
    return { kind: asked - position.serverBehindSince >= 10_000 ? 'ahead' : 'alive' };
  }
  if (answer.has !== 'more') {
    position.failures = 0;
    if (answer.has === 'unknown') return { kind: 'unanswered', retryAfterMs: answer.retryAfterMs };
    resetFailures(position);
    if (answer.complete) Object.assign(position, { completeUntil: asked, provenUntil: asked });
    return { kind: 'alive' };
  }
  // The stream's own line may still arrive.
  const late = await next(1000, signal);
  if (late !== undefined) return late;
  if (answer.latest !== undefined && !isNewer(answer.latest, position.resourceVersion)) rewind(position);
  return { kind: 'dead' };
}

/**
 * Decides when the server is asked about a silent stream: less and less often while it does not answer.
 *
 * A silent stream whose server does not answer counts as lost until a line or an answer comes: an open connection alone
 * proves nothing. Health gets only the changes, since it looks at the whole run each time.
 */
export function createSilence({ now, random }: Pick<Env, 'now' | 'random'>, health: Health, isOfPod: boolean) {
  let isLost = false;
  let questions = 0;
  let notBefore = 0;
  const lineCame = (): void => {
    if (isLost) health.flows();
    isLost = false;
  };
  return {
    /**
     * ms to wait for a line before the server is asked, at least its Retry-After or our own backoff. An open stream may be
     * silent for minutes; it is worth asking now and then, and at once if the run waits for the answer.
     */
    waitMs: (isDoubted: boolean): number => Math.max(isDoubted ? 10 : isOfPod ? 5000 : 10_000, notBefore - now()),
    /** A line came: nothing before it can be missing. */
    lineCame,
    answered: (): void => {
      questions = 0;
      lineCame();
    },
    /** The server did not answer; what came after `since` (client ms) may be missing. */
    unanswered: (since: number, retryAfterMs: number | undefined): void => {
      if (!isLost) health.lost(since);
      isLost = true;
      questions += 1;
      notBefore = now() + randomMs(waitToAskAgain(questions, retryAfterMs), random());
    },
  };
}
