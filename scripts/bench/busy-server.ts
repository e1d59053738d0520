/**
 * A process of its own, started by busy-cluster.ts: a cluster in which much happens that is not about the pod. The
 * traced pod's siblings change 200 times a second. Reports its address to its parent, what its relay has passed on where the
 * parent asks, and ends with it.
 */
import { readFileSync } from 'node:fs';
import { startLoopback } from '../../src/demo/loopback.ts';
import type { Loopback } from '../../src/demo/loopback.ts';
import { parseScenario } from '../../src/demo/scenario.ts';
import { recordingFile } from '../../test/helpers/recordings.ts';
import type { BusyServer } from './busy-cluster.ts';
import { changesPerSecond } from './busy-cluster.ts';
import { startRelay } from './relay.ts';

const [recording = ''] = process.argv.slice(2);
const scenario = parseScenario(readFileSync(recordingFile(recording), 'utf8'));
const server = await startLoopback({ scenario });

let turn = 0;
// Several a tick, since a timer that fires each 5 ms does not keep its time.
setInterval(() => {
  for (let one = 0; one < changesPerSecond / 20; one += 1)
    server.write('pods', turn < 10 ? 'ADDED' : 'MODIFIED', neighbour(server, turn++));
}, 50);

// In this process, since a further one would take the processor from the program that is measured.
const relay = await startRelay(Number(new URL(server.url).port));
const address: BusyServer = {
  url: server.url,
  relayUrl: `http://127.0.0.1:${relay.port}`,
  pod: server.pod,
  namespace: server.namespace,
  kubeconfig: server.kubeconfig(),
};
process.send?.(address);
process.on('message', () => process.send?.(relay.passed));
process.on('disconnect', () => process.exit());

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
