import { connect, isIP, type Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { Cancel } from './client.ts';

export interface Address {
  host: string;
  port: number;
  tls?: { ca?: string; insecure: boolean; protocols: string[] };
}

/**
 * A connection of its own, with TLS where the address has it. Calls `connected` or `failed` once, and neither after a
 * cancel; errors of the socket after `connected` belong to who took it.
 */
export function dial(
  { host, port, tls }: Address,
  connected: (socket: Socket, protocol: string | false) => void,
  failed: (error: NodeJS.ErrnoException) => void,
): Cancel {
  const socket = tls
    ? secureConnect({
        host,
        port,
        servername: isIP(host) === 0 ? host : undefined,
        ca: tls.ca,
        rejectUnauthorized: !tls.insecure,
        ALPNProtocols: tls.protocols,
      })
    : connect({ host, port });
  socket.setNoDelay(true);
  let isDone = false;
  let isResolving = isIP(host) === 0;
  const settle = (work: () => void): void => {
    if (isDone) return;
    isDone = true;
    work();
  };
  const fail = (error: NodeJS.ErrnoException): void => settle(() => failed(error));
  // Stays: an error after all is settled must not end the process.
  socket.on('error', fail);
  socket.once('lookup', () => (isResolving = false));
  socket.once('close', () => fail(closedEarly()));
  socket.once(tls ? 'secureConnect' : 'connect', () =>
    settle(() => connected(socket, 'alpnProtocol' in socket ? (socket.alpnProtocol as string | false) : false)),
  );
  return () => {
    isDone = true;
    socket.destroy();
    return isResolving ? 'dns' : undefined;
  };
}

export const closedEarly = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the connection was closed before the answer came'), { code: 'ECONNRESET' });
