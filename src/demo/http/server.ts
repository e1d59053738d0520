import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { failure, Refusal } from '../data/status.ts';
import { connectionOf, cut, isGone, type Incoming, type Outgoing } from './exchange.ts';

/** What a TLS server shows, as PEM; with `http2` it speaks that to clients that offer it, as a real server does. */
export interface Tls {
  key: string;
  cert: string;
  http2?: boolean;
}

export interface HttpServer {
  readonly port: number;
  /** Every connection that is open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Stops listening and ends every connection; the port stays known. */
  suspend(): Promise<void>;
  /** Listens again at the same port. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** `nth` counts the requests of one connection, from 1. */
export type Handle = (request: Incoming, response: Outgoing, body: string, nth: number) => Promise<void>;

/** More than any client of this API sends. */
const maxBody = 3 * 1024 * 1024;

/** Listens on 127.0.0.1. Rejects where the port is taken. */
export async function listen(handle: Handle, port: number, tls: Tls | undefined): Promise<HttpServer> {
  const sockets = new Set<Socket>();
  const served = new WeakMap<object, number>();
  const onRequest = (request: Incoming, response: Outgoing) => {
    // A stream that was cut is part of the play as well.
    if ('stream' in request) request.stream.on('error', () => undefined);
    const nth = (served.get(connectionOf(request)) ?? 0) + 1;
    served.set(connectionOf(request), nth);
    void readThenHandle((...parts) => handle(...parts, nth), request, response);
  };
  const server = createListener(tls, onRequest);
  // Real servers let streams and idle connections live for minutes; the clock that matters here may be a fake one.
  Object.assign(server, { keepAliveTimeout: 120_000, headersTimeout: 0, requestTimeout: 0 });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // A cut connection is part of the play, not an error of this process.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await startListening(server, port);
  const bound = (server.address() as AddressInfo).port;
  const suspend = () => stopListening(server, sockets);
  return { port: bound, sockets, suspend, resume: () => startListening(server, bound), close: suspend };
}

function createListener(tls: Tls | undefined, onRequest: (request: Incoming, response: Outgoing) => void): Server {
  if (tls === undefined) return createServer(onRequest);
  return tls.http2 === true
    ? createSecureServer({ ...tls, allowHTTP1: true }, onRequest)
    : createTlsServer(tls, onRequest);
}

const startListening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });

const stopListening = (server: Server, sockets: ReadonlySet<Socket>): Promise<void> =>
  new Promise((resolve) => {
    if (!server.listening) return resolve();
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });

async function readThenHandle(
  handle: (request: Incoming, response: Outgoing, body: string) => Promise<void>,
  request: Incoming,
  response: Outgoing,
): Promise<void> {
  try {
    await handle(request, response, await readBody(request));
  } catch (error) {
    answerError(response, error);
  }
}

async function readBody(request: Incoming): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) throw new Refusal(failure(413, 'RequestEntityTooLarge', 'limit is 3145728'));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Last resort for what went wrong before or behind an exchange. */
function answerError(response: Outgoing, error: unknown): void {
  if (response.headersSent || isGone(response)) return cut(response);
  const body =
    error instanceof Refusal ? error.body : failure(500, 'InternalError', `Internal error occurred: ${String(error)}`);
  response.writeHead(body.code, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
