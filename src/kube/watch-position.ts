import type { Deliver } from '../model/observation.ts';
import type { Cluster } from './cluster.ts';
import type { Cursor, AttemptEnd } from './decide.ts';
import { isNewer, newestVersion, type Refusal } from './status.ts';
import { isForeign, keyOf, type WatchTarget } from './resource-path.ts';

/** A state of a collection that another stream of the same resource has shown, and when (client ms). */
export type Since = Readonly<{ resourceVersion: string; at: number }>;

export type Position = ReturnType<typeof initialPosition>;

/** Where a stream is, and how its last attempts ended. `at`: client clock, ms. */
export const initialPosition = (at: number, resourceVersion?: string) => ({
  ...({ resourceVersion, failures: 0, behind: 0, relists: 0, dead: 0, foreign: 0 } as Omit<Cursor, 'reached'>),
  synced: false,
  /** Consecutive streaming lists that did not bring the whole state. */
  streamingFailures: 0,
  /** Client clock, ms: until then nothing can be missing. */
  completeUntil: at,
  /** The same without trust in bookmarks. */
  provenUntil: at,
  /** The latest version of a received list or change; bookmarks only say where to resume. */
  received: resourceVersion,
  /** The latest version of a received object: the server has no later one, unless the stream does not deliver it. */
  newest: resourceVersion,
  /** Client clock, ms: since then every answer of the server has lacked something that was received. */
  serverBehindSince: undefined as number | undefined,
  /** Client clock, ms: when the first and the last line of the current burst came. */
  burst: undefined as { since: number; until: number } | undefined,
  /** The last watch ended with a 401, and the credentials were renewed. */
  renewed: false,
  /** The keys (`keyOf`) of the existing objects; at most one for a named object. */
  keys: new Set<string>(),
  /** When the run doubted the stream, it had delivered everything. */
  whole: false,
});

/** Reports a list, and the gap before it, unless the list is older than what was already received. */
export function reportList(
  { target, position, deliver }: StreamContext,
  list: { resourceVersion: string; objects: unknown[]; sentAt: number; at: number },
): AttemptEnd | undefined {
  const { stream, name } = target;
  const { resourceVersion, sentAt, at } = list;
  const objects = list.objects.filter((object) => !isForeign(target, object));
  if (isNewer(position.received, resourceVersion) && position.lost !== 'behind') return { kind: 'behind' };
  if (position.lost !== undefined && position.synced)
    deliver({ kind: 'gap', at, stream, from: position.completeUntil, to: at, cause: position.lost });
  deliver({ kind: 'listed', at, stream, resourceVersion, objects, sentAt, name });
  if (!position.synced) deliver({ kind: 'synced', at, stream });
  Object.assign(position, {
    resourceVersion,
    received: resourceVersion,
    newest: newestVersion(objects),
    synced: true,
    completeUntil: at,
    provenUntil: at,
    keys: new Set(objects.map(keyOf)),
    failures: 0,
    behind: 0,
    dead: 0,
    streamingFailures: 0,
    lost: undefined,
    serverBehindSince: undefined,
  });
  return undefined;
}

/** The stream has delivered something, or provably has nothing to deliver. */
export function resetFailures(position: Position): void {
  Object.assign(position, { failures: 0, relists: 0, dead: 0, renewed: false, serverBehindSince: undefined });
}

/**
 * The position (of a bookmark or a list) is later than something that the stream never delivered, so it is wrong. Goes
 * back to what the received objects prove.
 */
export function rewind(position: Position): void {
  const { newest, provenUntil } = position;
  Object.assign(position, { resourceVersion: newest, received: newest, completeUntil: provenUntil });
}

/**
 * A server without our position may be behind, or the bookmark may be another server's. So the stream resumes from what
 * was received, and skips what comes twice.
 */
export function doubtBookmark(position: Position, { causes }: Refusal): void {
  if (position.received === undefined || !causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return;
  Object.assign(position, { resourceVersion: position.received, completeUntil: position.provenUntil });
}

/** One stream, with what its attempts share. */
export interface StreamContext {
  cluster: Cluster;
  target: WatchTarget;
  position: Position;
  signal: AbortSignal;
  deliver: Deliver;
  health: Health;
}

/** What a stream reports about itself while it runs; from this the run decides when it knows enough. */
export interface Health {
  /** What came after `since` (client ms) is not known, until `flows`: no connection, or silence and no answer. */
  lost(since: number): void;
  flows(): void;
  /** After each failed try, why there is no state yet, in words: `the server answers 503 to the list of pods`. */
  waitingFor?(this: void, reason: string): void;
  /** Nothing that came until `at` (client ms) is missing. */
  sure(at: number): void;
  /** Aborts when the run needs to know whether the stream has delivered everything. */
  readonly doubted: AbortSignal;
  /** The answer: it has delivered everything. */
  whole(): void;
  /** What it has delivered shows that nothing more can matter, so that the server need not be asked. */
  isOver?(this: void): boolean;
}
