/** A TCP proxy that makes 127.0.0.1 as far away as another continent: each direction takes half the round trip. */
import type { Socket } from 'node:net';
import type { Proxy } from './proxy.ts';
import { startProxy } from './proxy.ts';

/** The TCP handshake is answered here at once, so the connection is opened a round trip later instead. */
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
