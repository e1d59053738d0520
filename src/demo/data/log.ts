import type { ChangeType, KubeObject } from './kube-object.ts';

/**
 * The server's whole storage: its objects, and the changes that led to them, in one order, like etcd.
 * Laws: a change is never altered; a revision is used once; compaction forgets changes, never the state after them.
 * No clock and no I/O here; HTTP is a shell around it.
 */
export interface ChangeLog {
  /** Changes up to this revision are forgotten; nothing can be resumed from before it. */
  compactedTo: number;
  revision: number;
  changes: Change[];
  /** The objects after the last change, by key. */
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
  const current = new Map(objects.map((stored) => [storeKey(stored.resource, stored.object.metadata), stored]));
  return { compactedTo: revision, revision, changes: [], current };
}

/** Writes a change at a revision of its own, which the object gets. Its type becomes what it really was. */
export function append(log: ChangeLog, written: Stored & { type: ChangeType; revision?: number }): Change {
  const { resource } = written;
  const revision = Math.max(log.revision + 1, written.revision ?? 0);
  const key = storeKey(resource, written.object.metadata);
  const before = log.current.get(key)?.object;
  const metadata = { ...written.object.metadata, resourceVersion: String(revision) };
  const object = { ...written.object, metadata };
  const type = written.type === 'DELETED' ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED';
  const change: Change = { revision, type, resource, object, before };
  log.revision = revision;
  log.changes.push(change);
  if (type === 'DELETED') log.current.delete(key);
  else log.current.set(key, { resource, object });
  return change;
}

/** The changes after a revision; `expired` if they are forgotten. */
export function since(log: ChangeLog, revision: number): readonly Change[] | 'expired' {
  if (revision < log.compactedTo) return 'expired';
  // Searched from the end, where most watchers are.
  return log.changes.slice(log.changes.findLastIndex((change) => change.revision <= revision) + 1);
}

/** Every object as it was at a revision; `expired` if that is forgotten. */
export function stateAt(log: ChangeLog, revision: number): ReadonlyMap<string, Stored> | 'expired' {
  if (revision >= log.revision) return log.current;
  const later = since(log, revision);
  if (later === 'expired') return later;
  const state = new Map(log.current);
  for (const { resource, object, before } of later.toReversed()) {
    const key = storeKey(resource, object.metadata);
    if (before === undefined) state.delete(key);
    else state.set(key, { resource, object: before });
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

export function forget(log: ChangeLog, revision: number): void {
  const upTo = Math.min(revision, log.revision);
  const later = since(log, upTo);
  if (later === 'expired') return;
  log.changes = [...later];
  log.compactedTo = upTo;
}

export const storeKey = (resource: string, { namespace = '', name }: { namespace?: string; name: string }): string =>
  `${resource}/${namespace}/${name}`;
