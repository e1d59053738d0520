/**
 * A busy cluster in its own process: in this process, its work would delay the reader that times marks.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Passed } from './relay.ts';

/** What the process reports. */
export interface BusyServer {
  url: string;
  /** The same server, through a relay that records what it forwards. */
  relayUrl: string;
  pod: string;
  namespace: string;
  kubeconfig: string;
}

export interface BusyCluster {
  server: BusyServer;
  /** `-n NAMESPACE --kubeconfig FILE` */
  flags: string[];
  /** What the relay has forwarded. */
  passed(): Promise<Passed[]>;
  close(): Promise<void>;
}

export const changesPerSecond = 200;

export async function startBusyCluster(recording: string): Promise<BusyCluster> {
  const child = fork(fileURLToPath(new URL('busy-server.ts', import.meta.url)), [recording], {
    serialization: 'advanced',
  });
  const [server] = (await once(child, 'message')) as [BusyServer];
  const folder = mkdtempSync(join(tmpdir(), 'podexit-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig);
  return {
    server,
    flags: ['-n', server.namespace, '--kubeconfig', kubeconfig],
    async passed() {
      child.send('passed');
      const [passed] = (await once(child, 'message')) as [Passed[]];
      return passed;
    },
    async close() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
