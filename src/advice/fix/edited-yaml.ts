/** Applies edits to YAML: comments and order stay, and each change gets a comment that says why. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { Document, isCollection, isMap, isSeq, parseAllDocuments, type Node, type ToStringOptions } from 'yaml';
import { asObject } from '../../model/observe/read.ts';
import { deepestNode } from '../manifests.ts';
import type { Path } from '../shutdown-spec.ts';
import type { Edit } from './edits.ts';
import { linesOf, rowsOf } from './unified-diff.ts';

/** The edits of one object of a file. `at`: its path in the document, not empty for an item of a List. */
export interface ObjectEdits {
  document: number;
  at: Path;
  edits: readonly Edit[];
}

/** The object with the edits applied. */
export function editedObject(object: KubernetesObject, edits: readonly Edit[]): KubernetesObject {
  // Through JSON, because a manifest can hold nothing that JSON cannot, such as undefined.
  const document = new Document(JSON.parse(JSON.stringify(object)), { aliasDuplicateObjects: false });
  editDocument(document, [], edits);
  return document.toJS() as KubernetesObject;
}

export function editedText(text: string, changes: readonly ObjectEdits[]): string {
  if (changes.every(({ edits }) => edits.length === 0)) return text;
  const parsed = (): Document[] => [...parseAllDocuments(text, { merge: true })];
  const documents = parsed();
  for (const { document, at, edits } of changes) {
    const found = documents[document];
    if (found) editDocument(found, at, edits);
  }
  const style = styleOf(text);
  const textOf = (one: Document): string => (one.errors.length > 0 ? sourceOf(one, text) : one.toString(style));
  const printed = (all: readonly Document[]): string => joined(all.map(textOf));
  return keepingLines(text, printed(parsed()), printed(documents));
}

/**
 * The edited text with each unchanged line as its author wrote it. The YAML printer may space lines differently; if it
 * keeps their number, the lines that no edit changed are taken from the source.
 */
function keepingLines(source: string, unedited: string, edited: string): string {
  const sourceLines = linesOf(source);
  if (sourceLines.length !== linesOf(unedited).length) return edited;
  let at = 0;
  const rows = rowsOf(linesOf(unedited), linesOf(edited)).map(([sign, text]) => {
    const sourceLine = sign === '+' ? undefined : sourceLines[at++];
    return { sign, text: sourceLine ?? text };
  });
  return `${rows.flatMap(({ sign, text }) => (sign === '-' ? [] : text)).join('\n')}\n`;
}

/** The library prints no document that it could not read whole. */
function sourceOf({ range }: Document, text: string): string {
  const [start, , end] = range ?? [0, 0, 0];
  return text.slice(start, end);
}

/** A document is printed with its own `---` if it had one; between two documents one is required. */
const joined = (texts: readonly string[]): string =>
  texts
    .map((text, at) =>
      at > 0 && !/^(%|---)/.test(text) && !/\.\.\.\n$/.test(texts[at - 1] ?? '') ? `---\n${text}` : text,
    )
    .join('');

function editDocument(document: Document, at: Path, edits: readonly Edit[]): void {
  for (const edit of edits) if (edit.kind === 'set') setIn(document, [...at, ...edit.path], edit.value);
  // Moves come last: they shift the list indexes in the paths of `set` edits.
  for (const edit of edits) if (edit.kind === 'sidecar') moveToInit(document, [...at, ...edit.podPath], edit.name);
  for (const { path, why } of commentsOf(edits)) addComment(document.contents, [...at, ...path], why);
}

/** What has no fields on the way there becomes a map: it is absent, or like `lifecycle:` without a value. */
function setIn(document: Document, path: Path, value: unknown): void {
  const parent = path.slice(0, -1);
  if (!isCollection(document.getIn(parent, true))) setIn(document, parent, {});
  // As a node, the key can carry a comment.
  document.setIn([...parent, document.createNode(path.at(-1))], document.createNode(value));
}

function moveToInit(document: Document, podPath: Path, name: string): void {
  const containers = document.getIn([...podPath, 'containers']);
  const index = isSeq(containers) ? containers.items.findIndex((one) => isMap(one) && one.get('name') === name) : -1;
  if (index < 0) return;
  // Moves the node itself, so that its comments move along.
  const node = document.getIn([...podPath, 'containers', index], true);
  document.deleteIn([...podPath, 'containers', index]);
  if (isMap(node)) node.set('restartPolicy', 'Always');
  if (document.hasIn([...podPath, 'initContainers'])) document.addIn([...podPath, 'initContainers'], node);
  else setIn(document, [...podPath, 'initContainers'], [node]);
}

export const commentsOf = (edits: readonly Edit[]): { path: Path; why: string }[] =>
  edits.map((edit) => ({
    path: edit.kind === 'set' ? edit.path : [...edit.podPath, 'initContainers', edit.name],
    why: edit.why,
  }));

/** Writes a comment above the deepest existing part of the path. */
export function addComment(root: Node | null, path: Path, why: string): void {
  const node = deepestNode(root, path);
  const text = ` ${why}`;
  if (node && !node.commentBefore?.includes(text))
    node.commentBefore = [node.commentBefore, text].filter(Boolean).join('\n');
}

/** The style of the file: its indentation, whether lists are indented below their key, spaces inside braces. */
function styleOf(text: string): ToStringOptions {
  const [, blanks = '  '] = /^[\w-]+:[^\S\n]*\n( +)[\w-]/m.exec(text) ?? [];
  return {
    lineWidth: 0,
    indent: blanks.length,
    indentSeq: !/^( *)[\w-]+:[^\S\n]*\n\1- /m.test(text),
    flowCollectionPadding: /[{[] \S/.test(text),
  };
}

/** Annotations written by kubectl and controllers. */
const generatedAnnotations = ['kubectl.kubernetes.io/last-applied-configuration', 'deployment.kubernetes.io/revision'];

/** An object of a cluster as a manifest: without the fields that the cluster fills in. */
export function manifestOf(object: KubernetesObject): KubernetesObject {
  const { status: _status, ...kept } = object as KubernetesObject & { status?: unknown };
  const { name, namespace, labels, annotations: all } = kept.metadata ?? {};
  const annotations = Object.entries(asObject(all)).filter(([key]) => !generatedAnnotations.includes(key));
  const own = annotations.length > 0 ? Object.fromEntries(annotations) : undefined;
  return { ...kept, metadata: { name, namespace, labels, annotations: own } as object };
}
