import type { ApiRequest } from './api-request.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** What was asked of the server and what became of it. */
export interface RequestLog {
  /** Arrival, in milliseconds of the server's clock. */
  at: number;
  method: string;
  /** With its query. */
  url: string;
  userAgent?: string;
  verb: ApiRequest['verb'];
  resource?: string;
  namespace?: string;
  name?: string;
  subresource?: string;
  body: string;
  /** 1 for the first request of its connection, more for one on a connection that was kept alive. */
  nthOnConnection: number;
  /** 0 while unanswered, and for ever where the connection was cut before an answer. */
  status: number;
  /** Bytes of body sent. */
  sent: number;
  /** Frames or log lines sent on a stream. */
  lines: number;
  /** When the answer ended or its connection was gone. */
  endedAt?: number;
}

/** A response that goes on: watch frames or log lines. */
export interface Stream {
  readonly exchange: Exchange;
  /** One line; the newline is added. */
  line(text: string): void;
  end(): void;
  onClose(listener: () => void): void;
  isOpen(): boolean;
}

/** One request and the means to answer it. */
export interface Exchange {
  readonly request: ApiRequest;
  readonly entry: RequestLog;
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  text(status: number, body: string): void;
  /** Begins a stream; headers go out at once. */
  stream(contentType: string): Stream;
  /** Writes bytes as they are; calls back when they are on their way. */
  raw(bytes: string, sent?: () => void): void;
  /** From now on answers go nowhere. */
  mute(): void;
  /** Ends the connection without a word. */
  cut(): void;
}

/** What a server may do to its answers on their way out. */
export interface Outbound {
  /** The value of the Date header. */
  date(): string;
  /** A stream was opened; its headers are sent. */
  opened(stream: Stream): void;
  /** Sends a line of a stream: now, late, mangled or not at all. */
  outgoing(stream: Stream, line: string, send: (line: string) => void): void;
}

export function createExchange(
  request: ApiRequest,
  entry: RequestLog,
  response: Outgoing,
  outbound: Outbound,
): Exchange {
  let isMuted = false;

  function head(status: number, headers: Record<string, string>): void {
    entry.status = status;
    response.writeHead(status, { 'Cache-Control': 'no-cache, private', Date: outbound.date(), ...headers });
  }

  function answer(status: number, contentType: string, body: string, headers: Record<string, string> = {}): void {
    if (isMuted || response.headersSent || isGone(response)) return;
    const bytes = Buffer.from(body);
    entry.sent += bytes.length;
    head(status, { 'Content-Type': contentType, 'Content-Length': String(bytes.length), ...headers });
    response.end(bytes);
  }

  function stream(contentType: string): Stream {
    head(200, { 'Content-Type': contentType });
    flushHeaders(response);
    const opened: Stream = {
      exchange,
      isOpen: () => !isGone(response),
      line: (text) => outbound.outgoing(opened, `${text}\n`, send),
      end: () => response.end(),
      onClose: (listener) => void response.once('close', listener),
    };
    outbound.opened(opened);
    return opened;
  }

  function send(line: string): void {
    if (isGone(response)) return;
    entry.lines += 1;
    raw(line);
  }

  function raw(bytes: string, sent: () => void = () => {}): void {
    entry.sent += Buffer.byteLength(bytes);
    response.write(bytes, sent);
  }

  const exchange: Exchange = {
    request,
    entry,
    json: (status, body, headers) => answer(status, 'application/json', `${JSON.stringify(body)}\n`, headers),
    text: (status, body) => answer(status, 'text/plain', body),
    stream,
    raw,
    mute: () => void (isMuted = true),
    cut: () => cut(response),
  };
  return exchange;
}

/** HTTP/1.1 and HTTP/2 differ where a connection, or what stands for it, is looked at or destroyed. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** What both have for an answer. */
export interface Outgoing {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(bytes: string, sent?: () => void): boolean;
  end(bytes?: Uint8Array | string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Sends the headers of a stream before its first line; HTTP/2 does so by itself. */
function flushHeaders(response: Outgoing): void {
  if (isFirstVersion(response)) response.flushHeaders();
}

/** Whether nothing more can be sent. */
export const isGone = (response: Outgoing): boolean => response.writableEnded || streamOf(response).destroyed;

/** Ends the answer without a word: the connection in HTTP/1.1, in HTTP/2 the stream alone. */
export function cut(response: Outgoing): void {
  if (isFirstVersion(response)) response.destroy();
  // Without an error Node would end the stream in order, and a client could not tell that anything is missing.
  else (response as Http2ServerResponse).stream.destroy(new Error('cut'));
}

/** What all requests of one connection have in common. */
export const connectionOf = (request: Incoming): object =>
  'stream' in request ? (request.stream.session ?? request.stream) : request.socket;

const streamOf = (response: Outgoing): { destroyed: boolean } =>
  isFirstVersion(response) ? response : (response as Http2ServerResponse).stream;

const isFirstVersion = (response: Outgoing): response is ServerResponse => !('stream' in response);
