import type { ServerResponse } from 'node:http';
import type { ApiRequest } from './api-request.ts';

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
  response: ServerResponse,
  outbound: Outbound,
): Exchange {
  let isMuted = false;
  let isClosed = false;
  response.once('close', () => (isClosed = true));
  const isGone = (): boolean => isClosed || response.writableEnded;

  function head(status: number, headers: Record<string, string>): void {
    entry.status = status;
    response.writeHead(status, { 'Cache-Control': 'no-cache, private', Date: outbound.date(), ...headers });
  }

  function answer(status: number, contentType: string, body: string, headers: Record<string, string> = {}): void {
    if (isMuted || response.headersSent || isGone()) return;
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

  const exchange: Exchange = {
    request,
    entry,
    json: (status, body, headers) => answer(status, 'application/json', `${JSON.stringify(body)}\n`, headers),
    text: (status, body) => answer(status, 'text/plain', body),
    stream,
    raw,
    mute: () => void (isMuted = true),
    cut() {
      isClosed = true;
      cut(response);
    },
  };
  return exchange;
}

/** Ends the answer without a word. Without an error HTTP/2 would end it in order, and a client could not see that anything is missing. */
export const cut = (response: ServerResponse): void => void response.destroy(new Error('cut'));
