/** A namespace of 1,000 Services, 5,000 slices and 10,000 pods, with 200 changes of other objects a second. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { DemoClock } from '../../src/demo/clock.ts';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Traced } from './helpers/traced.ts';
import { traced } from './helpers/traced.ts';
import { isSweep } from '../helpers/sweep.ts';

const services = 1000;
const slices = 5000;
const pods = 10_000;
const changesIn10s = 200;
/** In each tick of 100 ms: 200 a second. */
const changesAtOnce = 20;

function fill(server: Loopback): KubeObject[] {
  const { namespace } = server;
  const make = (resource: string, kind: string, apiVersion: string, index: number, rest: object): KubeObject => {
    const name = `other-${kind.toLowerCase()}-${index}`;
    const metadata = { name, namespace, uid: `${resource}-${index}`, creationTimestamp: '2026-11-20T00:00:00Z' };
    const object = { kind, apiVersion, ...rest, metadata: { ...metadata, ...(rest as KubeObject).metadata } };
    server.write(resource, 'ADDED', object);
    return object;
  };
  for (let index = 0; index < services; index += 1)
    make('services', 'Service', 'v1', index, { spec: { selector: { app: `other-${index}` }, clusterIP: '10.0.0.1' } });
  const held: KubeObject[] = [];
  for (let index = 0; index < slices; index += 1)
    held.push(
      make('endpointslices', 'EndpointSlice', 'discovery.k8s.io/v1', index, {
        metadata: { labels: { 'kubernetes.io/service-name': `other-service-${index % services}` } },
        addressType: 'IPv4',
        endpoints: [],
      }),
    );
  for (let index = 0; index < pods; index += 1)
    held.push(
      make('pods', 'Pod', 'v1', index, {
        metadata: { labels: { app: `other-${index % services}` } },
        spec: { containers: [] },
        status: { phase: 'Running' },
      }),
    );
  return held;
}

/** Other pods and slices change as long as the server runs. */
function chatter(server: Loopback, clock: DemoClock, held: readonly KubeObject[]): void {
  let next = 0;
  const tick = (): void => {
    for (let change = 0; change < changesAtOnce; change += 1) {
      const object = held[(next += 7919) % held.length] as KubeObject;
      server.write(object.kind === 'Pod' ? 'pods' : 'endpointslices', 'MODIFIED', object);
    }
    clock.setTimeout(tick, 100);
  };
  clock.setTimeout(tick, 100);
}

/** Bytes after a garbage collection. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

/** What the server sends, except for the one paged list of Services. */
const sentIn = ({ requests }: Traced) => {
  const others = requests.filter(({ resource }) => resource !== 'services');
  return {
    bytes: others.reduce((sum, one) => sum + one.sent, 0),
    pages: requests.length - others.length,
  };
};

it('a big namespace costs no more data than a small one, apart from one paged list of Services', async () => {
  const scenario = loadRecording('graceful-exit');
  const small = await traced(scenario);
  const big = await traced(scenario, { prepare: (server, clock) => chatter(server, clock, fill(server)) });
  expect(big.report?.verdict.outcome).toBe(small.report?.verdict.outcome);
  expect(big.report?.verdict.findings.map(({ code }) => code)).toEqual(
    small.report?.verdict.findings.map(({ code }) => code),
  );
  const [few, many] = [sentIn(small), sentIn(big)];
  expect(many.pages).toBe(3);
  expect(Math.abs(many.bytes - few.bytes)).toBeLessThan(20_000);
});

it.runIf(isSweep)(
  'memory stays flat during an hour of waiting in a big namespace',
  async () => {
    const scenario = loadRecording('taint-evicted');
    const heap: number[] = [];
    const run = await traced(scenario, {
      // An hour passes before the taint, with 20 other changes a second.
      server: { attachDelayMs: 3_600_000 },
      live: { timeoutMs: null },
      prepare: (server, clock) => {
        const held = fill(server);
        let next = 0;
        let ticks = 0;
        const tick = (): void => {
          for (let change = 0; change < changesIn10s; change += 1)
            server.write('pods', 'MODIFIED', held[(next += 1) % held.length] as KubeObject);
          ticks += 1;
          if (ticks % 60 === 0) heap.push(heapInUse());
          clock.setTimeout(tick, 10_000);
        };
        clock.setTimeout(tick, 10_000);
      },
    });
    expect(run.report?.verdict.outcome).toBe('graceful');
    expect(run.lasted).toBeGreaterThan(3_600_000);
    expect(heap).toHaveLength(6);
    // Starts when the server has dropped its first changes. The server, its log and this test use memory, too.
    const grown = (Math.max(...heap.slice(2)) - (heap[1] ?? 0)) / 2 ** 20;
    process.stdout.write(`an hour: ${run.observations.length} observations, heap grew by ${grown.toFixed(1)} MB\n`);
    expect(grown).toBeLessThan(16);
  },
  120_000,
);
