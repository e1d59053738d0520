import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { failure, HttpError } from '../data/status.ts';
import { cut } from './exchange.ts';

export type HttpServer = Awaited<ReturnType<typeof listen>>;

/** `nth` counts the requests of one connection, from 1. */
export type Handle = (request: IncomingMessage, response: ServerResponse, body: string, nth: number) => Promise<void>;

export type MakeServer = (listener: RequestListener) => Server;

/** Listens on 127.0.0.1. Rejects if the port is taken. */
export async function listen(handle: Handle, port: number, makeServer: MakeServer = createServer) {
  const sockets = new Set<Socket>();
  /** Requests per connection, by its port: HTTP/2 has a socket object for each of its streams. */
  const served = new Map<number | undefined, number>();
  const server = makeServer((request, response) => {
    const { remotePort } = request.socket;
    const nth = (served.get(remotePort) ?? 0) + 1;
    served.set(remotePort, nth);
    text(request)
      .then((body) => handle(request, response, body, nth))
      .catch((error: unknown) => answerError(response, error));
  });
  // Real servers let streams and idle connections live for minutes, and tests play on a fake clock.
  Object.assign(server, { keepAliveTimeout: 120_000, headersTimeout: 0, requestTimeout: 0 });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    served.delete(socket.remotePort);
    // Clients may break a connection, and tests cut some: no error of the server.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await startListening(server, port);
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    sockets: sockets as ReadonlySet<Socket>,
    /** Stops listening and ends every connection; `resume` uses the same port. */
    suspend: () => stopListening(server, sockets),
    /** Listens again on the same port. */
    resume: () => startListening(server, bound),
  };
}

async function startListening(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

async function stopListening(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  if (!server.listening) return;
  server.close();
  for (const socket of sockets) socket.destroy();
  await once(server, 'close');
}

/** Last resort for errors before or after an exchange. */
function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return cut(response);
  const body =
    error instanceof HttpError
      ? error.body
      : failure(500, 'InternalError', `Internal error occurred: ${String(error)}`);
  response.writeHead(body.code, { 'Content-Type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}
