/**
 * Edits as text, each with a comment that says why: in a manifest, in which what no edit changes stays byte for byte, and as
 * patches of three kinds. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  Document,
  isCollection,
  isPair,
  isScalar,
  Lexer,
  parseAllDocuments,
  parseDocument,
  Scalar,
  visit,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isObject, asObject } from '../../model/observe/read.ts';
import { entriesOn, entryIn, startOf, valueIn, yaml11, yamlWritten, type Entry } from '../manifests.ts';
import type { Path } from '../container-spec.ts';
import { childOf, editedValue, strategicPatch, type Edit } from './edit.ts';
import type { KubernetesObject } from '@kubernetes/client-node';
import { forYaml, hasUnseen } from '../../output/safe-text.ts';

/** `at`: the object's path in its document, not empty for an item of a List. Undefined: a document cannot be edited as text without a change of what else it says, or the loss of a comment. */
export function editedText(
  text: string,
  objects: readonly { document: number; at: Path; edits: readonly Edit[] }[],
): string | undefined {
  const parts = documentTexts(text).map((part, index) => {
    const edits = objects
      .filter(({ document }) => document === index)
      .flatMap(({ at, edits: own }) => own.map((edit) => ({ ...edit, path: [...at, ...edit.path] })));
    return edits.length > 0 ? editedDocument(part, edits) : part;
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** The text of each document, whole lines: the parser ends an empty document before the end of its line. */
function documentTexts(text: string): string[] {
  const ends = parseAllDocuments(text, yaml11).map(({ range }) => text.indexOf('\n', Math.max(0, range[2] - 1)) + 1);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, index < ends.length - 1 ? end : undefined));
}

function editedDocument(text: string, edits: readonly Edit[]): string | undefined {
  const [, mark = '', body = '', end = ''] = /^(\ufeff?)(.*?)(\n?)$/s.exec(text) ?? [];
  const valueOf = (own: string): unknown => valueIn(documentOf(own));
  const withEdit = (own: string, edit: Edit): string => {
    const edited = withValue(own, rootOf(documentOf(own)), edit.path, editedValue(valueOf(own), [edit]));
    return isJson(text) ? edited : commentedText(edited, edit);
  };
  const wanted = editedValue(valueOf(`${body}\n`), edits);
  const edited = edits.reduce(withEdit, `${body}\n`);
  const isKept = commentsIn(body).every((comment) => edited.includes(comment));
  return isKept && isDeepStrictEqual(valueOf(edited), wanted) ? mark + edited.slice(0, -1) + end : undefined;
}

const documentOf = (text: string): Document.Parsed => parseDocument(text, { ...yaml11, logLevel: 'error' });

/** With a comment above the line of the deepest existing part of the path, or of the braces that it is in. */
function commentedText(text: string, { path, why }: Pick<Edit, 'path' | 'why'>): string {
  const document = documentOf(text);
  const entry = entriesOn(document, path).findLast(({ inFlow }) => !inFlow);
  const start = lineStart(text, (entry ?? rootOf(document)).start);
  const comment = commentLine(why);
  const isThere = text.slice(lineStart(text, start - 1), start).includes(comment);
  // Above the line of three dashes, it would be a comment of the document before.
  if ((!entry && isBlock(document.contents)) || text.startsWith('---', start) || isThere) return text;
  return spliced(text, start, start, linesText([comment], text.slice(start).search(/[^ ]|$/), text));
}

export const commentLine = (text: string): string => `# ${text.replace(/\s+/g, ' ')}`;

const isJson = (text: string): boolean => /^\s*[{[]\s*["{[]/.test(text);

const rootOf = ({ contents }: Document.Parsed): Entry => {
  return { start: contents?.range[0] ?? 0, node: contents, inFlow: false };
};

function withValue(text: string, { node, start }: Entry, [step, ...rest]: Path, wanted: unknown): string {
  if (step === undefined || !isCollection(node) || node.items.length === 0) return withNode(text, node, start, wanted);
  const child = entryIn(node, step);
  const value = childOf(wanted, step);
  if (child) return withValue(text, child, rest, value);
  const [first] = node.items;
  if (isBlock(node) && isPair<Node>(first)) {
    const [column, end] = [columnOf(text, startOf(first.key)), endOf(text, node, startOf(first.key))];
    return spliced(text, end, end, linesText(blockLines({ [step]: value }), column, text));
  }
  const end = contentEnd(text, node.items.at(-1));
  return spliced(text, end, end, `, ${flowText(step, text)}: ${flowText(value, text)}`);
}

/** With another value: lines of a block stay lines, below the comments that were among them. */
function withNode(text: string, node: Node | null, key: number, wanted: unknown): string {
  const [first] = isBlock(node) ? node.items : [];
  if (isPair<Node>(first) && isObject(wanted)) {
    const [start, end] = [lineStart(text, startOf(first.key)), endOf(text, node, key)];
    const lines = [...commentsIn(text.slice(start, end)), ...blockLines(wanted)];
    return spliced(text, start, end, linesText(lines, startOf(first.key) - start, text));
  }
  const end = contentEnd(text, node);
  const start = Math.min(end, node ? startOf(node) : end);
  const own = `${start === end ? ' ' : ''}${flowText(wanted, text)}${text[end - 1] === '\n' ? eolOf(text) : ''}`;
  return spliced(text, start, end, own);
}

const spliced = (text: string, start: number, end: number, own: string): string =>
  text.slice(0, start) + own + text.slice(end);

const blockLines = (map: object): string[] =>
  new Document(map, yamlWritten).toString({ lineWidth: 0 }).trimEnd().split('\n');

const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

const linesText = (lines: readonly string[], column: number, text: string): string =>
  lines.map((line) => ' '.repeat(column) + line + eolOf(text)).join('');

const isBlock = (node: Node | null): node is YAMLMap | YAMLSeq => isCollection(node) && !node.flow;

/** The offset after the last character of a value, or of a key without one, before any comment. */
function contentEnd(text: string, value: unknown): number {
  const node = (isPair(value) ? (value.value ?? value.key) : value) as Node | null;
  if (isBlock(node)) return contentEnd(text, node.items.at(-1));
  const [start, end] = node?.range ?? [0, 0];
  // Its place is after the blanks.
  if (start === end) return text.slice(0, start).trimEnd().length;
  const isBlockText = isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
  const isKept = isBlockText && /^\S*\+/.test(text.slice(start, end));
  return isBlockText && !isKept ? start + text.slice(start, end).trimEnd().length : end;
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

const columnOf = (text: string, offset: number): number => offset - lineStart(text, offset);

/** The start of the line after a value in lines, and after the comments below it that are indented deeper than its key. */
function endOf(text: string, node: Node | null, key: number): number {
  const deeperComments = new RegExp(`(?:(?:[ \\t]*\\r?\\n)* {${columnOf(text, key) + 1},}#.*\\n)*`, 'y');
  const end = contentEnd(text, node);
  deeperComments.lastIndex = lineStart(text, end) === end ? end : text.indexOf('\n', end) + 1;
  deeperComments.test(text);
  return deeperComments.lastIndex;
}

function commentsIn(lines: string): string[] {
  const lexemes = [...new Lexer().lex(lines)];
  // The lexer writes this character before a scalar, which can begin with # too.
  return lexemes.filter((one, at) => one.startsWith('#') && lexemes[at - 1] !== '\x1f').map((one) => one.trimEnd());
}

function flowText(value: unknown, text: string): string {
  if (isJson(text)) return JSON.stringify(value);
  const document = new Document(value, yamlWritten);
  visit(document, { Collection: (_key, node) => void (node.flow = true) });
  return document.toString({ lineWidth: 0 }).trimEnd();
}

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
const namedPath = (path: Path, object: KubernetesObject): Path =>
  path.map((step, at) => {
    const name = childOf(path.slice(0, at + 1).reduce<unknown>(childOf, object), 'name');
    return typeof step === 'number' && typeof name === 'string' ? name : step;
  });

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
