import { setMaxListeners } from 'node:events';
import type { OutgoingHttpHeaders } from 'node:http';
import { PodexitError } from '../../errors.ts';
import type { Cluster, ClusterMemory, StreamedResponse, ApiRequest, SingleRequest } from '../cluster.ts';
import type { Identify, Identity } from '../credentials/credentials.ts';
import { showUrl } from '../redact.ts';
import type { Env } from '../env.ts';
import { maxSilenceMs, readJson } from './body.ts';
import type { Exchange, Reply } from './exchange.ts';
import { TransportFailure } from './failure.ts';
import type { Transport } from './transport.ts';

interface ClientOptions extends Pick<Cluster, 'memory' | 'env' | 'closed' | 'clean'> {
  /** The API server's address. Its path, if any, is put before the path of every request. */
  base: URL;
  transport: Transport;
  identify: Identify;
  userAgent: string;
  /** --request-timeout; 0 or absent: none. Streams are limited until their headers, writes until they are connected. */
  requestTimeoutMs?: number;
  /** Each request is in exactly one. Watches by path and selectors: one that resumes is not counted again. */
  counts: { watches: Set<string>; logs: number; others: number };
}

/** Every request of a run goes through here: one transport, one identity, one place for redirects and renewals. */
export function createClient(options: ClientOptions): Pick<Cluster, 'request' | 'stream' | 'sendOnce'> {
  const stream = async (request: ApiRequest): Promise<StreamedResponse> => {
    const reply = await follow(options, request);
    options.memory.reached = true;
    return { ...reply, dated: dated(reply) };
  };
  return {
    sendOnce: (request) => sendOnce(options, request),
    stream,
    async request(request) {
      return await withTimeout(timeoutFor(options, request), request, async (bounded) => {
        const response = await stream(bounded);
        const body = await readJson(response.body, request.signal, request.maxBytes);
        return { ...response, at: options.env.now(), body };
      });
    },
  };
}

/** Only for reads: an abandoned write may still be executed. (Connecting has its own limit.) */
function timeoutFor({ requestTimeoutMs }: ClientOptions, { method }: ApiRequest): number | undefined {
  return method === 'GET' ? requestTimeoutMs : undefined;
}

const maxRedirects = 5;

/** `renew`: of the credentials that were sent. */
type AuthenticatedReply = Reply & Pick<Identity, 'renew'>;

/** Follows redirects, but only of a GET within one origin, since a redirected request carries our credentials. */
async function follow(options: ClientOptions, request: ApiRequest): Promise<AuthenticatedReply> {
  let url = urlOf(options.base, request.path, request.query);
  for (let hops = 0; ; hops++) {
    const reply = await sendAuthenticated(options, (identity) => retryStale(options, request, url, identity));
    if (![301, 302, 303, 307, 308].includes(reply.status)) return reply;
    reply.body.resume();
    const { location } = reply.headers;
    const next = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || next.origin !== url.origin || request.method !== 'GET' || hops === maxRedirects) {
      throw redirected(options.base, request.method, next);
    }
    url = next;
  }
}

/** After a 401 renews the credentials and sends again, once: a request that was not authenticated was not executed. */
async function sendAuthenticated(
  { identify }: ClientOptions,
  exchange: (identity: Identity) => Promise<Reply>,
): Promise<AuthenticatedReply> {
  for (let renewed = false; ; renewed = true) {
    const identity = await identify();
    const reply = await exchange(identity);
    const { renew } = identity;
    if (reply.status !== 401 || renewed || !renew()) return { ...reply, renew };
    reply.body.resume();
  }
}

async function send(
  { transport, userAgent, env, counts, closed }: ClientOptions,
  identity: Identity,
  request: Omit<Exchange, 'tls' | 'now'>,
): Promise<Reply> {
  if (closed.aborted) throw new TransportFailure('the cluster was closed', { sent: false, code: 'ECONNABORTED' });
  count(counts, request.url);
  // All streams of a trace listen to one signal, and Node warns on stderr from the eleventh on.
  if (request.signal !== undefined) setMaxListeners(0, request.signal);
  return transport.exchange({
    ...request,
    headers: inUtf8({ ...request.headers, 'user-agent': userAgent, ...identity.headers }),
    tls: identity.tls,
    now: () => env.now(),
  });
}

function count(counts: ClientOptions['counts'], { pathname, searchParams }: URL): void {
  if (searchParams.has('watch'))
    counts.watches.add(`${pathname} ${searchParams.get('fieldSelector')} ${searchParams.get('labelSelector')}`);
  else counts[/\/pods\/[^/]+\/log$/.test(pathname) ? 'logs' : 'others'] += 1;
}

/** Follows no redirects, and retries no broken connections: a probe measures what happens to this one request. */
async function sendOnce(options: ClientOptions, { method, path, headers, signal }: SingleRequest): Promise<Reply> {
  const { base } = options;
  const url = new URL(`${pathPrefix(base)}${path}`, base.origin);
  if (url.origin !== base.origin)
    throw new PodexitError('probe.path', 'a path leads away from the API server', 'Check --probe.');
  // Headers that only the run may set: they authenticate or impersonate a user, or belong to the connection.
  const reserved = /^(?:authorization|impersonate-.*|host|connection|content-length|transfer-encoding)$/i;
  const allowed = Object.entries(headers).filter(([name]) => !reserved.test(name));
  // A probe's own timeout, which aborts its requests, is shorter.
  const timeouts = { connectTimeoutMs: maxSilenceMs, headersTimeoutMs: maxSilenceMs };
  return await sendAuthenticated(options, (identity) =>
    send(options, identity, {
      ...{ method, url, signal, ...timeouts },
      headers: { accept: '*/*', ...Object.fromEntries(allowed) },
    }),
  );
}

