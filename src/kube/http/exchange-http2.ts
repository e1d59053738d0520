import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { ClientHttp2Stream, IncomingHttpStatusHeader, OutgoingHttpHeaders } from 'node:http2';
import type { TransportFailure } from './failure.ts';
import { asFailure, timeoutError, unusable } from './failure.ts';
import type { Body } from './body.ts';
import type { Exchange, Reply } from './exchange.ts';
import type { Session } from './sessions.ts';

/** As `exchange`, on a stream of an HTTP/2 connection. */
export function exchangeOver(session: Session, options: Exchange): Promise<Reply> {
  const { signal, headersTimeoutMs } = options;
  // One signal ends a whole trace, and Node warns on stderr of the eleventh stream that listens to it.
  if (signal !== undefined) setMaxListeners(0, signal);
  const headers = headersOf(options);
  return new Promise((resolve, reject) => {
    const wasUsed = session.hasAnswered;
    const sentAt = options.now();
    const stream = open(session, headers, signal);
    options.onSent?.(sentAt);
    stream.end(options.body);
    const timer = setTimeout(() => stream.destroy(timeoutError('no answer', headersTimeoutMs)), headersTimeoutMs);
    let error: NodeJS.ErrnoException = closedEarly();
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

function open(session: Session, headers: OutgoingHttpHeaders, signal: AbortSignal | undefined): ClientHttp2Stream {
  try {
    return session.open(headers, signal);
  } catch (error) {
    throw asFailure(error as NodeJS.ErrnoException, { sent: false, stale: true });
  }
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
  return asFailure(error, { sent: true, stale: wasUsed && !session.isOpen && error.code === 'ECONNRESET' });
}

function closedEarly(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed before the answer came'), { code: 'ECONNRESET' });
}

/** Node ends the reading of a stream whose connection broke as if it had been read to its end. */
function bodyOf(stream: ClientHttp2Stream): Body {
  return {
    resume: () => stream.resume(),
    destroy: () => stream.destroy(),
    async *[Symbol.asyncIterator]() {
      yield* stream as AsyncIterable<unknown>;
      if (stream.rstCode) throw closedEarly();
    },
  };
}
