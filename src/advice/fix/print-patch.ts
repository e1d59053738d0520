/** A patch as text, with one comment a change that says why: strategic merge, JSON patch, kustomize component. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, isMap, isSeq } from 'yaml';
import type { Node, ParsedNode } from 'yaml';
import { forYaml } from '../../render/safe-text.ts';
import type { Path } from '../shutdown-spec.ts';
import type { Edit } from './edits.ts';
import { jsonPatch, strategicPatch } from './patches.ts';

/** For `kubectl patch --patch-file`. Names the object, so that kustomize takes it too. */
export function strategicText(before: KubernetesObject, after: KubernetesObject, edits: readonly Edit[]): string {
  const { apiVersion, kind } = before;
  const { name, namespace } = before.metadata ?? {};
  const head = { apiVersion, kind, metadata: JSON.parse(JSON.stringify({ name, namespace })) as object };
  const patch = { ...head, ...(strategicPatch(before, after) as object | undefined) };
  const document = new Document(patch, { aliasDuplicateObjects: false });
  for (const { path, why } of commentsOf(edits)) comment(document.contents, namedPath(path, before), why);
  return forYaml(document.toString({ lineWidth: 0 }));
}

/** For `kubectl patch --type=json --patch-file`, which reads YAML too. */
export function jsonPatchText(before: KubernetesObject, after: KubernetesObject, edits: readonly Edit[]): string {
  const operations = jsonPatch(before, after);
  const document = new Document(operations, { aliasDuplicateObjects: false });
  const items = isSeq(document.contents) ? document.contents.items : [];
  operations.forEach(({ path }, at) => {
    const reasons = commentsOf(edits).filter((one) => isWithin(`/${one.path.join('/')}`, path));
    const item = items[at] as Node | undefined;
    if (item && reasons.length > 0) item.commentBefore = ` ${[...new Set(reasons.map(({ why }) => why))].join('; ')}`;
  });
  return forYaml(document.toString({ lineWidth: 0 }));
}

/** One is the other, or lies in it. */
const isWithin = (one: string, other: string): boolean =>
  `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);

/** A component for an overlay: `components: [./fix]`. One patch for each object. */
export function kustomizeText(patches: readonly { object: KubernetesObject; strategic: string }[]): string {
  const rows = patches.map(({ object, strategic }) => ({
    target: { kind: object.kind, name: object.metadata?.name },
    patch: strategic,
  }));
  const component = { apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', patches: rows };
  return forYaml(new Document(component).toString({ lineWidth: 0 }));
}

interface Comment {
  path: Path;
  why: string;
}

export const commentsOf = (edits: readonly Edit[]): Comment[] =>
  edits.flatMap((edit): Comment[] =>
    edit.kind === 'set'
      ? [{ path: edit.path, why: edit.why }]
      : [{ path: [...edit.podPath, 'initContainers', edit.name], why: edit.why }],
  );

/** A patch has only the containers that change, so an index becomes the container's name. */
function namedPath(path: Path, object: KubernetesObject): Path {
  let node: unknown = object;
  return path.map((step) => {
    node = (node as Record<string | number, unknown> | undefined)?.[step];
    const name = (node as { name?: unknown } | undefined)?.name;
    return typeof step === 'number' && typeof name === 'string' ? name : step;
  });
}

/** Writes a comment above the deepest part of the path that is there. In a list a name stands for the item that has it. */
export function comment(root: Node | ParsedNode | null, path: Path, why: string): void {
  let node: unknown = root;
  let place: { commentBefore?: string | null } | undefined;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (key as { value?: unknown }).value === step);
      if (!pair) break;
      place = pair.key as { commentBefore?: string | null };
      node = pair.value;
    } else if (isSeq(node)) {
      const found: unknown =
        typeof step === 'number'
          ? node.items[step]
          : node.items.find((item) => isMap(item) && item.get('name') === step);
      if (found === undefined) break;
      place = found as { commentBefore?: string | null };
      node = found;
    } else break;
  }
  const text = ` ${why}`;
  if (place && !place.commentBefore?.includes(text))
    place.commentBefore = [place.commentBefore, text].filter(Boolean).join('\n');
}
