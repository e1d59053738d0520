import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { TlsOptions } from '../credentials/credentials.ts';
import { socketHost, socketPort, timeoutError, unusable } from './address.ts';
import { asFailure } from './failure.ts';

export interface Dial {
  base: URL;
  tls: TlsOptions;
  /** ms until the TLS handshake is done; sockets live in real time. */
  timeoutMs: number;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/**
 * A TLS connection to the server, which has chosen between HTTP/2 and HTTP/1.1 (its `alpnProtocol`, RFC 7301). Throws
 * TransportFailure (never sent), and PodexitError `auth.unusable` for a key that is none.
 */
export function dial({ base, tls, timeoutMs, signal }: Dial): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = open(base, tls);
    const timer = setTimeout(() => socket.destroy(timeoutError('no connection', timeoutMs)), timeoutMs);
    const stop = () => socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    socket.once('secureConnect', () => {
      settled();
      // Finds a peer that vanished without a word, as the agent of HTTP/1.1 does.
      socket.setKeepAlive(true, 15_000);
      resolve(socket);
    });
    // Stays: between here and its first request nobody else listens.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      settled();
      reject(asFailure(error, { sent: false, stale: false }));
    });
    socket.once('close', () => {
      settled();
      reject(asFailure(closedEarly(), { sent: false, stale: false }));
    });
  });
}

function open(base: URL, tls: TlsOptions): TLSSocket {
  const host = socketHost(base);
  try {
    const socket = connect({
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...tls,
      host,
      port: socketPort(base),
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    socket.setNoDelay(true);
    return socket;
  } catch (error) {
    throw unusable(error as NodeJS.ErrnoException);
  }
}

function closedEarly(): NodeJS.ErrnoException {
  return Object.assign(new Error('the connection was closed before its TLS handshake was done'), {
    code: 'ECONNRESET',
  });
}
