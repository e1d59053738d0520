/** The difference between an object and its edited version, as patches with a comment on each change. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, visit } from 'yaml';
import { asObject, isObject } from '../../model/observe/read.ts';
import { forYaml, hasUnseen } from '../../output/safe-text.ts';
import type { Path } from '../container-spec.ts';
import { yamlWritten } from '../manifests.ts';
import { differing, isSame, placeOf, strategicPatch, type Edit } from './edit.ts';
import { commentedText } from './edited-text.ts';
import { commentLine } from './text-changes.ts';

export function yamlOf(value: unknown): string {
  const document = new Document(value, { ...yamlWritten, aliasDuplicateObjects: false });
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
  const text = yamlOf({ apiVersion, kind, metadata: { name, namespace }, ...asObject(strategicPatch(before, after)) });
  const comment = (own: string, edit: Edit): string => commentedText(own, namedPath(placeOf(edit), before), edit.why);
  return forYaml(edits.reduce(comment, text));
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
  const items = jsonPatch(before, after).map((operation) => {
    const own = edits.filter((one) => overlap(`/${placeOf(one).join('/')}`, operation.path));
    const why = [...new Set(own.map((one) => one.why))].join('; ');
    return `${why === '' ? '' : `${commentLine(why)}\n`}${yamlOf([operation])}`;
  });
  return forYaml(items.join(''));
}

const overlap = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);

/** A kustomize component for an overlay (`components: [./fix]`), with one patch per object. */
export const kustomizeText = (patches: readonly { kind?: string; name?: string; patch: string }[]): string =>
  yamlOf({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: patches.map(({ kind, name, patch }) => ({ target: { kind, name }, patch })),
  });

/** RFC 6902. Arrays of equal length are compared item by item, others are replaced. */
function jsonPatch(
  before: unknown,
  after: unknown,
  path = '',
): { op: 'add' | 'replace' | 'remove'; path: string; value?: unknown }[] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((one, at) => jsonPatch(one, after[at], `${path}/${at}`));
  if (!isObject(before) || !isObject(after))
    return isSame(before, after) ? [] : [{ op: 'replace', path, value: after }];
  return differing(before, after).flatMap((key): ReturnType<typeof jsonPatch> => {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (after[key] === undefined) return [{ op: 'remove', path: at }];
    if (before[key] === undefined) return [{ op: 'add', path: at, value: after[key] }];
    return jsonPatch(before[key], after[key], at);
  });
}
