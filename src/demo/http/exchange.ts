import { type ServerResponse, createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { KubeRequest } from './api-request.ts';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { failure, HttpError } from '../data/status.ts';

/** A request to the server, and how it was answered. */
export interface RequestLog {
  /** Arrival, in milliseconds of the server's clock. */
  at: number;
  method: string;
  /** With its query. */
  url: string;
  userAgent?: string;
  verb: KubeRequest['verb'];
  resource?: string;
  subresource?: string;
  body: string;
  /** Counts the requests of a connection, from 1; more than 1 if the connection was kept alive. */
  nthOnConnection: number;
  /** 0 until answered; it stays 0 if the connection is cut before that. */
  status: number;
  /** Bytes of body sent. */
  sent: number;
  /** Frames or log lines sent on a stream. */
  lines: number;
  /** When the response ended or its connection was lost. */
  endedAt?: number;
  /** It deleted or evicted a pod: neither a dry run nor refused. */
  isAccepted?: boolean;
}

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
  readonly entry: RequestLog;
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  text(status: number, body: string): void;
  /** Begins a stream; headers go out at once. */
  stream(contentType: string): Stream;
  /** Writes bytes as they are; calls back when they have been sent. */
  raw(bytes: string, sent?: () => void): void;
  /** Breaks the connection without an answer. */
  cut(): void;
}

/** What may happen to responses on their way out. */
export interface Outbound {
  /** Milliseconds of the server's clock. */
  now(): number;
  /** Called when a stream is open and its headers are sent. */
  opened(stream: Stream): void;
  /** Sends a line of a stream: now, late, mangled or not at all. */
  outgoing(stream: Stream, line: string, send: (line: string) => void): void;
}

export function createExchange(
  request: KubeRequest,
  entry: RequestLog,
  response: ServerResponse,
  outbound: Outbound,
): Call {
  let isClosed = false;
  response.once('close', () => {
    isClosed = true;
    entry.endedAt = outbound.now();
  });
  const isGone = (): boolean => isClosed || response.writableEnded;

  function head(status: number, headers: Record<string, string>): void {
    entry.status = status;
    const date = new Date(outbound.now()).toUTCString();
    response.writeHead(status, { 'Cache-Control': 'no-cache, private', Date: date, ...headers });
  }

  function answer(status: number, contentType: string, body: string, headers: Record<string, string> = {}): void {
    if (response.headersSent || isGone()) return;
    const bytes = Buffer.from(body);
    entry.sent += bytes.length;
    head(status, { 'Content-Type': contentType, 'Content-Length': String(bytes.length), ...headers });
    response.end(bytes);
  }

  function stream(contentType: string): Stream {
    head(200, { 'Content-Type': contentType });
    response.flushHeaders();
    const opened: Stream = {
      exchange,
      isOpen: () => !isGone(),
      line: (text) => outbound.outgoing(opened, `${text}\n`, send),
      end: () => response.end(),
      onClose: (listener) => void response.once('close', listener),
    };
    outbound.opened(opened);
    return opened;
  }

  function send(line: string): void {
    if (isGone()) return;
    entry.lines += 1;
    raw(line);
  }

  function raw(bytes: string, sent: () => void = () => {}): void {
    entry.sent += Buffer.byteLength(bytes);
    response.write(bytes, sent);
  }

  const exchange: Call = {
    request,
    entry,
    json: (status, body, headers) => answer(status, 'application/json', `${JSON.stringify(body)}\n`, headers),
    text: (status, body) => answer(status, 'text/plain', body),
    stream,
    raw,
    cut() {
      isClosed = true;
      cut(response);
    },
  };
  return exchange;
}

/** Breaks a response off. Without the error, HTTP/2 would end it properly, and clients would not notice the break. */
export const cut = (response: ServerResponse): void => void response.destroy(new Error('cut'));

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
