import type { Deliver, GapCause, RawObservation } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import type { Cursor, Outcome } from './decide.ts';
import { isNewer, newestOf, type Refusal } from './status.ts';
import { isForeign, keyOf, type WatchTarget } from './resource-path.ts';

/** Where one stream stands. */
export interface Position extends Omit<Cursor, 'reached'> {
  synced: boolean;
  /** Streaming lists in a row that did not bring the whole state. */
  streamingFailures: number;
  /** Client clock, ms: up to here nothing can have been missed. */
  goodAt: number;
  /** The same where no bookmark is believed. */
  sureAt: number;
  /** The latest version of a list or a change that was received; bookmarks only say where to go on. */
  received?: string;
  /** The latest version of an object that was received: the server has no later one, unless the stream keeps it back. */
  newest?: string;
  /** Client clock, ms: since then the server has had less than what was received, whenever it was asked. */
  lessSince?: number;
  /** Client clock, ms: since when lines have come without a pause, and the last of them. */
  burst?: { since: number; until: number };
  /** The last watch ended with a 401, and other credentials were found. */
  renewed: boolean;
  /** The objects that exist, by keyOf; of a named object one or none. */
  keys: Set<string>;
  /** When it was doubted, it had brought all there was. */
  whole: boolean;
}

/** Reports a whole state with the gap before it, unless it is older than what was received already. */
export function reportList(
  { target, position, deliver }: StreamContext,
  list: { resourceVersion: string; objects: unknown[]; sentAt: number; at: number },
): Outcome | undefined {
  const { stream, name } = target;
  const { resourceVersion, sentAt, at } = list;
  const objects = list.objects.filter((object) => !isForeign(target, object));
  if (isNewer(position.received, resourceVersion) && position.lost !== 'behind') return { kind: 'behind' };
  if (position.lost !== undefined && position.synced) deliver(gap(target, position.goodAt, at, position.lost));
  deliver({ kind: 'listed', at, stream, resourceVersion, objects, sentAt, name });
  if (!position.synced) deliver({ kind: 'synced', at, stream });
  Object.assign(position, {
    resourceVersion,
    received: resourceVersion,
    newest: newestOf(objects),
    synced: true,
    goodAt: at,
    sureAt: at,
    keys: new Set(objects.map(keyOf)),
    failures: 0,
    behind: 0,
    dead: 0,
    streamingFailures: 0,
  });
  delete position.lost;
  delete position.lessSince;
  return undefined;
}

/** The stream did bring something, or is known to have nothing to bring. */
export function resetFailures(position: Position): void {
  Object.assign(position, { failures: 0, relists: 0, dead: 0, renewed: false });
  delete position.lessSince;
}

/**
 * The position (of a bookmark or a list) is later than something that the stream never brought, so it is wrong. Back to what
 * the objects themselves prove.
 */
export function rewind(position: Position): void {
  const { newest, sureAt } = position;
  delete position.resourceVersion;
  delete position.received;
  if (newest !== undefined) Object.assign(position, { resourceVersion: newest, received: newest });
  position.goodAt = sureAt;
}

function gap({ stream }: WatchTarget, from: number, to: number, cause: GapCause): RawObservation {
  return { kind: 'gap', at: to, stream, from, to, cause };
}

/**
 * A server that has not come as far as our position may be behind, or the bookmark was not its own: what was received is
 * then as good a place to go on from, and what comes twice is left out.
 */
export function doubtBookmark(position: Position, { causes }: Refusal): void {
  if (position.received === undefined || !causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return;
  Object.assign(position, { resourceVersion: position.received, goodAt: position.sureAt });
}

/** One stream, and all that its attempts share. */
export interface StreamContext {
  cluster: Cluster;
  target: WatchTarget;
  position: Position;
  signal: AbortSignal;
  deliver: Deliver;
  health: Health;
}

/** What a stream reports about itself while it runs; the run decides by it when enough is known. */
export interface Health {
  /**
   * What came after `since` (client ms) is not known, until it flows again: the connection is gone, or the stream is silent
   * and the server does not answer whether it should be.
   */
  lost(since: number): void;
  flows(): void;
  /** Why the state has not been read yet, in words: `the server answers 503 to the list of pods`. Said at each failed try. */
  waitingFor?: ((this: void, reason: string) => void) | undefined;
  /** Nothing that came until `at` (client ms) is missing. */
  sure(at: number): void;
  /** Aborts when the run needs to know whether the stream has brought all there is. */
  readonly doubted: AbortSignal;
  /** The answer: it has. */
  whole(): void;
}

/** For callers that do not care. Each stream has its own: Node warns on stderr of the eleventh that listens to one signal. */
export const unwatchedHealth = (): Health => ({
  lost: () => {},
  flows: () => {},
  sure: () => {},
  doubted: new AbortController().signal,
  whole: () => {},
});
