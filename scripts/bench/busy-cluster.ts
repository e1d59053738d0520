/** A busy cluster in its own process. */
import { once } from 'node:events';
import { startServer } from './program.ts';
import type { Passed } from './proxy.ts';

/** What the process reports. */
export interface BusyServer {
  url: string;
  /** The same server, through a relay that records what it forwards. */
  relayUrl: string;
  pod: string;
  namespace: string;
  kubeconfig: string;
}

export const changesPerSecond = 200;

export async function startBusyCluster(recording: string) {
  const { child, ...cluster } = await startServer<BusyServer>('busy-server.ts', [recording]);
  return {
    ...cluster,
    /** What the relay has forwarded. */
    async passed() {
      child.send('passed');
      const [passed] = (await once(child, 'message')) as [Passed[]];
      return passed;
    },
  };
}
