/** A cluster in which much happens that is not about the pod: the traced pod's siblings change 200 times a second. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLoopback } from '../../src/loopback/loopback.ts';
import type { Loopback } from '../../src/loopback/loopback.ts';
import { parseScenario } from '../../src/loopback/scenario.ts';
import { recordingFile } from '../../test/helpers/recordings.ts';

export interface BusyCluster {
  server: Loopback;
  /** `-n NAMESPACE --kubeconfig FILE` */
  flags: string[];
  close(): Promise<void>;
}

export const changesPerSecond = 200;

export async function startBusyCluster(recording: string): Promise<BusyCluster> {
  const scenario = parseScenario(readFileSync(recordingFile(recording), 'utf8'));
  const server = await startLoopback({ scenario });
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-bench-')), 'kubeconfig');
  writeFileSync(file, server.kubeconfig());
  let turn = 0;
  // Several a tick, since a timer that fires each 5 ms does not keep its time.
  const chatter = setInterval(() => {
    for (let one = 0; one < changesPerSecond / 20; one += 1)
      server.write('pods', turn < 10 ? 'ADDED' : 'MODIFIED', neighbour(server, turn++));
  }, 50);
  return {
    server,
    flags: ['-n', server.namespace, '--kubeconfig', file],
    close: async () => {
      clearInterval(chatter);
      await server.close();
    },
  };
}

/** Ten pods of the same workload, whose status changes each time. */
function neighbour({ namespace }: Loopback, turn: number) {
  const name = `neighbour-${turn % 10}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: `00000000-0000-4000-8000-00000000000${turn % 10}`,
      labels: { app: 'checkout' },
      annotations: { turn: String(turn) },
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { containers: [{ name: 'app', image: 'app' }] },
    status: { phase: 'Running' },
  };
}
