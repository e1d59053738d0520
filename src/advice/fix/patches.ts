/** The difference between an object and its edited version, as patches with a comment on each change. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, isSeq, visit, type Node } from 'yaml';
import { asArray, asObject, isObject, type JsonObject } from '../../model/observe/read.ts';
import { forYaml, hasUnseen } from '../../output/safe-text.ts';
import type { Path } from '../container-spec.ts';
import { deepestNode, yaml11 } from '../manifests.ts';
import { placeOf, type Edit } from './edit.ts';

export const documentOf = (value: unknown): Document =>
  new Document(value, { ...yaml11, aliasDuplicateObjects: false });

export const yamlOf = (value: unknown): string => yamlText(documentOf(value));

export function yamlText(document: Document): string {
  // An escape means its character only between double quotes.
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && hasUnseen(node.value.replaceAll('\n', ''))) node.type = 'QUOTE_DOUBLE';
    },
  });
  return forYaml(document.toString({ lineWidth: 0 }));
}

/** For `kubectl patch --patch-file`. It names the object, so that kustomize accepts it too. */
export function strategicText(before: KubernetesObject, after: KubernetesObject, edits: readonly Edit[]): string {
  const { apiVersion, kind, metadata: { name, namespace } = {} } = before;
  const patch = {
    apiVersion,
    kind,
    metadata: { name, namespace },
    ...asObject(strategicPatch(before, after)),
  };
  const document = documentOf(patch);
  for (const edit of edits) addComment(document.contents, namedPath(placeOf(edit), before), edit.why);
  return yamlText(document);
}

/** Writes a comment above the deepest existing part of the path. */
function addComment(root: Node | null, path: Path, why: string): void {
  const node = deepestNode(root, path);
  const text = ` ${why}`;
  if (node && !node.commentBefore?.includes(text))
    node.commentBefore = [node.commentBefore, text].filter(Boolean).join('\n');
}

/** Replaces list indexes with container names: a patch holds only the containers that change. */
function namedPath(path: Path, object: KubernetesObject): Path {
  let node: unknown = object;
  return path.map((step) => {
    node = (node as Record<string | number, unknown> | undefined)?.[step];
    const name = (node as { name?: unknown } | undefined)?.name;
    return typeof step === 'number' && typeof name === 'string' ? name : step;
  });
}

/** For `kubectl patch --type=json --patch-file`, which reads YAML too. */
export function jsonPatchText(before: KubernetesObject, after: KubernetesObject, edits: readonly Edit[]): string {
  const operations = jsonPatch(before, after);
  const document = documentOf(operations);
  const items = isSeq(document.contents) ? document.contents.items : [];
  operations.forEach(({ path }, at) => {
    const reasons = edits.filter((one) => overlap(`/${placeOf(one).join('/')}`, path));
    const item = items[at] as Node | undefined;
    if (item && reasons.length > 0) item.commentBefore = ` ${[...new Set(reasons.map(({ why }) => why))].join('; ')}`;
  });
  return yamlText(document);
}

/** The paths are equal, or one contains the other. */
const overlap = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);

/** A kustomize component for an overlay (`components: [./fix]`), with one patch per object. */
export const kustomizeText = (patches: readonly { kind?: string; name?: string; patch: string }[]): string =>
  yamlOf({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: patches.map(({ kind, name, patch }) => ({ target: { kind, name }, patch })),
  });

interface JsonPatchOperation {
  op: 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

/** RFC 6902. Arrays of equal length are compared item by item, others are replaced. */
function jsonPatch(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one, at) => jsonPatch(one, after[at], `${path}/${at}`));
  if (!isObject(before) || !isObject(after))
    return isSame(before, after) ? [] : [{ op: 'replace', path, value: after }];
  return differing(before, after).flatMap((key): JsonPatchOperation[] => {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (after[key] === undefined) return [{ op: 'remove', path: at }];
    if (before[key] === undefined) return [{ op: 'add', path: at, value: after[key] }];
    return jsonPatch(before[key], after[key], at);
  });
}

/** Lists that a strategic merge patch merges by name (core/v1 `patchMergeKey`). */
const mergedByName: ReadonlySet<string> = new Set(['containers', 'initContainers']);

function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
  if (mergedByName.has(key) && Array.isArray(after)) return namedItems(asArray(before), after);
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
const differing = (before: JsonObject, after: JsonObject): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !isSame(before[key], after[key]));

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
