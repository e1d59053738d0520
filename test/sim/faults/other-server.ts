/** Differences of other API servers: old versions, TLS, bearer tokens, and pods that answer through the proxy. */
import { createServer } from 'node:https';
import { createSecureServer } from 'node:http2';
import type { Playback } from '../../../src/demo/cluster.ts';
import { failure, invalidOption, notFound, HttpError } from '../../../src/demo/data/status.ts';
import { kindOf, type Kind } from '../../../src/demo/data/kube-object.ts';
import type { Call, MakeServer } from '../../../src/demo/http/exchange.ts';

export interface OtherServer {
  tls?: Tls;
  /** Requests without this bearer token are answered with 401. */
  token?: string;
  /** How `sendInitialEvents` is treated: as in a new server, refused by the feature gate, or ignored as unknown. */
  streamingLists?: 'serve' | 'refuse' | 'ignore';
  /** The version that /version returns. */
  version?: string;
  /** The servers behind the proxies of Services and pods. */
  backends?: Backends;
}

/** Key and certificate as PEM. With `http2` the server uses it with clients that offer it, like a real server. */
export interface Tls {
  key: string;
  cert: string;
  http2?: boolean;
}

/** The URL of the HTTP server that answers for a Service or a pod; undefined if none does. */
type Backends = (resource: string, name: string) => string | undefined;

export const overTls =
  (tls: Tls): MakeServer =>
  (listener) =>
    tls.http2 === true
      ? createSecureServer({ ...tls, allowHTTP1: true }, (request, response) => {
          // A broken stream is part of the fault, not an error.
          request.stream?.on('error', () => undefined);
          // Node's HTTP/2 server passes compatible requests and responses to the listener.
          (listener as (...parts: unknown[]) => void)(request, response);
        })
      : createServer(tls, listener);

/** Adapts the kubeconfig of the plain server to a server with its own certificate and a token. */
export function kubeconfigFor(plain: string, url: string, { tls, token }: OtherServer): string {
  const config = JSON.parse(plain) as { clusters: { cluster: object }[]; users: { user: object }[] };
  const authority = tls && Buffer.from(tls.cert).toString('base64');
  for (const one of config.clusters) one.cluster = { server: url, 'certificate-authority-data': authority };
  for (const one of config.users) one.user = { token };
  return JSON.stringify(config);
}

/** Serves a request with these differences. */
export async function serveAsOther(
  other: OtherServer,
  cluster: Playback,
  exchange: Call,
  serve: () => Promise<void>,
): Promise<void> {
  const { path, query, headers } = exchange.request;
  if (other.token !== undefined && headers['authorization'] !== `Bearer ${other.token}`)
    throw new HttpError(failure(401, 'Unauthorized', 'Unauthorized'));
  if (other.version !== undefined && path === '/version') return exchange.json(200, versionInfo(other.version));
  if (other.streamingLists === 'ignore') query.delete('sendInitialEvents');
  if (other.streamingLists === 'refuse' && query.has('sendInitialEvents'))
    throw invalidOption(
      'sendInitialEvents',
      'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    );
  return (other.backends && proxied(cluster, exchange, other.backends)) ?? serve();
}

function versionInfo(gitVersion: string): object {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return { major, minor, gitVersion };
}

/** Undefined if the request is not for a proxy. */
function proxied(cluster: Playback, { request, text }: Call, backends: Backends): Promise<void> | undefined {
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

/** Errors in the words of Go's dialer and transport. */
const dialError = (cause: unknown, host: string): string =>
  (cause as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? `dial tcp ${host}: connect: connection refused` : 'EOF';

const unavailable = (message: string): HttpError => new HttpError(failure(503, 'ServiceUnavailable', message));
