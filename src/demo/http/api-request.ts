import { kindOf, type Kind, isRecord, valueAt, type KubeObject } from '../data/kube-object.ts';
import { badRequest } from '../data/status.ts';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One HTTP request in the API's own terms. */
export interface KubeRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  verb: Verb;
  /** Absent for paths without a resource, such as /version. */
  kind?: Kind;
  namespace?: string;
  name?: string;
  subresource?: string;
}

const resourcePath =
  /^\/(?:api\/v1|apis\/(?<group>[^/]+)\/v1)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[a-z]+)(?:\/(?<name>[^/]+)(?:\/(?<subresource>[a-z]+))?)?$/;

/** Parses a request line. `kind` is absent if this server knows no resource at the path. */
export function parseApiRequest(
  method: string,
  url: string,
  headers: KubeRequest['headers'],
  body: string,
): KubeRequest {
  const { pathname, searchParams: query } = new URL(url, 'http://loopback');
  const path = pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname;
  const target = targetOf(path);
  const verb = verbOf(method, query, target.name);
  return { method, path, query, headers, body, verb, ...target };
}

function targetOf(path: string): Pick<KubeRequest, 'kind' | 'namespace' | 'name' | 'subresource'> {
  const { group = '', plural = '', namespace, name, subresource } = resourcePath.exec(path)?.groups ?? {};
  const kind = kindOf(plural, group);
  if (kind === undefined) return {};
  return {
    kind,
    namespace: namespace && decodeURIComponent(namespace),
    name: name && decodeURIComponent(name),
    subresource,
  };
}

/** Any other method has a reading verb. */
const writingVerbs: Record<string, Verb> = { DELETE: 'delete', PATCH: 'patch', PUT: 'update', POST: 'create' };

function verbOf(method: string, query: URLSearchParams, name: string | undefined): Verb {
  const reading = name === undefined ? 'list' : 'get';
  return writingVerbs[method] ?? (isTrue(query.get('watch')) ? 'watch' : reading);
}

/** A query's boolean, as Kubernetes reads it: present and neither "false" nor "0". */
export const isTrue = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0';

/** In the query, or in DeleteOptions in the body. */
export const isDryRun = ({ query, body }: KubeRequest): boolean =>
  query.getAll('dryRun').includes('All') || /"dryRun":\s*\["All"\]/.test(body);

/** A numeric query parameter; undefined if it is absent or empty. */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  return text === null || text === '' ? undefined : Number(text);
}

/** Which objects a list or watch is about: namespace, name, field and label selectors. Throws a 400. */
export function selectorOf(request: KubeRequest, kind: Kind): Selector {
  const { namespace, name, query } = request;
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', kind);
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    fields(object) &&
    labels(object);
}

export type Selector = (object: KubeObject) => boolean;

/** `metadata.name=a,status.phase!=Running`. Throws a 400 for a field this kind cannot be selected by. */
function parseFieldSelector(text: string, kind: Kind): Selector {
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
  const [, name = '', operator, list = ''] = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term) ?? [];
  if (operator !== undefined)
    return setTerm(
      name,
      operator === 'in',
      list.split(',').map((one) => one.trim()),
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

/** Parses a body that must be a JSON object. Throws a 400. */
export function parseBody(body: string): Record<string, unknown> {
  const value = jsonIn(body);
  if (isRecord(value)) return value;
  throw badRequest('the object provided is unrecognized (must be of type Object)');
}

/** Undefined if it is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
