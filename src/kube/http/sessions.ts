import type { TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import { dial } from './dial.ts';
import type { Exchange, Reply } from './exchange.ts';
import { exchangeOver } from './exchange-http2.ts';
import { TransportFailure } from './failure.ts';
import type { Session } from './session.ts';
import { startSession } from './session.ts';

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

/** For one request: a server that says goodbye as often as this does not want it now. */
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
    else pool = [...pool.filter(({ session }) => session.isOpen), { session: startSession(http2, socket, base), tls }];
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
        const found = pool.find(({ session, tls }) => session.hasRoom && isSameIdentity(tls, request.tls));
        // In this very turn, or requests side by side would all take the last room.
        if (found) return await exchangeOver(found.session, request);
        await unlessAborted(dialOnce(request), request.signal);
      }
      throw new TransportFailure('the server takes no request on any connection', false, 'ECONNRESET', false);
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
