/** A manifest's own text with the edits in it: comments and order stay, and each change has a comment that says why. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { isCollection, isMap, isSeq, parseAllDocuments, stringify, YAMLMap } from 'yaml';
import type { Document, ToStringOptions } from 'yaml';
import { asArray, asObject } from '../../model/observe/read.ts';
import type { Path } from '../shutdown-spec.ts';
import type { Edit } from './edits.ts';
import { comment, commentsOf } from './print-patch.ts';
import { linesOf, rowsOf } from './unified-diff.ts';

/** The edits of one object of a file: `at` is where it lies in its document, for an item of a List. */
export interface ObjectEdits {
  document: number;
  at: Path;
  edits: readonly Edit[];
}

export function changedYaml(text: string, changes: readonly ObjectEdits[]): string {
  if (changes.every(({ edits }) => edits.length === 0)) return text;
  const documents = parseAllDocuments(text, { merge: true }) as Document.Parsed[];
  for (const { document, at, edits } of changes) {
    const found = documents[document];
    if (found) editDocument(found, at, edits);
  }
  const style = styleOf(text);
  const printed = (all: readonly Document.Parsed[]): string => joined(all.map((one) => one.toString(style)));
  const untouched = printed(parseAllDocuments(text, { merge: true }) as Document.Parsed[]);
  return keepingLines(text, untouched, printed(documents));
}

/**
 * The edited text with each untouched line as its author wrote it. A printer may space a line otherwise: where it keeps their
 * number, the lines that no edit changed are taken from the source.
 */
function keepingLines(source: string, untouched: string, edited: string): string {
  const own = linesOf(source);
  if (own.length !== linesOf(untouched).length) return edited;
  const rows = rowsOf(linesOf(untouched), linesOf(edited));
  const kept = rows.flatMap(({ sign, text, old }) =>
    sign === '-' ? [] : [sign === ' ' ? (own[old - 1] ?? text) : text],
  );
  return `${kept.join('\n')}\n`;
}

/** A document says by itself whether it begins with `---`; between two there must be one. */
const joined = (written: readonly string[]): string =>
  written
    .map((text, at) =>
      at > 0 && !/^(%|---)/.test(text) && !/\.\.\.\n$/.test(written[at - 1] ?? '') ? `---\n${text}` : text,
    )
    .join('');

function editDocument(document: Document.Parsed, at: Path, edits: readonly Edit[]): void {
  for (const edit of edits) if (edit.kind === 'set') setIn(document, [...at, ...edit.path], edit.value);
  for (const edit of edits) if (edit.kind === 'sidecar') moveToInit(document, [...at, ...edit.podPath], edit.name);
  for (const { path, why } of commentsOf(edits)) comment(document.contents, [...at, ...path], why);
}

/** Each key becomes a node of its own, which can carry a comment: the library's setIn makes plain strings. */
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

function moveToInit(document: Document.Parsed, podPath: Path, name: string): void {
  const containers = asArray(
    asObject((document.getIn(podPath) as { toJSON?(): unknown } | undefined)?.toJSON?.())['containers'],
  );
  const index = containers.map(asObject).findIndex((one) => one['name'] === name);
  if (index < 0) return;
  // The node itself moves, with the comments in it.
  const node = document.getIn([...podPath, 'containers', index], true);
  document.deleteIn([...podPath, 'containers', index]);
  if (isMap(node)) node.set('restartPolicy', 'Always');
  if (document.hasIn([...podPath, 'initContainers'])) document.addIn([...podPath, 'initContainers'], node);
  else setIn(document, [...podPath, 'initContainers'], [node]);
}

/** As the file is written: its indentation, lists under their key or further in, blanks within braces. */
function styleOf(text: string): ToStringOptions {
  const [, blanks = '  '] = /^[\w-]+:[^\S\n]*\n( +)[\w-]/m.exec(text) ?? [];
  return {
    lineWidth: 0,
    indent: blanks.length,
    indentSeq: !/^( *)[\w-]+:[^\S\n]*\n\1- /m.test(text),
    flowCollectionPadding: /[{[] \S/.test(text),
  };
}

/** An object of a cluster as a manifest: without what the cluster itself writes. */
export function manifestOf(object: KubernetesObject): KubernetesObject {
  const { status: _status, ...kept } = object as KubernetesObject & { status?: unknown };
  const metadata = asObject(kept.metadata);
  const annotations = Object.entries(asObject(metadata['annotations'])).filter(([key]) => !written.has(key));
  return {
    ...kept,
    metadata: JSON.parse(
      JSON.stringify({
        name: metadata['name'],
        namespace: metadata['namespace'],
        labels: metadata['labels'],
        annotations: annotations.length > 0 ? Object.fromEntries(annotations) : undefined,
      }),
    ) as object,
  };
}

const written: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/revision',
]);

export const yamlOf = (object: KubernetesObject): string =>
  stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
