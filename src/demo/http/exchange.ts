import { type ServerResponse, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { KubeRequest } from './api-request.ts';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { failure, HttpError } from '../data/status.ts';

/** A response without a fixed end: watch frames or log lines. */
export interface Stream {
  readonly exchange: Call;
  /** One line; the newline is added. */
  line(text: string): void;
  end(): void;
  onClose(listener: () => void): void;
  isOpen(): boolean;
}

/** One request and the means to answer it. */
export interface Call {
  readonly request: KubeRequest;
  readonly response: ServerResponse;
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  text(status: number, body: string): void;
  /** Begins a stream; headers go out at once. */
  stream(contentType: string): Stream;
  /** Breaks the connection without an answer. */
  cut(): void;
}

/** `now`: ms of the server's clock. */
export function createExchange(request: KubeRequest, response: ServerResponse, now: () => number): Call {
  let isClosed = false;
  response.once('close', () => (isClosed = true));
  const isGone = (): boolean => isClosed || response.writableEnded;

  function head(status: number, headers: Record<string, string>): void {
    const date = new Date(now()).toUTCString();
    response.writeHead(status, { 'Cache-Control': 'no-cache, private', Date: date, ...headers });
  }

  function answer(status: number, contentType: string, body: string, headers: Record<string, string> = {}): void {
    if (response.headersSent || isGone()) return;
    const bytes = Buffer.from(body);
    head(status, { 'Content-Type': contentType, 'Content-Length': String(bytes.length), ...headers });
    response.end(bytes);
  }

  function stream(contentType: string): Stream {
    head(200, { 'Content-Type': contentType });
    response.flushHeaders();
    return {
      exchange,
      isOpen: () => !isGone(),
      line: (text) => void (isGone() || response.write(`${text}\n`)),
      end: () => response.end(),
      onClose: (listener) => void response.once('close', listener),
    };
  }

  const exchange: Call = {
    request,
    response,
    json: (status, body, headers) => answer(status, 'application/json', `${JSON.stringify(body)}\n`, headers),
    text: (status, body) => answer(status, 'text/plain', body),
    stream,
    cut() {
      isClosed = true;
      cut(response);
    },
  };
  return exchange;
}

/** Breaks a response off. Without the error, HTTP/2 would end it properly, and clients would not notice the break. */
const cut = (response: ServerResponse): void => void response.destroy(new Error('cut'));

export type HttpServer = Awaited<ReturnType<typeof listen>>;

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void>;

export type MakeServer = (listener: RequestListener) => Server;

/** Listens on 127.0.0.1. Rejects if the port is taken. */
export async function listen(handle: Handle, port: number, makeServer: MakeServer = createServer) {
  const sockets = new Set<Socket>();
  const server = makeServer((request, response) => {
    text(request)
      .then((body) => handle(request, response, body))
      .catch((error: unknown) => answerError(response, error));
  });
  // Real servers let streams and idle connections live for minutes, and tests play on a fake clock.
  Object.assign(server, { keepAliveTimeout: 120_000, headersTimeout: 0, requestTimeout: 0 });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
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
