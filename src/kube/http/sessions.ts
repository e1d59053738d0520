import { setMaxListeners } from 'node:events';
import { validateHeaderName, validateHeaderValue, type IncomingHttpHeaders } from 'node:http';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpStatusHeader, OutgoingHttpHeaders } from 'node:http2';
import type * as http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import type { Body } from './body.ts';
import { dial } from './dial.ts';
import type { Exchange, Reply } from './exchange.ts';
import { TransportFailure, asFailure, closedBefore, timeoutError, unusable } from './failure.ts';

/** The connections of one run to one server, as long as it speaks HTTP/2. */
export interface Sessions {
  /**
   * Sends a request on a session that has room for it; undefined where the server has chosen HTTP/1.1. Throws what
   * `dial` and `exchangeOver` throw, and the signal's reason on abort.
   */
  exchange(request: Exchange): Promise<Reply | undefined>;
  /** The connection on which the server has chosen HTTP/1.1, once. */
  takeSpare(): TLSSocket | undefined;
  destroy(): void;
}

/** Connections to make for one request: a server that closes as many (GOAWAY) does not take it now. */
const mostDialled = 4;

/** Requests side by side wait for one connection, which they share: a second is made only where the first is full. */
export function createSessions(base: URL): Sessions {
  const stop = new AbortController();
  let pool: { session: Session; tls: TlsOptions }[] = [];
  let dialing: { tls: TlsOptions; done: Promise<void> } | undefined;
  let spare: TLSSocket | undefined;
  let isFirstVersion = false;

  async function grow({ tls, connectTimeoutMs }: Exchange): Promise<void> {
    const { socket, done: http2 } = await dial({
      ...{ base, tls, timeoutMs: connectTimeoutMs, signal: stop.signal },
      meanwhile: () => import('node:http2'),
    });
    if (stop.signal.aborted) return void socket.destroy();
    isFirstVersion = socket.alpnProtocol !== 'h2';
    if (isFirstVersion) spare = socket;
    else
      pool = [...pool.filter(({ session }) => session.isOpen()), { session: startSession(http2, socket, base), tls }];
  }

  function dialOnce(wanted: Exchange): Promise<void> {
    if (dialing !== undefined && isSameIdentity(dialing.tls, wanted.tls)) return dialing.done;
    const done = grow(wanted).finally(() => {
      if (dialing?.done === done) dialing = undefined;
    });
    dialing = { tls: wanted.tls, done };
    return done;
  }

  return {
    async exchange(request) {
      for (let dialled = 0; dialled < mostDialled; dialled++) {
        if (isFirstVersion) return undefined;
        const found = pool.find(({ session, tls }) => session.hasRoom() && isSameIdentity(tls, request.tls));
        // In this very turn, or requests side by side would all take the last room.
        if (found) return await exchangeOver(found.session, request);
        await unlessAborted(dialOnce(request), request.signal);
      }
      const options = { sent: false, code: 'ECONNRESET' };
      throw new TransportFailure('the server takes no request on any connection', options);
    },
    takeSpare() {
      const socket = spare;
      spare = undefined;
      return socket;
    },
    destroy() {
      stop.abort();
      spare?.destroy();
      pool.forEach(({ session }) => session.destroy());
    },
  };
}

