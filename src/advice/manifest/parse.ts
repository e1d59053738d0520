/**
 * YAML and JSON manifests → objects with the file and line of each of their fields. Several documents in one stream, `List`
 * kinds and JSON all come out as single objects. What is broken is one problem with its line; the rest is still read.
 */
import type { KubernetesObject } from '@kubernetes/client-node';
import { LineCounter, parseAllDocuments, type Document } from 'yaml';
import { asObject } from '../../model/observe/read.ts';
import type { Path } from '../shutdown-spec.ts';

export interface Manifest {
  object: KubernetesObject;
  file: string;
  /** The whole of the file. */
  text: string;
  /** Where it begins, from 1. */
  line: number;
  /** Which document of the file it stands in, from 0, and where in it: an item of a List. */
  document: number;
  at: Path;
  /** The line of the deepest field on the path that is there. */
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
}

/** How many objects the aliases of one document may stand for: a few lines can name a billion (CVE-2019-11253). */
const mostAliases = 100;

export function parseManifests(source: string, file: string): Parsed {
  // A byte order mark is no part of a document.
  const text = source.replace(/^\ufeff/, '');
  const lines = new LineCounter();
  // Kubernetes reads YAML 1.1 (sigs.k8s.io/yaml): an unquoted `yes` is true there.
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    version: '1.1',
    prettyErrors: false,
    logLevel: 'error',
  });
  const isTemplate = /\{\{[^}\n]*\}\}/.test(text);
  const parsed: Parsed = { manifests: [], broken: [] };
  for (const [index, document] of (Array.isArray(documents) ? documents : []).entries())
    readDocument(document, { file, text, lines, isTemplate, index }, parsed);
  return parsed;
}

interface Source {
  file: string;
  text: string;
  lines: LineCounter;
  isTemplate: boolean;
  index: number;
}

function readDocument(
  document: Document.Parsed,
  { file, text, lines, isTemplate, index }: Source,
  parsed: Parsed,
): void {
  // `{{ .Values.x }}` is no YAML, or another one than was meant.
  const hint = isTemplate ? ' (it looks like a template: render it first, for example with helm template)' : '';
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  const [error] = document.errors;
  if (error) {
    parsed.broken.push({ file, line: lineAt(error.pos[0]), message: `${firstLine(error.message)}${hint}` });
    return;
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: mostAliases });
  } catch (cause) {
    parsed.broken.push({ file, line: lineAt(document.range[0]), message: firstLine((cause as Error).message) });
    return;
  }
  if (value === null || value === undefined) return;
  const lineOf = (path: Path): number => lineAt(offsetOf(document, path));
  if (typeof value !== 'object' || Array.isArray(value) || typeof asObject(value)['kind'] !== 'string') {
    parsed.broken.push({ file, line: lineOf([]), message: `not a Kubernetes object: it has no kind${hint}` });
    return;
  }
  parsed.manifests.push(...objectsOf(asObject(value), [], { file, text, lineOf, document: index }));
}

/** A List's items, and the items of Lists within it, each where it stands. */
function objectsOf(
  value: Record<string, unknown>,
  at: Path,
  source: Pick<Manifest, 'file' | 'text' | 'lineOf' | 'document'>,
): Manifest[] {
  const { kind, items } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item, index) => {
      const object = asObject(item);
      const named = { kind: kind === 'List' ? undefined : kind.slice(0, -'List'.length), ...object };
      return objectsOf(named, [...at, 'items', index], source);
    });
  const { lineOf } = source;
  const object = value as KubernetesObject;
  return [{ ...source, object, at, line: lineOf(at), lineOf: (path) => lineOf([...at, ...path]) }];
}

/** The offset of a key where the path ends at one, so that a finding names the line of `livenessProbe:`. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? document.range[0];
  for (const step of path) {
    const items = (node as { items?: unknown[] } | null)?.items;
    if (!items) break;
    const found = typeof step === 'number' ? items[step] : items.find((pair) => keyOf(pair) === step);
    if (found === undefined) break;
    const { key, value } = found as { key?: { range?: [number] }; value?: unknown };
    node = typeof step === 'number' ? found : value;
    offset = (typeof step === 'number' ? (found as { range?: [number] }).range?.[0] : key?.range?.[0]) ?? offset;
  }
  return offset;
}

const keyOf = (pair: unknown): unknown => (pair as { key?: { value?: unknown } }).key?.value;

/** The library descends by recursion; Kubernetes refuses such depths as well. */
const firstLine = (text: string): string =>
  text.startsWith('Maximum call stack') ? 'nested too deeply' : (text.split('\n')[0]?.replace(/:$/, '') ?? text);
