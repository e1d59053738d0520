import { kindOf, type Kind } from '../data/kinds.ts';
import { parseFieldSelector, parseLabelSelector, type Selector } from '../data/selectors.ts';

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

/** The requested revision; undefined if it is absent or empty. */
export const revisionIn = ({ query }: KubeRequest): number | undefined => numberIn(query, 'resourceVersion');
