import { PodexitError } from '../../errors.ts';
import { asArray, asRecord } from '../status.ts';

/**
 * The fields of one mapping of a kubeconfig, each read as the type that kubectl wants. kubectl loads no file in which one of
 * them has another type: to pass over it would be to go on as somebody else, or in another namespace. What is null is absent.
 * All throw PodexitError `kubeconfig.invalid`, which names the file and the field.
 */
export interface Fields {
  /** Undefined where it is empty. */
  text(name: string): string | undefined;
  /** Base64 that can be decoded; undefined where it is empty. */
  data(name: string): string | undefined;
  /** Undefined where it is off. */
  flag(name: string): true | undefined;
  texts(name: string): string[];
  /** Undefined where it is absent. */
  mapping(name: string): Fields | undefined;
  mappings(name: string): Fields[];
  names(): string[];
  /** As it stands, of whatever type. */
  raw(name: string): unknown;
  /** The error about the mapping itself. */
  wrong(what: string): Error;
}

/** `place`: where the mapping stands in the file, for error texts. */
export function readFields(value: unknown, file: string, place = ''): Fields {
  if (!isMapping(value))
    throw invalid(file, place === '' ? 'it is no mapping of keys to values' : notA(place, value, 'a mapping'));
  const raw = asRecord(value);
  const at = (name: string) => (place === '' ? name : `${place}.${name}`);
  const list = (name: string): unknown[] => {
    const found = raw[name] ?? [];
    if (!Array.isArray(found)) throw invalid(file, notA(at(name), found, 'a list'));
    return asArray(found);
  };
  const text = (name: string) => asText(raw[name], file, at(name)) || undefined;
  return {
    text,
    data(name) {
      const found = text(name);
      if (found !== undefined && !isBase64(found)) throw invalid(file, `"${at(name)}" is no base64`);
      return found;
    },
    flag(name) {
      const found = raw[name] ?? false;
      if (typeof found !== 'boolean') throw invalid(file, `"${at(name)}" is neither true nor false`);
      return found || undefined;
    },
    texts: (name) => list(name).map((each, index) => asText(each, file, `${at(name)}[${index}]`)),
    mapping: (name) => (raw[name] == null ? undefined : readFields(raw[name], file, at(name))),
    mappings: (name) => list(name).map((each, index) => readFields(each, file, `${at(name)}[${index}]`)),
    names: () => Object.keys(raw),
    raw: (name) => raw[name],
    wrong: (what) => invalid(file, `"${place}" ${what}`),
  };
}

const isMapping = (value: unknown): boolean => value == null || (typeof value === 'object' && !Array.isArray(value));

function asText(value: unknown, file: string, place: string): string {
  if (value == null) return '';
  if (typeof value === 'string') return value;
  throw invalid(file, notA(place, value, 'text'));
}

/** Go's encoding/base64, which passes over the ends of lines. */
function isBase64(text: string): boolean {
  const letters = text.replace(/[\r\n]+/g, '');
  return letters.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(letters);
}

function notA(place: string, value: unknown, wanted: string): string {
  const quotes = wanted === 'text' && typeof value !== 'object' ? '; put it in quotes' : '';
  return `"${place}" is ${kindOf(value)}, not ${wanted}${quotes}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return { number: 'a number', boolean: 'true or false' }[typeof value as string] ?? 'text';
}

/** A kubeconfig that cannot be read. `what` echoes nothing of the file: it may hold credentials. */
export function invalid(file: string, what: string): PodexitError {
  return new PodexitError(
    'kubeconfig.invalid',
    `the kubeconfig ${file} cannot be read: ${what}`,
    'Correct the file; `kubectl config view` shows what kubectl makes of it.',
  );
}
