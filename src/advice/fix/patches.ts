/** The difference of an object and its edited self as patches, with one comment a change that says why. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, isSeq, type Node } from 'yaml';
import { asArray, asObject, isObject, type JsonObject } from '../../model/observe/read.ts';
import { forYaml } from '../../render/safe-text.ts';
import type { Path } from '../shutdown-spec.ts';
import type { Edit } from './edits.ts';
import { comment, commentsOf } from './edited-yaml.ts';

export const yamlOf = (value: unknown): string => yamlText(documentOf(value));

export const documentOf = (value: unknown): Document => new Document(value, { aliasDuplicateObjects: false });

export const yamlText = (document: Document): string => forYaml(document.toString({ lineWidth: 0 }));

/** For `kubectl patch --patch-file`. Names the object, so that kustomize takes it too. */
export function strategicText(before: KubernetesObject, after: KubernetesObject, edits: readonly Edit[]): string {
  const { apiVersion, kind, metadata: { name, namespace } = {} } = before;
  const patch = {
    apiVersion,
    kind,
    metadata: { name, namespace },
    ...(strategicPatch(before, after) as object | undefined),
  };
  const document = documentOf(patch);
  for (const { path, why } of commentsOf(edits)) comment(document.contents, namedPath(path, before), why);
  return yamlText(document);
}

/** A patch has only the containers that change, so an index becomes the container's name. */
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
    const reasons = commentsOf(edits).filter((one) => isWithin(`/${one.path.join('/')}`, path));
    const item = items[at] as Node | undefined;
    if (item && reasons.length > 0) item.commentBefore = ` ${[...new Set(reasons.map(({ why }) => why))].join('; ')}`;
  });
  return yamlText(document);
}

/** One is the other, or lies in it. */
const isWithin = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

/** A component for an overlay: `components: [./fix]`. One patch for each object. */
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

/** RFC 6902. Arrays of equal length are compared entry by entry, others are replaced. */
function jsonPatch(before: unknown, after: unknown, path = ''): JsonPatchOperation[] {
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

/** Undefined where nothing differs. */
function strategicPatch(before: unknown, after: unknown, key = ''): unknown {
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
  const [old, now] = [named(before), named(after)];
  const changed = [...now].flatMap(([name, one]): unknown[] => {
    const was = old.get(name);
    if (!was) return [one];
    const difference = strategicPatch(was, one);
    return difference === undefined ? [] : [{ name, ...asObject(difference) }];
  });
  const gone = [...old.keys()].filter((name) => !now.has(name)).map((name) => ({ name, $patch: 'delete' }));
  return [...changed, ...gone];
}

const keysOf = (before: JsonObject, after: JsonObject): string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
