/** The difference between an object and its edited version as a strategic merge patch. Pure. */
import { asObject, isObject, type JsonObject } from '../../model/observe/read.ts';

/** Lists that a strategic merge patch merges by name (core/v1 `patchMergeKey`). */
const mergedByName: ReadonlySet<string> = new Set(['containers', 'initContainers']);

/** The changes as a strategic merge patch, as `kubectl patch` takes it. */
export function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
  if (mergedByName.has(key)) return namedItems(Object.values(before ?? {}), Object.values(after ?? {}));
  if (!isObject(before) || !isObject(after)) return after;
  const changed = differing(before, after).map((field): [string, unknown] => {
    if (after[field] === undefined) return [field, null];
    return [field, before[field] === undefined ? after[field] : strategicPatch(before[field], after[field], field)];
  });
  return Object.fromEntries(changed);
}

/**
 * Items by name: changed fields of an item, a new item as a whole, and `$patch: delete` for a removed one. With a new
 * item, the names of all others keep the order: a merge puts unknown items first.
 */
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

/** Fields that differ, or are in one of the objects only. */
export const differing = (before: JsonObject, after: JsonObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !isSame(before[key], after[key]));

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
