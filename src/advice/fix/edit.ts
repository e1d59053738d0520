/** What `fix` changes in an object: as values, applied to the object, and as a strategic merge patch. Pure. */
import { asObject, isObject, type JsonObject } from '../../model/observe/read.ts';
import type { Path } from '../container-spec.ts';

/** Paths: before any edit; a step in a list is an index or an item's name. Items move last. `why`: a short clause, for a comment. */
export type Edit =
  | { kind: 'set'; path: Path; value: unknown; why: string }
  /** Moves the item of a list, which keeps others, to the end of another list, which may not exist yet. */
  | { kind: 'move'; path: Path; to: Path; why: string };

/** A move shifts the indexes in the paths of other edits, so it comes after them. */
export const movesLast = (edits: readonly Edit[]): Edit[] =>
  edits.toSorted((a, b) => Number(a.kind === 'move') - Number(b.kind === 'move'));

/** The value with the edits applied. Parts that no edit changes stay the same objects. */
export const editedValue = <T>(value: T, edits: readonly Edit[]): T =>
  movesLast(edits).reduce<unknown>(applied, value) as T;

function applied(value: unknown, edit: Edit): unknown {
  if (edit.kind === 'set') return changedAt(value, edit.path, () => edit.value);
  const without = changedAt(value, edit.path, () => undefined);
  if (without === value) return without;
  const item = edit.path.reduce(childOf, value);
  return changedAt(without, edit.to, (list) => [...(Array.isArray(list) ? (list as unknown[]) : []), item]);
}

/** The value with another part at the path; `undefined` removes an item. What has no fields on the way becomes a map. */
function changedAt(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  const old = childOf(value, step);
  const child = changedAt(old, rest, change);
  if (child === old) return value;
  if (Array.isArray(value)) {
    const index = indexIn(value, step);
    return index < 0 ? value : value.toSpliced(index, 1, ...(child === undefined ? [] : [child as unknown]));
  }
  return { ...asObject(value), [step]: child };
}

/** The field, or the list item with this index or name. */
export const childOf = (value: unknown, step: string | number): unknown =>
  Array.isArray(value)
    ? (value[indexIn(value, step)] as unknown)
    : isObject(value) && Object.hasOwn(value, step)
      ? value[step]
      : undefined;

const indexIn = (list: readonly unknown[], step: string | number): number =>
  typeof step === 'number' ? step : list.findIndex((item) => asObject(item)['name'] === step);

/** Where the changed part is after the edits; the path of a move ends with a name. */
export const placeOf = (edit: Edit): Path => (edit.kind === 'move' ? [...edit.to, ...edit.path.slice(-1)] : edit.path);

export function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
  // Merged by name (core/v1 `patchMergeKey`).
  if (key === 'containers' || key === 'initContainers')
    return namedItems(Object.values(before ?? {}), Object.values(after ?? {}));
  if (!isObject(before) || !isObject(after)) return after;
  const changed = differing(before, after).map((field): [string, unknown] => {
    if (after[field] === undefined) return [field, null];
    return [field, before[field] === undefined ? after[field] : strategicPatch(before[field], after[field], field)];
  });
  return Object.fromEntries(changed);
}

/** Changed, new and removed items by name. With a new one, the names of all keep the order: a merge puts it first. */
function namedItems(before: readonly unknown[], after: readonly unknown[]): unknown[] {
  const named = (list: readonly unknown[]) => new Map(list.map(asObject).map((one) => [one['name'], one]));
  const [oldItems, newItems] = [named(before), named(after)];
  const grows = [...newItems.keys()].some((name) => !oldItems.has(name));
  const changed = [...newItems].flatMap(([name, item]): unknown[] => {
    const oldItem = oldItems.get(name);
    if (!oldItem) return [item];
    return isSame(oldItem, item) && !grows ? [] : [{ name, ...asObject(strategicPatch(oldItem, item)) }];
  });
  const removed = [...oldItems.keys()].filter((name) => !newItems.has(name));
  return [...changed, ...removed.map((name) => ({ name, $patch: 'delete' }))];
}

export const differing = (before: JsonObject, after: JsonObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !isSame(before[key], after[key]));

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
