import type { Agent, IncomingHttpHeaders, OutgoingHttpHeaders, request } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import { asFailure, socketHost, socketPort, timeoutError, withUsable } from './failure.ts';
import type { Body } from './body.ts';

/** One HTTP request to one URL, exactly as it goes out. */
export interface Exchange {
  method: string;
  url: URL;
  headers: OutgoingHttpHeaders;
  /** Never a string: Node would then send the headers in the body's encoding (inUtf8 in client.ts). */
  body?: Buffer;
  tls: TlsOptions;
  /** Aborts at any time, even before there is a connection. */
  signal?: AbortSignal;
  /** ms until the connection is made, and from then until the answer's headers; in real time. */
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  now(): number;
  /** The request goes out on its connection in this turn; `sentAt` as in the reply. */
  onSent?(sentAt: number): void;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  /** Client clock, ms: not later than the moment the request left. */
  sentAt: number;
  /** Client clock, ms: when the headers had arrived. */
  at: number;
  body: Body;
}

/** Node's module for HTTP/1.1 with or without TLS; a run loads only the one that it needs. */
export interface Wire {
  request: typeof request;
  agent: Agent;
}

/** Sends a request and waits for the headers. Throws TransportFailure if none come, `auth.unusable`, and on abort. */
export function exchange(wire: Wire, options: Exchange): Promise<Reply> {
  const { method, url, headers, tls, signal } = options;
  return new Promise((resolve, reject) => {
    let sentAt = options.now();
    let sent = false;
    const request = withUsable(() =>
      wire.request({
        protocol: url.protocol,
        hostname: socketHost(url),
        port: socketPort(url),
        path: `${url.pathname}${url.search}`,
        ...{ method, headers, agent: wire.agent, signal },
        ...(url.protocol === 'https:' ? tls : {}),
      }),
    );
    const startTimeout = (ms: number, what: string): NodeJS.Timeout =>
      setTimeout(() => request.destroy(timeoutError(what, ms)), ms);
    let timer = startTimeout(options.connectTimeoutMs, 'no connection');

    request.on('socket', (socket) => {
      // Node removes its listener before the answer's end is read: an abort in between must not crash the process.
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
          timer = startTimeout(options.headersTimeoutMs, 'no answer');
        },
      );
    });
    request.on('response', (body) => {
      clearTimeout(timer);
      // A reader of the body gets its error; an unread body must not crash the process.
      body.on('error', ignore);
      resolve({ status: body.statusCode ?? 0, headers: body.headers, sentAt, at: options.now(), body });
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const { reusedSocket } = request;
      // The server closed a kept-alive connection while we sent.
      const isStale = reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      if (signal?.aborted) reject(error);
      else reject(asFailure(error, { sent: sent || reusedSocket, stale: isStale }));
    });
    request.end(options.body);
  });
}

const ignore = (): void => {};

/** Calls `beforeSend` at the last moment that is certainly before the request leaves. */
function whenConnected(socket: Socket, beforeSend: () => void, onConnected: () => void): void {
  if (isSecure(socket)) {
    // A socket has no protocol until its handshake has finished.
    if (socket.getProtocol() !== null && !socket.connecting && socket.secureConnecting !== true) return onConnected();
    socket.once('connect', beforeSend);
    socket.once('secureConnect', onConnected);
  } else if (socket.connecting) socket.once('connect', onConnected);
  else onConnected();
}

/** Checked by a property, since the class TLSSocket would have to be loaded. Node's types do not name `secureConnecting`. */
function isSecure(socket: Socket): socket is TLSSocket & { secureConnecting?: boolean } {
  return 'encrypted' in socket;
}
