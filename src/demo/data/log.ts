import type { ChangeType, KubeObject } from './kube-object.ts';

/**
 * The server's whole storage: a base state and every change since, in one order, like etcd.
 * Laws: a change is never altered; a revision is used once; compaction forgets changes, never the state after them.
 * No clock and no I/O here; HTTP is a shell around it.
 */
export interface ChangeLog {
  /** Changes up to this revision are forgotten; nothing can be resumed from before it. */
  compactedTo: number;
  /** The revision of the last change. */
  revision: number;
  base: Map<string, Stored>;
  changes: Change[];
  current: Map<string, Stored>;
}

export interface Stored {
  /** The plural of its kind. */
  resource: string;
  object: KubeObject;
}

export interface Change extends Stored {
  revision: number;
  type: ChangeType;
  /** The object before the change; absent if it is new. */
  before?: KubeObject;
}

/** A log that begins with these objects, all at `revision`. */
export function createLog(revision: number, objects: readonly Stored[]): ChangeLog {
  const base = new Map(objects.map((stored) => [keyOf(stored.resource, stored.object), stored]));
  return { compactedTo: revision, revision, base, changes: [], current: new Map(base) };
}

/**
 * Writes one change and returns it. The object's resourceVersion becomes the change's revision. ADDED becomes MODIFIED
 * if the object exists, and the other way round.
 */
export function append(log: ChangeLog, written: Stored & { type: ChangeType; revision?: number }): Change {
  const revision = Math.max(log.revision + 1, written.revision ?? 0);
  const key = keyOf(written.resource, written.object);
  const before = log.current.get(key)?.object;
  const metadata = { ...written.object.metadata, resourceVersion: String(revision) };
  const object = { ...written.object, metadata };
  const type = written.type === 'DELETED' ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
  const change: Change = { revision, type, resource: written.resource, object, before };
  log.revision = revision;
  log.changes.push(change);
  applyTo(log.current, change);
  return change;
}

/** The changes after a revision; `expired` if they are forgotten. */
export function since(log: ChangeLog, revision: number): readonly Change[] | 'expired' {
  if (revision < log.compactedTo) return 'expired';
  return log.changes.slice(firstAfter(log.changes, revision));
}

/** Every object as it was at a revision; `expired` if that is forgotten. */
export function stateAt(log: ChangeLog, revision: number): ReadonlyMap<string, Stored> | 'expired' {
  if (revision < log.compactedTo) return 'expired';
  if (revision >= log.revision) return log.current;
  const state = new Map(log.base);
  for (const change of log.changes) {
    if (change.revision > revision) break;
    applyTo(state, change);
  }
  return state;
}

/** The matching objects of one resource with their keys, sorted by key. */
export function select(
  state: ReadonlyMap<string, Stored>,
  resource: string,
  matches: (object: KubeObject) => boolean,
): [string, KubeObject][] {
  const found: [string, KubeObject][] = [];
  for (const [key, stored] of state)
    if (stored.resource === resource && matches(stored.object)) found.push([key, stored.object]);
  return found.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Forgets the changes up to a revision. */
export function compact(log: ChangeLog, revision: number): void {
  const upTo = Math.min(revision, log.revision);
  const state = stateAt(log, upTo);
  if (state === 'expired') return;
  log.base = new Map(state);
  log.changes = log.changes.slice(firstAfter(log.changes, upTo));
  log.compactedTo = upTo;
}

/** The key of an object in the store: its resource, namespace and name. */
const keyOf = (resource: string, object: KubeObject): string =>
  key(resource, object.metadata.namespace, object.metadata.name);

export const key = (resource: string, namespace: string | undefined, name: string): string =>
  `${resource}/${namespace ?? ''}/${name}`;

function applyTo(state: Map<string, Stored>, change: Change): void {
  const at = keyOf(change.resource, change.object);
  if (change.type === 'DELETED') state.delete(at);
  else state.set(at, { resource: change.resource, object: change.object });
}

/** Searches from the end, where most watchers are. */
const firstAfter = (changes: readonly Change[], revision: number): number =>
  changes.findLastIndex((change) => change.revision <= revision) + 1;
