import { afterEach } from 'vitest';
import type { Loopback } from '../../sim/faults/faulty-server.ts';
import { startLoopback, type FaultyOptions } from '../../sim/faults/faulty-server.ts';
import { loadRecording } from './load.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export interface Playing {
  server: Loopback;
  clock: VirtualClock;
  /** `/api/v1/namespaces/NAMESPACE`, with the recorded namespace. */
  base: string;
  pods: string;
  pod: string;
}

/** A start time with a fraction of a second that no recording has. */
export const began = Date.parse('2031-05-06T07:08:09.437Z');

const running = new Set<Loopback>();

afterEach(async () => {
  await Promise.all([...running].map((server) => server.close()));
  running.clear();
});

/** Plays a recording in virtual time until the test is over. */
export async function playing(name: string, options: Partial<FaultyOptions> = {}): Promise<Playing> {
  const clock = createVirtualClock(began);
  const server = await startLoopback({ scenario: loadRecording(name), clock, ...options });
  running.add(server);
  const base = `${server.url}/api/v1/namespaces/${server.namespace}`;
  return { server, clock, base, pods: `${base}/pods`, pod: `${base}/pods/${server.pod}` };
}
