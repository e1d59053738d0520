/** A TCP proxy on 127.0.0.1; the caller decides what to do with the data. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Proxy {
  port: number;
  close(): Promise<void>;
}

/** Calls `accept` with each connection, and with a function that connects to the port `target`. */
export async function startProxy(target: number, accept: (near: Socket, reach: () => Socket) => void): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.setNoDelay(true).on('error', () => {});
  };
  const server = createServer((near) => accept(kept(near), () => kept(connect(target, '127.0.0.1'))));
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
