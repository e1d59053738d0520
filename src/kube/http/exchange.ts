import { setMaxListeners } from 'node:events';
import type { Agent, ClientRequest, IncomingHttpHeaders, OutgoingHttpHeaders, request } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import { asFailure, socketHost, socketPort, timeoutError, unusable } from './failure.ts';
import type { Body } from './body.ts';

/** One HTTP request to one URL, exactly as it goes out. */
export interface Exchange {
  method: string;
  url: URL;
  headers: OutgoingHttpHeaders;
  /** Bytes, never a string: beside one Node would send the headers in the body's encoding (inUtf8 in client.ts). */
  body?: Buffer;
  tls: TlsOptions;
  /** Works at any time, also before there is a connection. */
  signal?: AbortSignal;
  /** ms until the connection is made, and from there until the answer's headers; sockets live in real time. */
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  now(): number;
  /** A connection is made, and the request goes out on it in this very turn; `sentAt` as in the reply. */
  onSent?(sentAt: number): void;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  /** Client clock, ms: not later than the moment the request left. */
  sentAt: number;
  /** Client clock, ms: the headers had arrived. */
  at: number;
  body: Body;
}

/** HTTP/1.1 with or without TLS: Node has a module for each, and a run loads the one that it needs. */
export interface Wire {
  request: typeof request;
  agent: Agent;
}

/**
 * Sends it over HTTP/1.1 and waits for the headers. Throws TransportFailure where none came, PodexitError
 * `auth.unusable`, and an AbortError on abort.
 */
export function exchange(wire: Wire, options: Exchange): Promise<Reply> {
  // One signal ends a whole trace, and Node warns on stderr of the eleventh stream that listens to it.
  if (options.signal !== undefined) setMaxListeners(0, options.signal);
  return new Promise((resolve, reject) => {
    let sentAt = options.now();
    let sent = false;
    const request = openRequest(wire, options);
    const arm = (ms: number, what: string): NodeJS.Timeout =>
      setTimeout(() => request.destroy(timeoutError(what, ms)), ms);
    let timer = arm(options.connectTimeoutMs, 'no connection');

    request.on('socket', (socket) => {
      // Node takes its own listener away before the answer's end is read: an abort just then must not end the process.
      if (!socket.listeners('error').includes(ignore)) socket.on('error', ignore);
      whenConnected(
        socket,
        () => {
          if (!sent) sentAt = options.now();
        },
        () => {
          sent = true;
          options.onSent?.(sentAt);
          clearTimeout(timer);
          timer = arm(options.headersTimeoutMs, 'no answer');
        },
      );
    });
    request.on('response', (body) => {
      clearTimeout(timer);
      // The reader of the body sees its error there; an unread body must not end the process.
      body.on('error', ignore);
      resolve({ status: body.statusCode ?? 0, headers: body.headers, sentAt, at: options.now(), body });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (options.signal?.aborted) reject(error);
      else reject(asFailure(error, { sent: sent || request.reusedSocket, stale: isStale(error, request) }));
    });
    request.end(options.body);
  });
}

const ignore = (): void => {};

/** Throws PodexitError `auth.unusable`. */
export function openRequest(
  { request, agent }: Wire,
  { method, url, headers, tls, signal }: Pick<Exchange, 'method' | 'url' | 'headers' | 'tls' | 'signal'>,
): ClientRequest {
  try {
    return request({
      protocol: url.protocol,
      hostname: socketHost(url),
      port: socketPort(url),
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      agent,
      signal,
      ...(url.protocol === 'https:' ? tls : {}),
    });
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
}

/** The server closed the connection that it had kept as we sent. */
function isStale({ code }: NodeJS.ErrnoException, { reusedSocket }: ClientRequest): boolean {
  return reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** `connecting` is called at the last moment that is surely before the request left. */
function whenConnected(socket: Socket, connecting: () => void, connected: () => void): void {
  if (isSecure(socket)) {
    // A finished handshake has negotiated a protocol; a socket that is being opened has none yet.
    if (socket.getProtocol() !== null && !socket.connecting && !isHandshaking(socket)) return connected();
    socket.once('connect', connecting);
    socket.once('secureConnect', connected);
  } else if (socket.connecting) socket.once('connect', connected);
  else connected();
}

/** Asked of the socket itself, since its class would have to be loaded. */
function isSecure(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket;
}

/** Node keeps this flag on the socket without naming it in its types. */
function isHandshaking(socket: TLSSocket): boolean {
  return (socket as TLSSocket & { secureConnecting?: boolean }).secureConnecting === true;
}
