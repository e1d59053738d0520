/** Whether a silent watch has missed something. */
import { asObject } from '../model/observe/read.ts';
import type { RawObservation } from '../model/observation.ts';
import type { ApiResponse, Cluster } from './cluster.ts';
import { pick, waitToAskAgain } from './decide.ts';
import type { Env } from './env.ts';
import { TransportFailure } from './http/failure.ts';
import type { LineEvent, NextLine } from './lines.ts';
import { acceptMetadata, isForeign, keyOf, selectors, type WatchTarget } from './resource-path.ts';
import { isExecFailure } from './server-errors.ts';
import { asArray, continueOf, isNewer, newestOf, readRefusal, versionOf } from './status.ts';
import { resetFailures, rewind, type Health, type Position, type StreamContext } from './watch-position.ts';

/** What a stream has brought, to be compared with what the server has. */
export type Known = Pick<Position, 'newest' | 'received' | 'keys'>;

interface Comparison {
  /**
   * `more`: the server has something that the stream did not bring (yet), whatever position the stream claims. `less`:
   * not even what the stream has brought. `unknown`: no answer, or one that says nothing of it.
   */
  has: 'same' | 'more' | 'less' | 'unknown';
  /** `more`: the latest version of what the stream did not bring, where it has one. */
  latest?: string;
  /** The answer spoke of all that the stream is about, not of its first page. */
  complete: boolean;
  /** The server's Retry-After. */
  retryAfterMs?: number;
  dated: RawObservation[];
}

/** Objects to list. Enough to see the newest Event of a pod, which may be anywhere in the list, and that none is missing. */
const lookedAt = { narrowed: 50, mostNarrowed: 500, whole: 1 };

/**
 * Whether a silent stream has missed something. A healthy stream may be silent for minutes, so the server is asked: for
 * metadata alone, where it can. No answer proves nothing.
 */
export async function askWhatIsNew(
  cluster: Cluster,
  target: WatchTarget,
  known: Known,
  signal: AbortSignal,
): Promise<Comparison> {
  let response: ApiResponse;
  try {
    response = await cluster.request(
      target.name === undefined ? aboutCollection(target, known, signal) : aboutObject(target, signal),
    );
  } catch (error) {
    // A plugin that fails now and then has no say over a stream that flows: that needs no new credential.
    const isNoAnswer = error instanceof TransportFailure || isExecFailure(error) || signal.aborted;
    if (isNoAnswer) return { has: 'unknown', complete: false, dated: [] };
    throw error;
  }
  const next = continueOf(response.body);
  const complete = target.name !== undefined || next === '';
  const compared =
    target.name === undefined ? ofCollection(response, target, known, complete) : ofObject(response, known);
  const { status, body, headers, dated } = response;
  const retryAfterMs = status === 200 ? undefined : readRefusal(status, body, headers).retryAfterMs;
  return { ...compared, retryAfterMs, complete, dated };
}

type Compared = Pick<Comparison, 'has' | 'latest'>;

/** A 200 without a version does not come from Kubernetes: it proves nothing. */
function ofObject({ status, body }: ApiResponse, { newest, received, keys }: Known): Compared {
  if (status === 404) return { has: keys.size > 0 ? 'more' : 'same' };
  const version = versionOf(body);
  if (status !== 200 || version === undefined) return { has: 'unknown' };
  // Where no object came, its list is all there is to compare with.
  if (newest === undefined) return isNewer(version, received) ? { has: 'more', latest: version } : { has: 'same' };
  if (version === newest) return { has: 'same' };
  return isNewer(newest, version) ? { has: 'less' } : { has: 'more', latest: version };
}

function ofCollection(
  { status, body }: ApiResponse,
  target: WatchTarget,
  { newest, received, keys }: Known,
  complete: boolean,
): Compared {
  const version = versionOf(body);
  if (status !== 200 || version === undefined) return { has: 'unknown' };
  const objects = asArray(asObject(body)['items']).filter((object) => !isForeign(target, object));
  const latest = newestOf(objects);
  if (latest !== undefined && (newest === undefined || isNewer(latest, newest))) return { has: 'more', latest };
  if (isNewer(received, version)) return { has: 'less' };
  const there = new Set(objects.map(keyOf));
  return { has: complete && [...keys].some((key) => !there.has(key)) ? 'more' : 'same' };
}

function aboutObject(target: WatchTarget, signal: AbortSignal) {
  const path = `${target.path}/${encodeURIComponent(target.name ?? '')}`;
  return { method: 'GET', path, accept: acceptMetadata('PartialObjectMetadata'), signal } as const;
}

