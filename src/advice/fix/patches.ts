/** The difference between an object and its edited version, as patches with a comment on each change. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, visit } from 'yaml';
import { asObject } from '../../model/observe/read.ts';
import { forYaml, hasUnseen } from '../../output/safe-text.ts';
import type { Path } from '../container-spec.ts';
import { yamlWritten } from '../manifests.ts';
import { childOf, editedValue, strategicPatch, type Edit } from './edit.ts';
import { commentedText, commentLine } from './edited-text.ts';

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
export function strategicText(before: KubernetesObject, edits: readonly Edit[]): string {
  const patch = asObject(strategicPatch(before, editedValue(before, edits)));
  const { apiVersion, kind, metadata: { name, namespace } = {} } = before;
  const text = yamlOf({ apiVersion, kind, metadata: { name, namespace }, ...patch });
  const comment = (own: string, { path, why }: Edit): string =>
    commentedText(own, { path: namedPath(path, before), why });
  return forYaml(edits.reduce(comment, text));
}

/** Replaces list indexes with container names: a patch holds only the containers that change. */
function namedPath(path: Path, object: KubernetesObject): Path {
  return path.map((step, at) => {
    const name = childOf(path.slice(0, at + 1).reduce<unknown>(childOf, object), 'name');
    return typeof step === 'number' && typeof name === 'string' ? name : step;
  });
}

/** For `kubectl patch --type=json --patch-file`, which reads YAML too. */
export function jsonPatchText(before: KubernetesObject, edits: readonly Edit[]): string {
  const items = edits.map(
    (edit, at) => `${commentLine(edit.why)}\n${yamlOf([operationOf(edit, editedValue(before, edits.slice(0, at)))])}`,
  );
  return forYaml(items.join(''));
}

/** RFC 6902: at the field, or at what is missing or empty on the way to it. */
function operationOf(edit: Edit, object: object) {
  const { path } = edit;
  const valueAt = (depth: number): unknown => path.slice(0, depth).reduce<unknown>(childOf, object);
  const depth = path.findIndex((_, at) => typeof (valueAt(at + 1) ?? undefined) !== 'object') + 1 || path.length;
  const own = path.slice(0, depth);
  return {
    op: valueAt(depth) === undefined ? 'add' : 'replace',
    path: own.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    value: own.reduce<unknown>(childOf, editedValue(object, [edit])),
  };
}

/** A kustomize component for an overlay (`components: [./fix]`), with one patch per object. */
export const kustomizeText = (patches: readonly { kind?: string; name?: string; patch: string }[]): string =>
  yamlOf({
    apiVersion: 'kustomize.config.k8s.io/v1alpha1',
    kind: 'Component',
    patches: patches.map(({ kind, name, patch }) => ({ target: { kind, name }, patch })),
  });
