/** Applies edits to YAML: comments and order stay, and each change gets a comment that says why. */
import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '@kubernetes/client-node';
import {
  Document,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  parseDocument,
  visit,
  type Node,
  type ToStringOptions,
} from 'yaml';
import { asObject } from '../../model/observe/read.ts';
import { deepestNode, valueIn } from '../manifests.ts';
import type { Path } from '../container-spec.ts';
import type { Edit } from '../remedies.ts';
import { commonLines, linesOf } from './unified-diff.ts';

/** The edits of one object of a file. `at`: its path in the document, not empty for an item of a List. */
interface ObjectEdits {
  document: number;
  at: Path;
  edits: readonly Edit[];
}

/** The object with the edits applied. */
export function editedObject(object: KubernetesObject, edits: readonly Edit[]): KubernetesObject {
  // Through JSON, because a manifest can hold nothing that JSON cannot, such as undefined.
  const document = documentOf(JSON.parse(JSON.stringify(object)));
  return edited(document, [{ document: 0, at: [], edits }]).toJS() as KubernetesObject;
}

export function editedText(text: string, changes: readonly ObjectEdits[]): string {
  // The YAML printer ends lines with a line feed, also the last one.
  const source = text.replaceAll('\r\n', '\n');
  const parts = documentTexts(source).map((part, index) => {
    const own = changes.filter(({ document, edits }) => document === index && edits.length > 0);
    return own.length > 0 ? editedPart(part, own) : part;
  });
  const edited = source.endsWith('\n') ? parts.join('') : parts.join('').replace(/\n$/, '');
  return source === text ? edited : edited.replaceAll('\n', '\r\n');
}

/** The text of each document, whole lines: the parser ends an empty document before the end of its line. */
function documentTexts(source: string): string[] {
  const documents = parseAllDocuments(source, yaml11);
  const ends = documents.map(({ range }) => source.indexOf('\n', Math.max(0, range[2] - 1)) + 1);
  return ends.map((end, index) => source.slice(ends[index - 1] ?? 0, index < ends.length - 1 ? end : undefined));
}

/** Kubernetes reads YAML 1.1, in which a plain `yes` is true and 0644 is octal. */
const yaml11 = { version: '1.1' } as const;

export const documentOf = (value: unknown): Document =>
  new Document(value, { ...yaml11, aliasDuplicateObjects: false });

/** One document of a file. */
function editedPart(source: string, changes: readonly ObjectEdits[]): string {
  const parsed = (text = source): Document => parseDocument(text, yaml11);
  const wanted = edited(documentOf(parsed().toJS()), changes).toJS() as unknown;
  const isRight = (document: Document): boolean => isDeepStrictEqual(valueIn(document), wanted);
  if (isJson(source)) return `${JSON.stringify(wanted, null, /^\{\n([ \t]+)/.exec(source)?.[1])}\n`;
  const direct = edited(parsed(), changes);
  // An edit of a node with an anchor changes its aliases too.
  const document = isRight(direct) ? direct : edited(withoutAliases(parsed()), changes);
  const style = styleOf(source);
  const printed = document.toString(style);
  const kept = keepingLines(source, parsed().toString(style), printed);
  return isRight(parsed(kept)) ? kept : printed;
}

