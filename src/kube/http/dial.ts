import { connect, isIP, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import { asFailure, closedBefore, socketHost, socketPort, timeoutError, unusable } from './failure.ts';

export interface Dial<T> {
  base: URL;
  tls: TlsOptions;
  /** ms until the TLS handshake is done; sockets live in real time. */
  timeoutMs: number;
  /** Ends the attempt. */
  signal: AbortSignal;
  /** What else takes time, and is done while the handshake is under way. */
  meanwhile(): Promise<T>;
}

/**
 * A TLS connection to the server, which has chosen between HTTP/2 and HTTP/1.1 (its `alpnProtocol`, RFC 7301). Throws
 * TransportFailure (never sent), and PodexitError `auth.unusable` for a key that is none.
 */
export function dial<T>({ base, tls, timeoutMs, signal, meanwhile }: Dial<T>): Promise<{ socket: TLSSocket; done: T }> {
  return new Promise((resolve, reject) => {
    const plain = connect({ host: socketHost(base), port: socketPort(base) });
    plain.setNoDelay(true);
    let socket: Socket = plain;
    const timer = setTimeout(() => socket.destroy(timeoutError('no connection', timeoutMs)), timeoutMs);
    const stop = () => socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    const rejectWith = (error: Error) => {
      settled();
      reject(error);
    };
    const watch = (one: Socket) => {
      // Stays: until its first request there is no other listener.
      one.on('error', (error: NodeJS.ErrnoException) => rejectWith(asFailure(error, { sent: false, stale: false })));
      one.once('close', () =>
        rejectWith(asFailure(closedBefore('its TLS handshake was done'), { sent: false, stale: false })),
      );
    };
    watch(plain);
    const secured = (secure: TLSSocket) => {
      socket = secure;
      watch(secure);
      const doing = nextTurn().then(meanwhile);
      secure.once('secureConnect', () => {
        settled();
        // Finds a peer that vanished without a word, as the agent of HTTP/1.1 does.
        secure.setKeepAlive(true, 15_000);
        void doing.then((done) => resolve({ socket: secure, done }), rejectWith);
      });
    };
    secureOver(plain, base, tls).then(secured, (error: Error) => {
      rejectWith(error);
      plain.destroy();
    });
  });
}

/** TLS on a connection as soon as that is made. The modules for it are loaded while the connection's first packet is on its way. */
async function secureOver(plain: Socket, base: URL, options: TlsOptions): Promise<TLSSocket> {
  const connected = new Promise((resolve) => plain.once('connect', resolve));
  await nextTurn();
  const { connect: secure, createSecureContext } = await import('node:tls');
  const secureContext = usable(() => createSecureContext(options));
  await connected;
  const host = socketHost(base);
  return secure({
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...options,
    secureContext,
    host,
    socket: plain,
    ALPNProtocols: ['h2', 'http/1.1'],
  });
}

function usable(context: () => SecureContext): SecureContext {
  try {
    return context();
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
}

/** Of the event loop: the packets of this turn are on their way then. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