function aboutCollection(target: WatchTarget, { keys }: Known, signal: AbortSignal) {
  const narrowed = selectors(target);
  const enough = Math.max(lookedAt.narrowed, Math.min(keys.size, lookedAt.mostNarrowed));
  const limit = Object.keys(narrowed).length > 0 ? enough : lookedAt.whole;
  const query = { ...narrowed, limit: String(limit) };
  const accept = acceptMetadata('PartialObjectMetadataList');
  return { method: 'GET', path: target.path, query, accept, signal } as const;
}

/** ms; an answer that takes longer is out of date: the server is asked again. */
const longestAnswerMs = 3000;
/** ms; the answer was ahead: so long may the line itself still be under way. */
const lateLineMs = 1000;

/**
 * What became of a silent stream: a line after all; `alive`, it has brought all there is; `dead`, it is silent about something
 * that the server has; `ahead`, the server has long had less than the stream brought; or no answer.
 */
type Finding = LineEvent | { kind: 'alive' | 'dead' | 'ahead' } | { kind: 'unanswered'; retryAfterMs?: number };

/** Asks the server what a silent stream should have brought, and goes on reading meanwhile. */
export async function checkSilence(
  { cluster, target, position, signal, deliver }: StreamContext,
  next: NextLine,
): Promise<Finding> {
  const asked = cluster.env.now();
  const answering = askWhatIsNew(cluster, target, position, signal);
  const answered = new AbortController();
  const settle = (): void => answered.abort();
  answering.then(settle, settle);
  // The stream is read on: a line makes the answer superfluous, which may be long in coming.
  const line = await next(longestAnswerMs, answered.signal);
  if (line !== undefined) return line;
  if (!answered.signal.aborted) return { kind: 'unanswered' };
  const answer = await answering;
  answer.dated.forEach(deliver);
  if (answer.has === 'less') return { kind: isLongBehind(position, asked) ? 'ahead' : 'alive' };
  if (answer.has !== 'more') {
    position.failures = 0;
    if (answer.has === 'unknown') return { kind: 'unanswered', retryAfterMs: answer.retryAfterMs };
    resetFailures(position);
    if (answer.complete) Object.assign(position, { goodAt: asked, sureAt: asked });
    return { kind: 'alive' };
  }
  const late = await next(lateLineMs, signal);
  if (late !== undefined) return late;
  if (answer.latest !== undefined && !isNewer(answer.latest, position.resourceVersion)) rewind(position);
  return { kind: 'dead' };
}

/** ms after which a server that has less than was received is no longer one that is only behind. */
const longBehindMs = 10_000;

/** Whether the server has had less than what was received for longer than one that is behind would. */
function isLongBehind(position: Position, asked: number): boolean {
  position.lessSince ??= asked;
  return asked - position.lessSince >= longBehindMs;
}

/** ms without a line before the server is asked. */
const quiet = {
  /** An open stream may be silent for minutes; now and then it is worth asking. */
  whenUndoubted: 10_000,
  /** The run waits for the answer. */
  whenDoubted: 10,
};

/**
 * How long the silence of an open stream is believed, and when the server is asked about it: less and less often while it does
 * not answer.
 *
 * An open connection proves nothing where the stream is silent and the server does not answer: it counts as lost until a line
 * or an answer comes. Only changes are reported to Health, which looks at the whole run each time.
 */
export function createSilence({ now, random }: Pick<Env, 'now' | 'random'>, health: Health) {
  let isLost = false;
  let questions = 0;
  let notBefore = 0;
  const broken = (): void => {
    if (isLost) health.flows();
    isLost = false;
  };
  return {
    /** ms to wait for a line before the stream is asked about. */
    patience: (isDoubted: boolean): number =>
      Math.max(isDoubted ? quiet.whenDoubted : quiet.whenUndoubted, notBefore - now()),
    /** It is too early to ask again, by the server's Retry-After or our own backoff. */
    isTooEarly: (): boolean => now() < notBefore,
    /** A line came: nothing before it can be missing. */
    broken,
    /** The server answered. */
    answered: (): void => {
      questions = 0;
      broken();
    },
    /** It did not; `since` (client ms): what came later may be missing. */
    unanswered: (since: number, retryAfterMs: number | undefined): void => {
      if (!isLost) health.lost(since);
      isLost = true;
      questions += 1;
      notBefore = now() + pick(waitToAskAgain(questions, retryAfterMs), random());
    },
  };
}
