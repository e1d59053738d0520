/** Servers that count what a probe should count. */
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';

export interface Counting {
  port: number;
  url: string;
  server: Server;
  sockets: Set<Socket>;
  close(): Promise<void>;
}

export async function counting(listener: RequestListener, host = '127.0.0.1'): Promise<Counting> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener);
  const port = await listen(server, 0, host);
  const sockets = trackSockets(server);
  const shown = host.includes(':') ? `[${host}]` : host;
  return { port, server, sockets, url: `http://${shown}:${port}/`, close: () => closeAll(server, sockets) };
}

export function trackSockets(server: NetServer): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** The port on which it listens. */
export const listen = (server: NetServer, port = 0, host = '127.0.0.1'): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

export function closeAll(server: NetServer, sockets: Set<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    sockets.forEach((socket) => socket.destroy());
  });
}
