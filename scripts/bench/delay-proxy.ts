/** A TCP proxy that makes 127.0.0.1 as far away as another continent: each direction is late by half the round trip. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface DelayProxy {
  port: number;
  close(): Promise<void>;
}

/** The handshake of TCP itself is answered here at once; so the connection is let through only a round trip later. */
export async function startDelayProxy(target: number, roundTripMs: number): Promise<DelayProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    near.pause();
    setTimeout(() => {
      const far = connect(target, '127.0.0.1');
      for (const socket of [near, far]) {
        socket.setNoDelay(true);
        sockets.add(socket);
        socket.on('error', () => {});
      }
      late(near, far, roundTripMs / 2);
      late(far, near, roundTripMs / 2);
      near.resume();
    }, roundTripMs);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}

/** In order, since timers of one length fire in the order in which they were set. */
function late(from: Socket, to: Socket, ms: number): void {
  from.on('data', (chunk) => setTimeout(() => void (to.destroyed || to.write(chunk)), ms));
  from.on('end', () => setTimeout(() => to.end(), ms));
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}
