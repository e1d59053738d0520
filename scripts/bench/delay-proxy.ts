/** A TCP proxy that makes 127.0.0.1 as far away as another continent: each direction is late by half the round trip. */
import type { Socket } from 'node:net';
import type { Proxy } from './proxy.ts';
import { startProxy } from './proxy.ts';

/** The handshake of TCP itself is answered here at once; so the connection is let through only a round trip later. */
export const startDelayProxy = (target: number, roundTripMs: number): Promise<Proxy> =>
  startProxy(target, (near, reach) => {
    near.pause();
    setTimeout(() => {
      const far = reach();
      late(near, far, roundTripMs / 2);
      late(far, near, roundTripMs / 2);
      near.resume();
    }, roundTripMs);
  });

/** In order, since timers of one length fire in the order in which they were set. */
function late(from: Socket, to: Socket, ms: number): void {
  from.on('data', (chunk) => setTimeout(() => void (to.destroyed || to.write(chunk)), ms));
  from.on('end', () => setTimeout(() => to.end(), ms));
  from.on('close', () => setTimeout(() => to.destroy(), ms));
}
