/**
 * A process started by busy-cluster.ts: a cluster with many changes that do not concern the pod. The traced pod's
 * siblings change 200 times a second. It sends its address to its parent, on request what its relay has forwarded, and
 * exits with its parent.
 */
import { readFileSync } from 'node:fs';
import { startLoopback, type Loopback } from '../../src/demo/loopback.ts';
import { parseScenario } from '../../src/demo/scenarios.ts';
import { scenarioFile } from '../../test/helpers/recordings.ts';
import { changesPerSecond, type BusyServer } from './busy-cluster.ts';
import { startRelay } from './proxy.ts';

const [recording = ''] = process.argv.slice(2);
const scenario = parseScenario(readFileSync(scenarioFile(recording), 'utf8'));
const server = await startLoopback({ scenario });

let turn = 0;
// Several per tick, because a timer of 5 ms is not accurate.
setInterval(() => {
  for (let count = 0; count < changesPerSecond / 20; count += 1)
    server.write('pods', turn < 10 ? 'ADDED' : 'MODIFIED', neighbour(server, turn++));
}, 50);

// In this process, because another one would take CPU time from the measured program.
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

/** One of ten pods of the same workload, with a new annotation each time. */
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
