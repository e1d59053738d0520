/** An object and its edits → the edited object, and the difference as a JSON patch and as a strategic merge patch. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { asArray, asObject } from '../../model/observe/read.ts';
import type { Path } from '../shutdown-spec.ts';
import type { Edit } from './edits.ts';

type Json = Record<string, unknown>;

export function applyEdits(object: KubernetesObject, edits: readonly Edit[]): KubernetesObject {
  // Through JSON: what has no place in JSON has none in a manifest.
  const copy = JSON.parse(JSON.stringify(object)) as Json;
  for (const edit of edits) if (edit.kind === 'set') setAt(copy, edit.path, edit.value);
  // A set's path has indexes, which a move would change.
  for (const edit of edits) if (edit.kind === 'sidecar') moveToInit(copy, edit.podPath, edit.name);
  return copy;
}

function setAt(root: Json, path: Path, value: unknown): void {
  const last = path.at(-1);
  if (last === undefined) return;
  const parent = path.slice(0, -1).reduce<Json>((node, step) => {
    node[step] ??= {};
    return node[step] as Json;
  }, root);
  parent[last] = value;
}

function moveToInit(root: Json, podPath: Path, name: string): void {
  const pod = podPath.reduce<Json>((node, step) => asObject(node[step]), root);
  const containers = asArray(pod['containers']).map(asObject);
  const own = containers.find((one) => one['name'] === name);
  if (!own) return;
  pod['containers'] = containers.filter((one) => one !== own);
  pod['initContainers'] = [...asArray(pod['initContainers']), { ...own, restartPolicy: 'Always' }];
}

export interface JsonPatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

/** RFC 6902. Arrays of equal length are compared entry by entry, others are replaced. */
export function jsonPatch(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one, at) => jsonPatch(one, after[at], `${path}/${at}`));
  if (!isObject(before) || !isObject(after)) return [{ op: 'replace', path, value: after }];
  return keysOf(before, after).flatMap((key): JsonPatchOperation[] => {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (after[key] === undefined) return before[key] === undefined ? [] : [{ op: 'remove', path: at }];
    return before[key] === undefined
      ? [{ op: 'add', path: at, value: after[key] }]
      : jsonPatch(before[key], after[key], at);
  });
}

/** Lists that a strategic merge patch merges by name (core/v1 `patchMergeKey`). */
const mergedByName: ReadonlySet<string> = new Set(['containers', 'initContainers']);

/** The difference of two objects as a strategic merge patch; undefined where there is none. */
export function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
  if (isSame(before, after)) return undefined;
  if (mergedByName.has(key) && Array.isArray(after)) return namedItems(asArray(before), after);
  if (!isObject(before) || !isObject(after)) return after;
  const entries = keysOf(before, after).flatMap((one): [string, unknown][] => {
    if (after[one] === undefined) return before[one] === undefined ? [] : [[one, null]];
    const changed = before[one] === undefined ? after[one] : strategicPatch(before[one], after[one], one);
    return changed === undefined ? [] : [[one, changed]];
  });
  return Object.fromEntries(entries);
}

/** Each item under its name: what changed of it, the whole of a new one, and a directive for one that is gone. */
function namedItems(before: readonly unknown[], after: readonly unknown[]): unknown[] {
  const named = (list: readonly unknown[]) => new Map(list.map(asObject).map((one) => [one['name'], one]));
  const old = named(before);
  const now = named(after);
  const changed = [...now].flatMap(([name, one]): unknown[] => {
    const was = old.get(name);
    if (!was) return [one];
    const difference = strategicPatch(was, one);
    return difference === undefined ? [] : [{ name, ...asObject(difference) }];
  });
  const gone = [...old.keys()].filter((name) => !now.has(name)).map((name) => ({ name, $patch: 'delete' }));
  return [...changed, ...gone];
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const keysOf = (before: Json, after: Json): string[] => [...new Set([...Object.keys(before), ...Object.keys(after)])];

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
