/** TCP proxies on 127.0.0.1: one that delays, and one that records what it forwards. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  port: number;
  close(): Promise<void>;
}

/** Calls `accept` with each connection, and with a function that connects to the port `target`. */
async function startProxy(target: number, accept: (near: Socket, reach: () => Socket) => void): Promise<Proxy> {
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

/**
 * Makes 127.0.0.1 as slow as another continent: each direction takes half the round trip. The TCP handshake is
 * answered here at once, so the connection is opened a round trip later instead.
 */
export const startDelayProxy = (target: number, roundTripMs: number): Promise<Proxy> =>
  startProxy(target, (near, reach) => {
    near.pause();
    setTimeout(() => {
      const far = reach();
      forwardLate(near, far, roundTripMs / 2);
      forwardLate(far, near, roundTripMs / 2);
      near.resume();
    }, roundTripMs);
  });

/** Keeps the order, because timers of equal length fire in the order in which they were set. */
function forwardLate(from: Socket, to: Socket, ms: number): void {
  from.on('data', (chunk) => setTimeout(() => void (to.destroyed || to.write(chunk)), ms));
  from.on('end', () => setTimeout(() => to.end(), ms));
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}

/** `at`: of `monotonic`, ms. */
export interface Passed {
  bytes: Buffer;
  at: number;
}

/** ms, on the clock that all processes of the machine share. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Records the times at which it forwards data of the server. `passed`: the data in order. */
export async function startRelay(target: number): Promise<Proxy & { readonly passed: readonly Passed[] }> {
  const passed: Passed[] = [];
  const proxy = await startProxy(target, (near, reach) => {
    const far = reach();
    far.on('data', (bytes: Buffer) => {
      // Before the write, because the program may run at once.
      passed.push({ bytes, at: monotonic() });
      near.write(bytes);
    });
    near.on('data', (bytes: Buffer) => far.write(bytes));
    near.on('end', () => far.end());
    far.on('end', () => near.end());
    for (const socket of [near, far]) socket.on('close', () => [near, far].forEach((one) => one.destroy()));
  });
  return { ...proxy, passed };
}
