/** Applies edits to YAML: comments and order stay, and each change gets a comment that says why. */
import type { KubernetesObject } from '@kubernetes/client-node';
import {
  Document,
  isCollection,
  isMap,
  isSeq,
  parseAllDocuments,
  YAMLMap,
  type Node,
  type ToStringOptions,
} from 'yaml';
import { asObject } from '../../model/observe/read.ts';
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
  const printed = (all: readonly Document[]): string => joined(all.map((one) => one.toString(style)));
  return keepingLines(text, printed(parsed()), printed(documents));
}

/**
 * The edited text with each unchanged line as its author wrote it. The YAML printer may space lines differently; if it
 * keeps their number, the lines that no edit changed are taken from the source.
 */
function keepingLines(source: string, unedited: string, edited: string): string {
  const sourceLines = linesOf(source);
  if (sourceLines.length !== linesOf(unedited).length) return edited;
  const rows = rowsOf(linesOf(unedited), linesOf(edited)).filter(({ sign }) => sign !== '-');
  return `${rows.map(({ sign, text, old }) => (sign === ' ' ? (sourceLines[old - 1] ?? text) : text)).join('\n')}\n`;
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

/** Makes each key a node, which can carry a comment; the library's setIn makes plain strings. */
function setIn(document: Document, path: Path, value: unknown): void {
  const [last = '', parents] = [path.at(-1), path.slice(0, -1)];
  let node: unknown = document.contents;
  for (const step of parents) {
    if (!isMap(node) && !isSeq(node)) return;
    let next: unknown = node.get(step, true);
    if (isMap(node) && !isCollection(next)) {
      next = new YAMLMap();
      put(document, node, step, next);
    }
    node = next;
  }
  if (isMap(node)) put(document, node, last, document.createNode(value));
}

function put(document: Document, map: YAMLMap, key: string | number, value: unknown): void {
  const pair = map.items.find((one) => (one.key as { value?: unknown }).value === key);
  if (pair) pair.value = value;
  else map.items.push(document.createPair(key, value));
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

/** Writes a comment above the deepest existing part of the path. In a list, a name selects the item with that name. */
export function addComment(root: Node | null, path: Path, why: string): void {
  let node: unknown = root;
  let place: { commentBefore?: string | null } | undefined;
  for (const step of path) {
    const pair = isMap(node) && node.items.find(({ key }) => (key as { value?: unknown }).value === step);
    const item = isSeq(node) && node.items.find((one, at) => at === step || (isMap(one) && one.get('name') === step));
    if (!pair && !item) break;
    place = (pair ? pair.key : item) as typeof place;
    node = pair ? pair.value : item;
  }
  const text = ` ${why}`;
  if (place && !place.commentBefore?.includes(text))
    place.commentBefore = [place.commentBefore, text].filter(Boolean).join('\n');
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
