import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { failure, Refusal } from '../data/status.ts';

/** The pair a TLS server shows, as PEM. */
export interface TlsPair {
  key: string;
  cert: string;
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
export type Handle = (request: IncomingMessage, response: ServerResponse, body: string, nth: number) => Promise<void>;

/** More than any client of this API sends. */
const maxBody = 3 * 1024 * 1024;

/** Listens on 127.0.0.1. Rejects where the port is taken. */
export async function listen(handle: Handle, port: number, tls: TlsPair | undefined): Promise<HttpServer> {
  const sockets = new Set<Socket>();
  const served = new WeakMap<Socket, number>();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const nth = (served.get(request.socket) ?? 0) + 1;
    served.set(request.socket, nth);
    void readThenHandle((...parts) => handle(...parts, nth), request, response);
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
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

function startListening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function stopListening(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    if (!server.listening) return resolve();
    server.close(() => resolve());
    for (const socket of sockets) socket.destroy();
  });
}

async function readThenHandle(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await handle(request, response, await readBody(request));
  } catch (error) {
    answerError(response, error);
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
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
function answerError(response: ServerResponse, error: unknown): void {
  if (response.destroyed || response.headersSent) return void response.destroy();
  const body =
    error instanceof Refusal ? error.body : failure(500, 'InternalError', `Internal error occurred: ${String(error)}`);
  response.writeHead(body.code, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