/** JSON has no comments, so an edit of it explains nothing. */
function isJson(text: string): boolean {
  try {
    return JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

function withoutAliases(document: Document): Document {
  const copyOf = (value: unknown) => document.createNode(value, { aliasDuplicateObjects: false });
  visit(document, {
    Alias: (_key, alias) => copyOf(alias.toJS(document)),
    Map: (_key, map) => {
      const all = Object.entries(map.toJS(document) as object);
      map.items = map.items.filter(({ key }) => typeof (key as { value?: unknown }).value !== 'symbol');
      for (const [key, value] of all) if (!map.has(key)) map.set(copyOf(key), copyOf(value));
    },
  });
  visit(document, { Value: (_key, node) => void delete node.anchor });
  return document;
}

/**
 * The edited text with each unchanged line as its author wrote it. The YAML printer spaces and folds lines in its own way,
 * so this is a three-way merge: between two lines that all texts have, an edited part is printed, any other is the source's.
 */
function keepingLines(source: string, unedited: string, edited: string): string {
  const [own, base, wanted] = [linesOf(source), linesOf(unedited), linesOf(edited)];
  const withoutBlanks = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/\s+/g, ''));
  const inSource = commonLines(withoutBlanks(base), withoutBlanks(own)).set(base.length, own.length);
  const inEdited = commonLines(base, wanted).set(base.length, wanted.length);
  const lines: string[] = [];
  let [fromBase, fromSource, fromEdited] = [0, 0, 0];
  for (let at = 0; at <= base.length; at++) {
    const [sourceAt, editedAt] = [inSource.get(at), inEdited.get(at)];
    if (sourceAt === undefined || editedAt === undefined) continue;
    const between = wanted.slice(fromEdited, editedAt);
    const isEdited = !isDeepStrictEqual(between, base.slice(fromBase, at));
    lines.push(...(isEdited ? between : own.slice(fromSource, sourceAt)), ...own.slice(sourceAt, sourceAt + 1));
    [fromBase, fromSource, fromEdited] = [at + 1, sourceAt + 1, editedAt + 1];
  }
  return `${lines.join('\n')}\n`;
}

function edited(document: Document, changes: readonly ObjectEdits[]): Document {
  const edits = changes.flatMap(({ at, edits: own }) => own.map((edit) => ({ ...edit, path: [...at, ...edit.path] })));
  const values = edits.filter((edit) => edit.kind === 'set');
  const moves = edits.filter((edit) => edit.kind === 'sidecar');
  const explain = (some: readonly Edit[]): void =>
    some.forEach(({ path, why }) => addComment(document.contents, path, why));
  values.forEach(({ path, value }) => setIn(document, path, value));
  explain(values);
  // Moves come last: they shift the list indexes in the paths of other edits.
  moves.forEach(({ path }) => moveToInit(document, path.slice(0, -2), path.at(-1)));
  explain(moves);
  return document;
}

/** What has no fields on the way there becomes a map: it is absent, or like `lifecycle:` without a value. */
function setIn(document: Document, path: Path, value: unknown): void {
  const parent = path.slice(0, -1);
  if (!isCollection(document.getIn(parent, true))) setIn(document, parent, {});
  const old = document.getIn(path, true);
  // In its node, a value keeps its comment; as a node, a key can get one.
  if (isScalar(old) && typeof value !== 'object') old.value = value;
  else document.setIn([...parent, document.createNode(path.at(-1))], document.createNode(value));
}

function moveToInit(document: Document, podPath: Path, name: Path[number] | undefined): void {
  const containers = document.getIn([...podPath, 'containers']);
  const index = isSeq(containers) ? containers.items.findIndex((one) => isMap(one) && one.get('name') === name) : -1;
  if (index < 0) return;
  // Moves the node itself, so that its comments move along. A comment above the first item belongs to the list.
  const node = document.getIn([...podPath, 'containers', index], true);
  document.deleteIn([...podPath, 'containers', index]);
  if (index === 0 && isMap(node) && isSeq(containers))
    [node.commentBefore, containers.commentBefore] = [containers.commentBefore, undefined];
  if (isMap(node)) node.set('restartPolicy', 'Always');
  if (document.hasIn([...podPath, 'initContainers'])) document.addIn([...podPath, 'initContainers'], node);
  else setIn(document, [...podPath, 'initContainers'], [node]);
}

/** Writes a comment above the deepest existing part of the path. */
export function addComment(root: Node | null, path: Path, why: string): void {
  const node = deepestNode(root, path);
  const text = ` ${why}`;
  if (node && !node.commentBefore?.includes(text))
    node.commentBefore = [node.commentBefore, text].filter(Boolean).join('\n');
}

/** The style of the document: its indentation, whether lists are indented below their key, spaces inside braces. */
function styleOf(text: string): ToStringOptions {
  const [, blanks = '  '] = /^[\w-]+:[^\S\n]*\n( +)[\w-]/m.exec(text) ?? [];
  const [, key = '', dash = '  '] = /^( *)[\w-]+:[^\S\n]*\n( *)- /m.exec(text) ?? [];
  return {
    lineWidth: 0,
    indent: blanks.length,
    indentSeq: dash.length - key.length >= blanks.length,
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
