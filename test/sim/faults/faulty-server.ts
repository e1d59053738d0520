/** The embedded API server with things that go wrong. */
import { startLoopback as startServer, type Loopback, type LoopbackOptions } from '../../../src/demo/loopback.ts';
import type { Fault } from './fault.ts';
import { createFaults } from './faults.ts';
import { keepFreePort } from './kept-port.ts';

export interface FaultyOptions extends LoopbackOptions {
  faults?: readonly Fault[];
}

/** A server that goes down comes back at its port, which nobody else is given meanwhile. */
export async function startLoopback({ faults = [], ...options }: FaultyOptions): Promise<Loopback> {
  const interfere: LoopbackOptions['interfere'] = (cluster) => createFaults(faults, cluster);
  if (options.port !== undefined || !faults.some(({ kind }) => kind === 'down')) {
    return startServer({ ...options, interfere });
  }
  const kept = await keepFreePort();
  const server = await startServer({ ...options, port: kept.port, interfere });
  const close = async () => {
    await server.close();
    await kept.release();
  };
  return Object.create(server, { close: { value: close } }) as Loopback;
}
