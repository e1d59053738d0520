import type { Cluster } from '../cluster.ts';
import type { Kind } from '../data/kinds.ts';
import { methodNotAllowed, noSuchPath } from '../data/status.ts';
import type { Verb } from '../http/api-request.ts';
import type { Exchange } from '../http/exchange.ts';
import { serveChange } from './change.ts';
import { serveDelete } from './delete.ts';
import { discovery } from './discovery.ts';
import { serveEviction } from './evict.ts';
import { serveGet, serveList } from './list.ts';
import { serveLog } from './logs.ts';
import { serveProxy, type Backends } from './proxy.ts';
import { serveWatch, type WatchOptions } from './watch.ts';

export interface ServeOptions extends WatchOptions {
  /** What /version says. */
  version: string;
  /** Called for each DELETE or eviction of a pod that was executed. */
  accepted: () => void;
  /** What stands behind the proxies of services and pods; without it there are none. */
  backends?: Backends | undefined;
}

/** Answers one request. Throws a Refusal for whatever cannot be served. */
export async function serve(cluster: Cluster, exchange: Exchange, options: ServeOptions): Promise<void> {
  const { path, method, kind, query } = exchange.request;
  if (kind === undefined) return serveOther(exchange, options);
  const isTried = query.getAll('dryRun').includes('All');
  if (!isTried && isTrigger(cluster, method, path)) return serveTrigger(cluster, exchange);
  return exchange.request.subresource === undefined
    ? byVerb[exchange.request.verb](cluster, exchange, kind, options)
    : serveSubresource(cluster, exchange, kind, options);
}

type Serve = (cluster: Cluster, exchange: Exchange, kind: Kind, options: ServeOptions) => void | Promise<void>;

const byVerb: Record<Verb, Serve> = {
  get: (cluster, exchange, kind) => serveGet(cluster, exchange, kind, nameIn(exchange)),
  list: (cluster, exchange, kind) => serveList(cluster, exchange, kind),
  watch: serveWatch,
  delete: async (cluster, exchange, kind, options) => {
    if (await serveDelete(cluster, exchange, kind, nameIn(exchange))) options.accepted();
  },
  patch: (cluster, exchange, kind) => serveChange(cluster, exchange, kind, nameIn(exchange)),
  update: (cluster, exchange, kind) => serveChange(cluster, exchange, kind, nameIn(exchange)),
  create: () => {
    throw methodNotAllowed();
  },
};

async function serveSubresource(
  cluster: Cluster,
  exchange: Exchange,
  kind: Kind,
  options: ServeOptions,
): Promise<void> {
  const { subresource, verb } = exchange.request;
  if (subresource === 'proxy') return serveProxy(cluster, exchange, kind, options.backends);
  if (kind.plural !== 'pods') throw noSuchPath();
  if (subresource === 'log' && verb === 'get') return serveLog(cluster, exchange, nameIn(exchange));
  if (subresource === 'status') return byVerb[verb](cluster, exchange, kind, options);
  if (subresource !== 'eviction' || verb !== 'create') throw noSuchPath();
  if (await serveEviction(cluster, exchange, nameIn(exchange))) options.accepted();
}

/** The recorded request that made a controller delete the pod: a client that sends it begins the story itself. */
function isTrigger({ story, director }: Cluster, method: string, path: string): boolean {
  const { trigger } = story;
  return trigger.kind === 'other' && !director.begun() && trigger.method === method && trigger.path === path;
}

async function serveTrigger(cluster: Cluster, exchange: Exchange): Promise<void> {
  const { director, story } = cluster;
  const { answer } = story.trigger;
  director.begin();
  if (answer === undefined) throw noSuchPath();
  await cluster.sleep(director.untilRecorded(answer.at));
  exchange.json(answer.status, cluster.answer(answer.body, answer.at));
}

function serveOther(exchange: Exchange, { version }: ServeOptions): void {
  const { path, method } = exchange.request;
  const document = method === 'GET' ? discovery(path, version) : undefined;
  if (document !== undefined) return exchange.json(200, document);
  if (path === '/healthz' || path === '/readyz' || path === '/livez') return exchange.text(200, 'ok');
  // Whatever is asked, and in whatever encoding: everybody may do everything here.
  if (method === 'POST' && path === `/apis/${accessReview.apiVersion}/selfsubjectaccessreviews`) {
    return exchange.json(201, accessReview);
  }
  throw noSuchPath();
}

const accessReview = {
  kind: 'SelfSubjectAccessReview',
  apiVersion: 'authorization.k8s.io/v1',
  metadata: {},
  spec: {},
  status: { allowed: true },
};

function nameIn({ request }: Exchange): string {
  if (request.name === undefined) throw methodNotAllowed();
  return request.name;
}
