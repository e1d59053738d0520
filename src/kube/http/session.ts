import type * as http2 from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { timeoutError } from './address.ts';

/** One HTTP/2 connection. It lives until the server ends it, it is found dead, or `destroy`. */
export interface Session {
  /** Neither end has said goodbye. */
  readonly isOpen: boolean;
  /** Takes one more stream now: it is open, and the server's limit of streams is not reached. */
  readonly hasRoom: boolean;
  /** Something has come back on it before. */
  readonly hasAnswered: boolean;
  /** Throws where the session ended in between; then nothing was sent. */
  open(headers: OutgoingHttpHeaders, signal: AbortSignal | undefined): ClientHttp2Stream;
  /** Whether the server has provably not executed it: it refused it, or said goodbye before it (RFC 9113 §8.7, §6.8). */
  hasRefused(stream: ClientHttp2Stream): boolean;
  destroy(): void;
}

/** Bytes that may be on their way before they are taken: what Go grants, and so kubectl (x/net/http2 transport.go). */
const streamWindow = 4 * 1024 * 1024;
/** Of all streams together; each is held back by its own window. */
const connectionWindow = 256 * 1024 * 1024;

/** ms without a byte either way before the server is asked for a sign of life, and how long that may take. */
const quietMs = 10_000;
const pongMs = 5_000;

/** Speaks HTTP/2 on a connection on which it was agreed. Node's module is handed in, since only TLS needs it loaded. */
export function startSession({ connect, constants }: typeof http2, socket: TLSSocket, base: URL): Session {
  const connection = connect(base.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindow },
  });
  connection.setLocalWindowSize(connectionWindow);
  let streams = 0;
  let hasAnswered = false;
  let lastTaken = Infinity;
  const isOpen = () => !connection.closed && !connection.destroyed;
  // Its streams say the same to those who wait for them.
  connection.on('error', () => undefined);
  connection.on('goaway', (_code: number, lastStreamId: number) => (lastTaken = lastStreamId));
  endWhenDead(connection);

  return {
    get isOpen() {
      return isOpen();
    },
    get hasRoom() {
      return isOpen() && streams < (connection.remoteSettings.maxConcurrentStreams ?? Infinity);
    },
    get hasAnswered() {
      return hasAnswered;
    },
    open(headers, signal) {
      const stream = connection.request(headers, { endStream: false, ...(signal && { signal }) });
      streams++;
      stream.once('close', () => streams--);
      stream.once('response', () => (hasAnswered = true));
      return stream;
    },
    hasRefused: ({ id, rstCode }) => id === undefined || id > lastTaken || rstCode === constants.NGHTTP2_REFUSED_STREAM,
    destroy: () => connection.destroy(),
  };
}

/** All streams share this connection, also the questions that doubt a silent one: so it is tested itself. */
function endWhenDead(connection: ClientHttp2Session): void {
  let patience: NodeJS.Timeout | undefined;
  connection.setTimeout(quietMs, () => {
    patience ??= setTimeout(() => connection.destroy(timeoutError('no sign of life', quietMs + pongMs)), pongMs);
    connection.ping(() => {
      clearTimeout(patience);
      patience = undefined;
    });
  });
  connection.once('close', () => clearTimeout(patience));
}
