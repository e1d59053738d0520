import type { Kind } from './kinds.ts';
import { isRecord, valueAt, type KubeObject } from './kube-object.ts';
import { badRequest } from './status.ts';

export type Selector = (object: KubeObject) => boolean;

/** `metadata.name=a,status.phase!=Running`. Throws a 400 for a field this kind cannot be selected by. */
export function parseFieldSelector(text: string, kind: Kind): Selector {
  const terms = splitTerms(text).map((term) => fieldTerm(term, kind));
  return (object) => terms.every((matches) => matches(object));
}

/** `app=a,tier in (x, y),!canary`. Throws a 400 for text that is not a label selector. */
export function parseLabelSelector(text: string): Selector {
  const terms = splitTerms(text).map(labelTerm);
  return (object) => terms.every((matches) => matches(labelsOf(object)));
}

/** The selector in a Service or PodDisruptionBudget: matchLabels only, which is all the scenarios hold. */
export function matchesLabels(wanted: unknown, object: KubeObject): boolean {
  const labels = labelsOf(object);
  return isRecord(wanted) && Object.entries(wanted).every(([name, value]) => labels[name] === value);
}

function fieldTerm(term: string, kind: Kind): Selector {
  const [, field, operator, value] = /^([^=!]+?)\s*(==|=|!=)\s*(.*)$/.exec(term) ?? [];
  if (field === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const common = kind.namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name'];
  if (![...common, ...kind.fields].includes(field)) throw badRequest(`field label not supported: ${field}`);
  return (object) => (fieldText(object, field) === value) === (operator !== '!=');
}

function fieldText(object: KubeObject, field: string): string {
  const value = field === 'source' ? valueAt(object, 'source.component') : valueAt(object, field);
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : '';
}

type LabelTerm = (labels: Record<string, string>) => boolean;

function labelTerm(term: string): LabelTerm {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set !== null)
    return setTerm(
      set[1] ?? '',
      set[2] === 'in',
      (set[3] ?? '').split(',').map((one) => one.trim()),
    );
  const equal = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(term);
  if (equal !== null) return setTerm(equal[1] ?? '', equal[2] !== '!=', [equal[3] ?? '']);
  const exists = /^(!?)\s*([^=!\s()]+)$/.exec(term);
  if (exists !== null) return (labels) => (exists[2] ?? '') in labels === (exists[1] === '');
  throw badRequest(`unable to parse requirement: found '${term}'`);
}

function setTerm(name: string, wanted: boolean, values: string[]): LabelTerm {
  return (labels) => {
    const value = labels[name];
    return value === undefined ? !wanted : values.includes(value) === wanted;
  };
}

const labelsOf = (object: KubeObject): Record<string, string> => object.metadata.labels ?? {};

/** Splits at commas, but not inside the brackets of `in (a,b)`. */
const splitTerms = (text: string): string[] =>
  text
    .split(/,(?![^(]*\))/)
    .map((term) => term.trim())
    .filter((term) => term !== '');
