import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

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
export function flushHeaders(response: Outgoing): void {
  if (isFirstVersion(response)) response.flushHeaders();
}

/** Whether nothing more can be sent. */
export function isGone(response: Outgoing): boolean {
  return response.writableEnded || streamOf(response).destroyed;
}

/** Ends the answer without a word: the connection in HTTP/1.1, in HTTP/2 the stream alone. */
export function cut(response: Outgoing): void {
  if (isFirstVersion(response)) response.destroy();
  // Without an error Node would end the stream in order, and a client could not tell that anything is missing.
  else (response as Http2ServerResponse).stream.destroy(new Error('cut'));
}

/** What all requests of one connection have in common. */
export function connectionOf(request: Incoming): object {
  return 'stream' in request ? (request.stream.session ?? request.stream) : request.socket;
}

function streamOf(response: Outgoing): { destroyed: boolean } {
  return isFirstVersion(response) ? response : (response as Http2ServerResponse).stream;
}

function isFirstVersion(response: Outgoing): response is ServerResponse {
  return !('stream' in response);
}
