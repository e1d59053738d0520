/** The DELETE does not wait for these streams: podexit opens them at the same time. */
import { expect, it } from 'vitest';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Traced } from './helpers/traced.ts';
import { traced } from './helpers/traced.ts';

/** When podexit first requests the node's Events and its Lease; ms after the DELETE. */
function askedAfter({ requests }: Traced): number[] {
  const sent = requests.find(({ method }) => method === 'DELETE')?.at ?? NaN;
  const last = requests.filter(
    ({ resource, url }) => resource === 'leases' || decodeURIComponent(url).includes('kind=Node'),
  );
  const firsts = new Map([...last].reverse().map(({ resource, at }) => [resource, at]));
  expect([...firsts.keys()].sort()).toEqual(['events', 'leases']);
  return [...firsts.values()].map((at) => at - sent).sort((a, b) => a - b);
}

it('podexit opens the last streams in time for a pod that is removed at once', async () => {
  const run = await traced(loadRecording('force-delete'));
  expect(run.trace?.gone?.value).toBe('deleted');
  expect(askedAfter(run).at(-1)).toBeLessThan(200);
});

it('podexit opens the last streams at once if it sends no DELETE', async () => {
  const run = await traced(loadRecording('graceful-exit'), {
    live: { mode: 'attach' },
    server: { attachDelayMs: 100 },
  });
  expect(run.requests.some(({ method }) => method === 'DELETE')).toBe(false);
  const [first] = run.requests;
  const lease = run.requests.find(({ resource }) => resource === 'leases');
  expect((lease?.at ?? NaN) - (first?.at ?? NaN)).toBeLessThan(100);
});

it('podexit gets the namespace again when the pod of an attached run is deleted: that may be the cause', async () => {
  const run = await traced(loadRecording('owner-deleted'), {
    live: { mode: 'attach' },
    server: { attachDelayMs: 700 },
  });
  const asked = run.requests.filter(({ resource }) => resource === 'namespaces').map(({ at }) => at);
  const seen = run.trace?.deletion?.seenAt ?? NaN;
  expect(asked).toHaveLength(2);
  expect(asked[0]).toBeLessThan(seen);
  expect(asked[1]).toBeGreaterThanOrEqual(seen);
});

it.each([20, 100, 180])('podexit reports a node that becomes NotReady %i ms after the DELETE', async (ms) => {
  const scenario = loadRecording('graceful-exit');
  const notReady = (server: Loopback, name: string) =>
    server.write('nodes', 'MODIFIED', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: 'of-the-node' },
      spec: {},
      status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
    });
  const run = await traced(scenario, {
    watch: ({ server, clock }, { kind }) => {
      if (kind === 'requested') clock.setTimeout(() => notReady(server, 'node1'), ms);
    },
  });
  expect(run.report?.marks.map(({ id }) => id)).toContain('node-not-ready/node1');
});

it('podexit reads the namespace if no Killing comes, which a terminating namespace would refuse', async () => {
  const { requests } = await traced(loadRecording('node-down'), { live: { timeoutMs: 4000 } });
  expect(requests.filter(({ resource }) => resource === 'namespaces')).toHaveLength(1);
});

it.each([false, true])(
  'podexit names the replacement by what changed since the DELETE; history lost: %s',
  async (isLost) => {
    const run = await traced(loadRecording('graceful-exit'), {
      watch: ({ server }, { kind }) => {
        if (isLost && kind === 'answered') server.compact();
      },
    });
    const watched = run.requests.filter(({ url }) => url.includes('labelSelector=app') && url.includes('watch=1'));
    expect(watched[0]?.url).toContain('resourceVersion=');
    const name = run.report?.replacement?.name;
    expect(isLost ? [undefined, 'checkout-754699c75f-rqfbr'] : ['checkout-754699c75f-rqfbr']).toContain(name);
  },
);
