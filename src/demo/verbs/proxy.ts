/** `services/NAME/proxy` and `pods/NAME/proxy`: a request is passed on to the server that stands for them. */
import type { Cluster } from '../cluster.ts';
import type { Kind } from '../data/kinds.ts';
import { failure, noSuchPath, notFound, Refusal } from '../data/status.ts';
import type { Exchange } from '../http/exchange.ts';

/** The URL of the HTTP server that answers for a Service or a pod; undefined: nothing does. */
export type Backends = (resource: string, name: string) => string | undefined;

export async function serveProxy(cluster: Cluster, exchange: Exchange, kind: Kind, backends?: Backends): Promise<void> {
  const { name: named = '', namespace, method, query, rest = '/' } = exchange.request;
  if (!backends) throw noSuchPath();
  // [SCHEME:]NAME[:PORT]
  const name = named.replace(/^https?:/, '').replace(/:.*$/, '');
  if (!cluster.get(kind.plural, namespace, name)) throw notFound(kind, name);
  const backend = backends(kind.plural, name);
  if (backend === undefined) throw unavailable(`no endpoints available for service "${name}"`);
  const url = new URL(rest, backend);
  url.search = query.toString();
  const answer = await fetch(url, { method, redirect: 'manual' }).catch((error: unknown) => {
    throw unavailable(`error trying to reach service: ${dialError((error as Error).cause, url.host)}`);
  });
  exchange.text(answer.status, await answer.text());
}

/** As Go's dialer and transport say it. */
const dialError = (cause: unknown, host: string): string =>
  (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : 'EOF';

const unavailable = (message: string): Refusal => new Refusal(failure(503, 'ServiceUnavailable', message));