/** A plugin may hand out another certificate in the middle of a run; the rest of the options stays. */
function isSameIdentity(one: TlsOptions, other: TlsOptions): boolean {
  return one.cert === other.cert && one.key === other.key;
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Bytes that may be on their way before they are taken: what Go grants, and so kubectl (x/net/http2 transport.go). */
const streamWindow = 4 * 1024 * 1024;
/** Of all streams together; each is held back by its own window. */
const connectionWindow = 256 * 1024 * 1024;

/** ms without a byte either way before the server is sent a PING, and how long its answer may take. */
const quietMs = 10_000;
const pongMs = 5_000;

type Session = ReturnType<typeof startSession>;

/**
 * One HTTP/2 connection, on a socket on which that was agreed. It lives until the server ends it, it is found dead, or
 * `destroy`. Node's module is handed in, since only TLS needs it loaded.
 */
function startSession({ connect, constants }: typeof http2, socket: TLSSocket, base: URL) {
  const connection = connect(base.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: streamWindow },
  });
  connection.setLocalWindowSize(connectionWindow);
  let streams = 0;
  let hasAnswered = false;
  let lastTaken = Infinity;
  /** Neither end has closed it, or sent GOAWAY. */
  const isOpen = (): boolean => !connection.closed && !connection.destroyed;
  // Its streams report the same error.
  connection.on('error', () => undefined);
  connection.on('goaway', (_code: number, lastStreamId: number) => (lastTaken = lastStreamId));
  endWhenDead(connection);

  return {
    isOpen,
    /** Takes one more stream now: it is open, and the server's limit of streams is not reached. */
    hasRoom: (): boolean => isOpen() && streams < (connection.remoteSettings.maxConcurrentStreams ?? Infinity),
    /** Something has come back on it before. */
    hasAnswered: (): boolean => hasAnswered,
    /** Throws TransportFailure where the session ended in between; then nothing was sent. */
    open(headers: OutgoingHttpHeaders, signal: AbortSignal | undefined): ClientHttp2Stream {
      try {
        const stream = connection.request(headers, { endStream: false, signal });
        streams++;
        stream.once('close', () => streams--);
        stream.once('response', () => (hasAnswered = true));
        return stream;
      } catch (error) {
        throw asFailure(error as NodeJS.ErrnoException, { sent: false, stale: true });
      }
    },
    /** Whether the server has provably not executed it: it refused it, or sent GOAWAY before it (RFC 9113 §8.7, §6.8). */
    hasRefused: ({ id, rstCode }: ClientHttp2Stream): boolean =>
      id === undefined || id > lastTaken || rstCode === constants.NGHTTP2_REFUSED_STREAM,
    destroy: (): void => connection.destroy(),
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

/** As `exchange`, on a stream of an HTTP/2 connection. */
function exchangeOver(session: Session, options: Exchange): Promise<Reply> {
  const { signal, headersTimeoutMs } = options;
  // One signal ends a whole trace, and Node warns on stderr of the eleventh stream that listens to it.
  if (signal !== undefined) setMaxListeners(0, signal);
  const headers = headersOf(options);
  return new Promise((resolve, reject) => {
    const wasUsed = session.hasAnswered();
    const sentAt = options.now();
    const stream = session.open(headers, signal);
    options.onSent?.(sentAt);
    stream.end(options.body);
    const timer = setTimeout(() => stream.destroy(timeoutError('no answer', headersTimeoutMs)), headersTimeoutMs);
    let error: NodeJS.ErrnoException = closedBefore('the answer came');
    // Stays: the reader of the body sees its error there; a body that nobody reads must not end the process.
    stream.on('error', (why: NodeJS.ErrnoException) => (error = why));
    stream.once('response', (answer: IncomingHttpHeaders & IncomingHttpStatusHeader) => {
      clearTimeout(timer);
      const status = Number(answer[':status']);
      resolve({ status, headers: answer, sentAt, at: options.now(), body: bodyOf(stream) });
    });
    stream.once('close', () => {
      clearTimeout(timer);
      reject(signal?.aborted ? (signal.reason as Error) : failureOf(session, stream, error, wasUsed));
    });
  });
}

/** HTTP/1.1 checks them by itself. */
function headersOf({ method, url, headers }: Exchange): OutgoingHttpHeaders {
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      for (const one of [value].flat()) validateHeaderValue(name, String(one));
    }
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
  return { ...headers, ':method': method, ':path': `${url.pathname}${url.search}`, ':authority': url.host };
}

/** What the server refused may be sent again at once, and so may a question on a kept connection that just ended. */
function failureOf(
  session: Session,
  stream: ClientHttp2Stream,
  error: NodeJS.ErrnoException,
  wasUsed: boolean,
): TransportFailure {
  if (session.hasRefused(stream)) return asFailure(error, { sent: false, stale: true });
  return asFailure(error, { sent: true, stale: wasUsed && !session.isOpen() && error.code === 'ECONNRESET' });
}

/** Node ends the reading of a stream whose connection broke as if it had been read to its end. */
function bodyOf(stream: ClientHttp2Stream): Body {
  return {
    resume: () => stream.resume(),
    destroy: () => stream.destroy(),
    async *[Symbol.asyncIterator]() {
      yield* stream as AsyncIterable<unknown>;
      if (stream.rstCode) throw closedBefore('the answer came');
    },
  };
}