/** Sends a GET again at once if the server closed a kept-alive connection while we sent (RFC 9112 §9.3.1). */
async function retryStale(options: ClientOptions, request: ApiRequest, url: URL, identity: Identity): Promise<Reply> {
  const { env } = options;
  for (let tries = 1; ; tries++) {
    const started = env.now();
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    try {
      const reply = await send(options, identity, {
        method: request.method,
        url,
        headers: {
          ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
          accept: request.accept ?? 'application/json',
        },
        body,
        signal: request.signal,
        // As in kubectl.
        connectTimeoutMs: limit(options.requestTimeoutMs, 30_000),
        headersTimeoutMs: limit(timeoutFor(options, request), request.answerWithinMs ?? maxSilenceMs),
        onSent: (sentAt) => request.onSent?.(sentAt),
      });
      env.log(6, options.clean(`${request.method} ${loggedUrl(url)} ${reply.status} in ${reply.at - started} ms`));
      return reply;
    } catch (error) {
      if (error instanceof TransportFailure) {
        env.log(6, options.clean(`${request.method} ${loggedUrl(url)} failed: ${error.message}`));
        reportShortage(error, options.memory, env);
        if (error.stale && request.method === 'GET' && tries < 3) continue;
      }
      throw error;
    }
  }
}

function limit(requestedMs: number | undefined, maxMs: number): number {
  return requestedMs ? Math.min(requestedMs, maxMs) : maxMs;
}

/** The path in the server's address goes before the request's own. */
export function urlOf(base: URL, path: string, query: ApiRequest['query'] | URLSearchParams = {}): URL {
  const url = new URL(base.origin);
  url.pathname = `${pathPrefix(base)}${path}`;
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  for (const [name, value] of entries) if (value !== undefined) url.searchParams.append(name, value);
  return url;
}

const pathPrefix = (base: URL): string => base.pathname.replace(/\/+$/, '');

/** Includes the selectors: they are no secrets, and the caller applies `clean`. */
const loggedUrl = (url: URL): string => `${showUrl(url)}${url.search}`;

function dated({ headers, sentAt, at }: Reply): StreamedResponse['dated'] {
  const date = Date.parse(headers.date ?? '');
  return Number.isNaN(date) ? [] : [{ kind: 'dated', at, sentAt, date }];
}

async function withTimeout<T>(
  ms: number | undefined,
  request: ApiRequest,
  run: (request: ApiRequest) => Promise<T>,
): Promise<T> {
  if (!ms) return await run(request);
  const timer = AbortSignal.timeout(ms);
  const signal = request.signal === undefined ? timer : AbortSignal.any([timer, request.signal]);
  try {
    return await run({ ...request, signal });
  } catch (error) {
    if (timer.aborted && !request.signal?.aborted) {
      const message = `no answer within --request-timeout (${ms / 1000} s)`;
      throw new TransportFailure(message, { sent: true, code: 'ETIMEDOUT', cause: error });
    }
    throw error;
  }
}

function redirected(base: URL, method: string, next: URL | undefined): PodexitError {
  const where =
    next === undefined
      ? 'without a valid Location'
      : next.origin !== base.origin
        ? `to ${showUrl(next.origin)}: refusing to forward credentials`
        : method !== 'GET'
          ? `a ${method}, which podexit does not follow`
          : `more than ${maxRedirects} times`;
  return new PodexitError(
    'server.redirected',
    `the server ${showUrl(base)} redirects ${where}`,
    'Set the address of the API server itself in the kubeconfig (or with --server).',
  );
}

/**
 * Makes Node send header values in UTF-8, as Go and so kubectl do: Node writes one byte for each character, and refuses
 * those beyond Latin-1. The body must not be a string: Node would then send the headers in the body's encoding too.
 */
function inUtf8(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.map(bytesOf) : bytesOf(value)]),
  );
}

const bytesOf = <T>(value: T): T | string =>
  typeof value === 'string' ? Buffer.from(value, 'utf8').toString('latin1') : value;

/**
 * Messages by Node's error code, for connections that this machine cannot open. The server never receives such a
 * request, and in a report the gap looks like a lost connection.
 */
const shortages: Readonly<Record<string, string>> = {
  EMFILE: 'this process may open no more files (EMFILE), so some streams have gaps; raise the limit: ulimit -n 8192',
  ENFILE: 'this machine may open no more files (ENFILE), so some streams have gaps; close other programs',
  EADDRNOTAVAIL: 'this machine has no free local port (EADDRNOTAVAIL), so some streams have gaps',
};

/** Prints it on stderr, once for each cluster, at any `-v`. */
export function reportShortage(failure: TransportFailure, memory: ClusterMemory, { log }: Pick<Env, 'log'>): void {
  const words = shortages[failure.code];
  if (words === undefined || memory.reportedShortage === failure.code) return;
  memory.reportedShortage = failure.code;
  log(0, words);
}
