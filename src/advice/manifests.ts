/** YAML and JSON manifests → objects with the lines of their fields. After a broken document, the rest is still read. */
import { basename, dirname } from 'node:path';
import type { KubernetesObject } from '@kubernetes/client-node';
import { isCollection, isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit, YAMLParseError } from 'yaml';
import type { Document, Node, Tags } from 'yaml';
import { asObject, asText, isObject, isPresent } from '../model/observe/read.ts';
import type { Path } from './container-spec.ts';

export interface Manifest {
  object: KubernetesObject;
  file: string;
  text: string;
  /** The index of its document in the file, from 0, and its path in there: not empty for an item of a List. */
  document: number;
  at: Path;
  /** The line of the deepest existing field on the path, from 1; of an empty path that at which the object begins. */
  lineOf(path: Path): number;
}

export interface BrokenInput {
  file: string;
  line: number;
  message: string;
}

export interface Parsed {
  manifests: Manifest[];
  broken: BrokenInput[];
  /** Files that say how to build manifests, and hold none. */
  kustomizations: string[];
}

export const yamlWritten = { version: '1.1' } as const;

/** YAML 1.1 as Kubernetes reads it (sigs.k8s.io/yaml): `yes` is true, 0644 octal; but `22:30`, dates, `e2` and `.` are text. */
export const yaml11 = {
  ...yamlWritten,
  customTags: (tags: Tags): Tags =>
    tags.flatMap((tag) => {
      if (typeof tag === 'string' || !('test' in tag) || tag.test === undefined) return tag;
      if (tag.format === 'TIME' || tag.tag.endsWith(':timestamp')) return [];
      const isLoose = ['e2', '.'].some((text) => tag.test?.test(text));
      return isLoose ? { ...tag, test: new RegExp(`^(?=[-+]?\\.?[0-9])${tag.test.source.slice(1)}`) } : tag;
    }),
} as const;

export const nothingParsed = (): Parsed => ({ manifests: [], broken: [], kustomizations: [] });

/** Adds to `parsed` what the text holds. */
export function parseManifests(text: string, file: string, parsed = nothingParsed()): Parsed {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { ...yaml11, lineCounter, prettyErrors: false, logLevel: 'error' });
  const hint = isTemplate(text) ? ` (it looks like a template: ${renderFirst})` : '';
  for (const [index, document] of (Array.isArray(documents) ? documents : []).entries()) {
    const lineAt = (offset: number): number => lineCounter.linePos(offset).line;
    const refuse = (offset: number, message: string): void =>
      void parsed.broken.push({ file, line: lineAt(offset), message });
    const value = valueIn(document);
    if (value instanceof YAMLParseError) refuse(value.pos[0], `${firstLine(value.message)}${hint}`);
    else if (value instanceof Error) refuse(document.range[0], firstLine(value.message));
    else if (isObject(value) && typeof value['kind'] === 'string') {
      const lineOf = (path: Path): number => lineAt(offsetOf(document, path));
      const objects = objectsOf(value, [], { file, text, lineOf, document: index });
      const isNamed = objects.every(({ object }) => !isTemplate(asText(object.metadata?.name)));
      const unrendered = isNamed ? templateIn(document, value) : offsetOf(document, ['metadata', 'name']);
      if (unrendered !== undefined) refuse(unrendered, `a template that was not rendered: ${renderFirst}`);
      else parsed.manifests.push(...objects);
      // Its `kind` is optional.
    } else if (isObject(value) && /^kustomization(\.ya?ml)?$/i.test(basename(file))) parsed.kustomizations.push(file);
    else if (isPresent(value)) refuse(offsetOf(document, []), `not a Kubernetes object: it has no kind${hint}`);
  }
  return parsed;
}

export const kustomizationHint = (file: string): string =>
  `${file} is a kustomization, which is not built; name its folder with -k ${dirname(file)}`;

/** `{{ .Values.x }}` is invalid YAML, or parses to something that was not meant. */
const isTemplate = (text: string): boolean => /\{\{[^}\n]*\}\}/.test(text);
const renderFirst = 'render it first, for example with helm template';

/** Where a template is valid YAML: as a key, or as a name or a number. Other API groups have templates of their own. */
function templateIn(document: Document, { apiVersion }: Record<string, unknown>): number | undefined {
  const places = asText(apiVersion).includes('.') ? /^$/ : /^name$|^seconds$|Seconds$|replicas$/i;
  let found: number | undefined;
  visit(document, {
    Pair(_, { key, value }) {
      const name = isScalar(key) ? String(key.value) : '';
      if (/^(data|stringData|annotations)$/.test(name)) return visit.SKIP;
      const isFilled = places.test(name) && isScalar(value) && /\$\{|\{\{/.test(String(value.value));
      if (!isCollection(key) && !isFilled) return undefined;
      found = (key as Node).range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}

/** The error if it cannot be read. Aliases can expand to a billion nodes (CVE-2019-11253), or for ever: then it is no JSON. */
export function valueIn(document: Document): unknown {
  try {
    const value: unknown = document.errors[0] ?? document.toJS({ maxAliasCount: 100 });
    return JSON.stringify(value) && value;
  } catch (error) {
    return error;
  }
}

/** The object, or the items of a List (and of Lists within it), each with its path in the document. */
function objectsOf(
  value: Record<string, unknown>,
  at: Path,
  source: Pick<Manifest, 'file' | 'text' | 'lineOf' | 'document'>,
): Manifest[] {
  const { kind, items } = value;
  if (kind === 'List' && Array.isArray(items))
    return items.flatMap((item, index) => objectsOf(asObject(item), [...at, 'items', index], source));
  return [{ ...source, object: value, at, lineOf: (path) => source.lineOf([...at, ...path]) }];
}

/** Of the key or item at the deepest existing part of the path, so that a finding names the line of `livenessProbe:`. */
const offsetOf = (document: Document.Parsed, path: Path): number =>
  entriesOn(document, path).at(-1)?.start ?? document.contents?.range[0] ?? document.range[0];

/** A field or an item. `start`: the offset of its key, or of the item. */
export type Entry = Readonly<{ start: number; node: Node | null; inFlow: boolean }>;

/** Those on the path, as far as it exists. */
export function entriesOn({ contents }: Document.Parsed, path: Path): Entry[] {
  const found: Entry[] = [];
  for (const step of path) {
    const entry = entryIn(found.length > 0 ? (found.at(-1)?.node ?? null) : contents, step);
    if (!entry) break;
    found.push(entry);
  }
  return found;
}

/** An item by its index or its name. */
export function entryIn(node: Node | null, step: string | number): Entry | undefined {
  const inFlow = isCollection(node) && node.flow === true;
  if (isSeq<Node>(node)) {
    const item = node.items.find((one, at) => at === step || (isMap(one) && one.get('name') === step));
    return item && { start: startOf(item), node: item, inFlow };
  }
  const pair = isMap<Node, Node | null>(node)
    ? node.items.find(({ key }) => isScalar(key) && key.value === step)
    : undefined;
  return pair && { start: startOf(pair.key), node: pair.value, inFlow };
}

export const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** The yaml library recurses and can overflow the stack; Kubernetes refuses such depths too, and anchors in themselves. */
const firstLine = (text: string): string =>
  /^(Maximum call|Converting)/.test(text) ? 'nested too deeply' : (text.split('\n')[0]?.replace(/:$/, '') ?? text);
