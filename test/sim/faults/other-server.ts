/** What other API servers do differently: older ones, ones over TLS, ones that ask for a token, ones with pods that answer. */
import { createServer } from 'node:https';
import { createSecureServer } from 'node:http2';
import type { Cluster } from '../../../src/demo/cluster.ts';
import { failure, invalid, notFound, Refusal } from '../../../src/demo/data/status.ts';
import { kindOf, type Kind } from '../../../src/demo/data/kinds.ts';
import type { Exchange } from '../../../src/demo/http/exchange.ts';
import type { MakeServer } from '../../../src/demo/http/server.ts';
import { checkChange } from './validation.ts';

export interface OtherServer {
  tls?: Tls;
  /** Requests without this bearer token are answered with 401. */
  token?: string;
  /** How `sendInitialEvents` is taken: as a new server takes it, refused by the feature gate, or not understood. */
  streamingLists?: 'serve' | 'refuse' | 'ignore';
  /** What /version says. */
  version?: string;
  /** What stands behind the proxies of services and pods. */
  backends?: Backends;
}

/** What a TLS server shows, as PEM; with `http2` it speaks that to clients that offer it, as a real server does. */
export interface Tls {
  key: string;
  cert: string;
  http2?: boolean;
}

/** The URL of the HTTP server that answers for a Service or a pod; undefined: nothing does. */
export type Backends = (resource: string, name: string) => string | undefined;

export const overTls =
  (tls: Tls): MakeServer =>
  (listener) =>
    tls.http2 === true
      ? createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
          // A stream that was cut is part of the play.
          request.stream?.on('error', () => undefined);
          // Node's HTTP/2 server hands over what its HTTP/1.1 server does.
          (listener as (...parts: unknown[]) => void)(request, response);
        })
      : createServer(tls, listener);

/** A kubeconfig of the plain server, for one with a certificate of its own and a token. */
export function kubeconfigFor(plain: string, url: string, { tls, token }: OtherServer): string {
  const config = JSON.parse(plain) as { clusters: { cluster: object }[]; users: { user: object }[] };
  const authority = tls && Buffer.from(tls.cert).toString('base64');
  for (const one of config.clusters) one.cluster = { server: url, 'certificate-authority-data': authority };
  for (const one of config.users) one.user = { token };
  return JSON.stringify(config);
}

/** Serves a request as such a server does. */
export async function serveAsOther(
  other: OtherServer,
  cluster: Cluster,
  exchange: Exchange,
  serve: () => Promise<void>,
): Promise<void> {
  const { path, query, headers } = exchange.request;
  if (other.token !== undefined && headers['authorization'] !== `Bearer ${other.token}`)
    throw new Refusal(failure(401, 'Unauthorized', 'Unauthorized'));
  if (other.version !== undefined && path === '/version') return exchange.json(200, versionInfo(other.version));
  if (other.streamingLists === 'ignore') query.delete('sendInitialEvents');
  if (other.streamingLists === 'refuse' && query.has('sendInitialEvents'))
    throw invalid(
      'sendInitialEvents',
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
  checkChange(cluster, exchange);
  return (other.backends && proxied(cluster, exchange, other.backends)) ?? serve();
}

function versionInfo(gitVersion: string): object {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return { major, minor, gitVersion };
}

/** Undefined where the request is for no proxy. */
function proxied(cluster: Cluster, { request, text }: Exchange, backends: Backends): Promise<void> | undefined {
  const shape = /^\/api\/v1\/namespaces\/([^/]+)\/(services|pods)\/([^/]+)\/proxy(\/.*)?$/;
  const [isProxied, namespace, resource = '', named = '', rest = '/'] = shape.exec(request.path) ?? [];
  if (isProxied === undefined) return undefined;
  return answerFromBackend();

  async function answerFromBackend(): Promise<void> {
    // [SCHEME:]NAME[:PORT]
    const name = decodeURIComponent(named)
      .replace(/^https?:/, '')
      .replace(/:.*$/, '');
    if (!cluster.get(resource, namespace, name)) throw notFound(kindOf(resource) as Kind, name);
    const backend = backends(resource, name);
    if (backend === undefined) throw unavailable(`no endpoints available for service "${name}"`);
    const url = new URL(rest, backend);
    url.search = request.query.toString();
    const answer = await fetch(url, { method: request.method, redirect: 'manual' }).catch((error: unknown) => {
      throw unavailable(`error trying to reach service: ${dialError((error as Error).cause, url.host)}`);
    });
    text(answer.status, await answer.text());
  }
}

/** As Go's dialer and transport say it. */
const dialError = (cause: unknown, host: string): string =>
  (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : 'EOF';

const unavailable = (message: string): Refusal => new Refusal(failure(503, 'ServiceUnavailable', message));
