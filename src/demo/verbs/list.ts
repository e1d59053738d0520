import type { Cluster } from '../cluster.ts';
import { groupVersion, type Kind } from '../data/kinds.ts';
import type { KubeObject } from '../data/kube-object.ts';
import { select, stateAt } from '../data/log.ts';
import { badRequest, continueExpired, invalid, listExpired, tooFarAhead } from '../data/status.ts';
import { numberIn, revisionIn, selectorOf, type ApiRequest } from '../http/api-request.ts';
import type { Exchange } from '../http/exchange.ts';
import { tableOf, wantsTable } from './table.ts';

/** Serves GET of one object. */
export function serveGet(cluster: Cluster, exchange: Exchange, kind: Kind): void {
  const object = cluster.requested(kind, exchange.request);
  exchange.json(200, wantsTable(exchange.request) ? tableOf(kind, [object], cluster.clock.now()) : object);
}

/** Serves LIST, whole or in pages. The continue token carries the revision that all pages show. */
export function serveList(cluster: Cluster, exchange: Exchange, kind: Kind): void {
  const { request } = exchange;
  const token = readToken(request.query.get('continue'));
  const revision = token?.revision ?? revisionToRead(cluster, request);
  const state = stateAt(cluster.log, revision);
  if (state === 'expired') throw token === undefined ? listExpired() : continueExpired();
  const found = select(state, kind.plural, selectorOf(request, kind));
  const all = token === undefined ? found : found.filter(([key]) => key > token.after);
  const page = all.slice(0, numberIn(request.query, 'limit') || all.length);
  const rest = all.length - page.length;
  const metadata = {
    resourceVersion: String(revision),
    ...(rest > 0 && { continue: writeToken({ revision, after: page.at(-1)?.[0] ?? '' }), remainingItemCount: rest }),
  };
  const objects = page.map(([, object]) => object);
  if (wantsTable(request)) return exchange.json(200, tableOf(kind, objects, cluster.clock.now(), metadata));
  const items = objects.map(asItem);
  exchange.json(200, { kind: `${kind.kind}List`, apiVersion: groupVersion(kind.group), metadata, items });
}

/** Which revision a list shows (kubernetes.io/docs/reference/using-api/api-concepts, semantics for get and list). */
function revisionToRead(cluster: Cluster, request: ApiRequest): number {
  const current = cluster.visibleRevision;
  const asked = revisionIn(request);
  const match = request.query.get('resourceVersionMatch') ?? '';
  if (match !== '' && asked === undefined) {
    throw invalid('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (match === 'Exact' && asked === 0) {
    throw invalid('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (asked === undefined || asked === 0) return current;
  if (asked > current) throw tooFarAhead(asked, current);
  // Without resourceVersionMatch, a limit makes the requested revision exact.
  const isExact = match === 'Exact' || (match === '' && numberIn(request.query, 'limit') !== undefined);
  return isExact ? asked : current;
}

interface Token {
  revision: number;
  /** The storage key of the last object of the page before. */
  after: string;
}

const writeToken = (token: Token): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: token.revision, start: token.after })).toString('base64url');

function readToken(text: string | null): Token | undefined {
  if (text === null || text === '') return undefined;
  try {
    const { rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { rv: number; start: string };
    if (typeof rv === 'number' && typeof start === 'string') return { revision: rv, after: start };
  } catch {
    // Answered below, like any other invalid token.
  }
  throw badRequest('continue key is not valid: invalid character');
}

/** Items of a list carry neither kind nor apiVersion. */
const asItem = ({ kind: _, apiVersion: __, ...item }: KubeObject): Omit<KubeObject, 'kind' | 'apiVersion'> => item;
