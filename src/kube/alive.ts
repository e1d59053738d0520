import { asObject } from '../model/observe/read.ts';
import { PodexitError } from '../errors.ts';
import type { RawObservation } from '../model/observation.ts';
import { acceptMetadata, isForeign, keyOf, selectors, type WatchTarget } from './resource-path.ts';
import type { Answer, Cluster } from './cluster.ts';
import { askAgain, pick } from './decide.ts';
import type { Health } from './watch-position.ts';
import { TransportFailure } from './http/failure.ts';
import { isNewer, newestOf, versionOf, asArray, asText, readRefusal } from './status.ts';
import type { Env } from './env.ts';

/** What a stream has brought, to be compared with what the server says when it is asked. */
export interface Known {
  /** The latest version of an object. */
  newest?: string;
  /** The latest version of a list or an object. */
  received?: string;
  /** The named object exists; undefined for a collection. */
  present?: boolean;
  /** The objects of a collection that exist (keyOf): what went away leaves no newer version behind. */
  keys?: ReadonlySet<string>;
}

export interface Alive {
  /**
   * `more`: the server has something that the stream did not bring (yet), whatever position the stream claims. `less`:
   * not even what the stream has brought. `unknown`: no answer, or one that says nothing of it.
   */
  has: 'same' | 'more' | 'less' | 'unknown';
  /** `more`: the latest version of what the stream did not bring, where it has one. */
  latest?: string;
  /** The answer spoke of all that the stream is about, not of its first page. */
  complete: boolean;
  /** The server does not want to be asked again before this has passed. */
  retryAfterMs?: number;
  dated: RawObservation[];
}

/** Enough to see the newest Event of a pod, which stands anywhere in the list, and that none is missing; of a whole kind, a handful. */
const lookedAt = { narrowed: 50, mostNarrowed: 500, whole: 1 };

/**
 * Whether a silent stream has missed something: found by asking, since silence is what a good stream does for minutes.
 * Only metadata is asked for, where the server can. A question without an answer proves nothing.
 */
export async function askWhatIsNew(
  cluster: Cluster,
  target: WatchTarget,
  known: Known,
  signal: AbortSignal,
): Promise<Alive> {
  let answer: Answer;
  try {
    answer = await cluster.request(
      target.name === undefined ? aboutCollection(target, known, signal) : aboutObject(target, signal),
    );
  } catch (error) {
    // A plugin that fails now and then has no say over a stream that flows: that needs no new credential.
    const isNoAnswer = error instanceof TransportFailure || isExecFailure(error) || signal.aborted;
    if (isNoAnswer) return { has: 'unknown', complete: false, dated: [] };
    throw error;
  }
  const next = asText(asObject(asObject(answer.body)['metadata'])['continue']);
  const complete = target.name !== undefined || next === '';
  const received = target.name === undefined ? ofCollection(answer, target, known, complete) : ofObject(answer, known);
  return { ...received, ...wishOf(answer), complete, dated: answer.dated };
}

function wishOf({ status, body, headers }: Answer): Pick<Alive, 'retryAfterMs'> {
  const { retryAfterMs } = status === 200 ? {} : readRefusal(status, body, headers);
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** The credential plugin failed. */
export const isExecFailure = (error: unknown): boolean =>
  error instanceof PodexitError && error.code === 'auth.exec-failed';

type Compared = Pick<Alive, 'has' | 'latest'>;

/** A 200 without a version is no word of Kubernetes: it proves nothing. */
function ofObject({ status, body }: Answer, { newest, received, present }: Known): Compared {
  if (status === 404) return { has: present === true ? 'more' : 'same' };
  const version = versionOf(body);
  if (status !== 200 || version === undefined) return { has: 'unknown' };
  // Where no object came, its list is all there is to compare with.
  if (newest === undefined) return isNewer(version, received) ? { has: 'more', latest: version } : { has: 'same' };
  if (version === newest) return { has: 'same' };
  return isNewer(newest, version) ? { has: 'less' } : { has: 'more', latest: version };
}

function ofCollection(
  { status, body }: Answer,
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
  return { has: complete && [...(keys ?? [])].some((key) => !there.has(key)) ? 'more' : 'same' };
}

function aboutObject(target: WatchTarget, signal: AbortSignal) {
  const path = `${target.path}/${encodeURIComponent(target.name ?? '')}`;
  return { method: 'GET', path, accept: acceptMetadata('PartialObjectMetadata'), signal } as const;
}

function aboutCollection(target: WatchTarget, { keys }: Known, signal: AbortSignal) {
  const narrowed = selectors(target);
  const enough = Math.max(lookedAt.narrowed, Math.min(keys?.size ?? 0, lookedAt.mostNarrowed));
  const limit = Object.keys(narrowed).length > 0 ? enough : lookedAt.whole;
  const query = { ...narrowed, limit: String(limit) };
  return {
    method: 'GET',
    path: target.path,
    query,
    accept: acceptMetadata('PartialObjectMetadataList'),
    signal,
  } as const;
}

/** How long the silence of an open stream is believed, and when it is asked about: more and more seldom while nobody answers. */

export interface Silence {
  /** ms to wait for a line before it is asked about. */
  patience(isDoubted: boolean): number;
  /** The server, or our own patience, wants no question yet. */
  isTooEarly(): boolean;
  /** A line came: nothing before it can be missing. */
  broken(): void;
  /** The server says how it is. */
  answered(): void;
  /** It does not; `since` (client ms): what came later may be missing. */
  unanswered(since: number, retryAfterMs: number | undefined): void;
}

/** ms without a line before somebody asks. */
const quiet = {
  /** An open stream may be silent for minutes; now and then it is worth asking. */
  whenUndoubted: 10_000,
  /** Somebody waits for the answer. */
  whenDoubted: 10,
};

/**
 * An open connection proves nothing where the stream is silent and nobody answers either: it is as good as lost, until one of
 * them speaks. Health is reported only of what is new to it, since that is a look at the whole run.
 */
export function createSilence({ now, random }: Pick<Env, 'now' | 'random'>, health: Health): Silence {
  let isLost = false;
  let inVain = 0;
  let notBefore = 0;
  const broken = (): void => {
    if (isLost) health.flows();
    isLost = false;
  };
  return {
    patience: (isDoubted) => Math.max(isDoubted ? quiet.whenDoubted : quiet.whenUndoubted, notBefore - now()),
    isTooEarly: () => now() < notBefore,
    broken,
    answered: () => {
      inVain = 0;
      broken();
    },
    unanswered: (since, retryAfterMs) => {
      if (!isLost) health.lost(since);
      isLost = true;
      inVain += 1;
      notBefore = now() + pick(askAgain(inVain, retryAfterMs), random());
    },
  };
}
