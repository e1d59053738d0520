/** What podexit asks the API server for, how often and when. A path that saves no request any more can go. */
import { describe, expect, it } from 'vitest';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import type { Scenario } from '../../src/demo/scenarios.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Traced } from './helpers/traced.ts';
import { traced } from './helpers/traced.ts';

const scenario = loadRecording('graceful-exit');
const replacement = 'checkout-754699c75f-rqfbr';
const ours = await traced(scenario);

/** Requests by kind: `watch pods`, `get pods/log`, `list services`, … */
function kindsOf({ requests }: Traced): Record<string, number> {
  const byKind: Record<string, number> = {};
  for (const { verb, resource, subresource } of requests) {
    const kind = `${verb} ${[resource, subresource].filter((part) => part !== undefined).join('/')}`;
    byKind[kind] = (byKind[kind] ?? 0) + 1;
  }
  return byKind;
}

describe('a deletion of our own', () => {
  it('sends five requests before its DELETE, and twelve in all', () => {
    expect(ours.requests.findIndex(({ method }) => method === 'DELETE')).toBe(5);
    expect(kindsOf(ours)).toEqual({
      'watch pods': 2,
      'watch events': 2,
      'list services': 1,
      'watch endpointslices': 1,
      'get pods/log': 1,
      'delete pods': 1,
      'watch deployments': 1,
      'watch nodes': 1,
      'watch leases': 1,
      'list events': 1,
    });
  });

  it('does not look for who deleted the pod: no ReplicaSet, no Events about owners, no namespace', async () => {
    const theirs = kindsOf(await traced(loadRecording('rolling-update')));
    const more = ['watch events', 'watch replicasets', 'get namespaces'].map(
      (kind) => (theirs[kind] ?? 0) - (kindsOf(ours)[kind] ?? 0),
    );
    expect(more).toEqual([2, 1, 2]);
  });

  it('observes each change of the pod and of its siblings once, although the pod is one of them', () => {
    const changes = ours.observations.flatMap((one) =>
      one.kind === 'changed' && one.object.kind === 'Pod'
        ? [`${one.change} ${one.object.metadata.uid} ${one.object.metadata.resourceVersion}`]
        : [],
    );
    expect(new Set(changes).size).toBe(changes.length);
    const uids = new Set(changes.map((change) => change.split(' ')[1]));
    expect(uids).toContain(ours.trace?.uid);
    expect(uids.size).toBe(2);
  });
});

/** The recording without its Deployment, as after `kubectl delete deployment --cascade=orphan`. */
const orphaned: Scenario = {
  ...scenario,
  rows: scenario.rows.filter((row) => !('resource' in row && row.resource === 'deployments')),
};

it('a ReplicaSet whose Deployment is gone is watched instead of it, and its pods are the siblings', async () => {
  const { requests, report } = await traced(orphaned);
  const watched = requests.filter(({ verb }) => verb === 'watch').map(({ resource }) => resource);
  expect(watched.indexOf('replicasets')).toBeGreaterThan(watched.indexOf('deployments'));
  const siblings = requests.filter(({ url }) => /\/pods\?labelSelector=app/.test(url));
  expect(siblings.map(({ url }) => /labelSelector=([^&]*)/.exec(url)?.[1])).toEqual([
    expect.stringContaining('pod-template-hash'),
  ]);
  expect(report?.replacement?.name).toBe(replacement);
});

/** Without what the replacement did once it was scheduled. */
const held: Scenario = {
  ...scenario,
  rows: scenario.rows.filter((row) => {
    if (row.type !== 'watch' || row.resource !== 'pods') return true;
    const state = JSON.stringify(row.event.object);
    return !state.includes(`"name":"${replacement}"`) || !state.includes('"running"');
  }),
};

it.each([
  ['once, if it has not started 2 s after it was created', held, {}, 1],
  ['not if it has started', scenario, { waitReplacement: true }, 0],
])('the Events about a replacement are watched %s', async (_, played, live, times) => {
  const { requests } = await traced(played, { live });
  expect(requests.filter(({ url }) => url.includes(`involvedObject.name%3D${replacement}`))).toHaveLength(times);
});

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
  const run = await traced(scenario, {
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

it.each([20, 180])('podexit reports a node that becomes NotReady %i ms after the DELETE', async (ms) => {
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
    const run = await traced(scenario, {
      watch: ({ server }, { kind }) => {
        if (isLost && kind === 'answered') server.compact();
      },
    });
    const watched = run.requests.filter(({ url }) => url.includes('labelSelector=app') && url.includes('watch=1'));
    expect(watched[0]?.url).toContain('resourceVersion=');
    const name = run.report?.replacement?.name;
    expect(isLost ? [undefined, replacement] : [replacement]).toContain(name);
  },
);

/** 30 s, the default grace period. */
it("a silence of 30 s causes no reconnect and no gap, only a look at the pod every 5 s and the node's streams", async () => {
  const run = await traced(loadRecording('no-grace-spec-default'));
  expect(run.report?.verdict.outcome).toBe('killed');
  expect(run.lasted).toBeGreaterThan(30_000);
  const streams = run.requests.filter(({ verb, subresource }) => verb === 'watch' || subresource === 'log');
  const opened = streams.map(({ url }) => url.replace(/[&?](resourceVersion|sendInitialEvents)=[^&]*/g, ''));
  expect(opened).toHaveLength(new Set(opened).size);
  const deletion = run.requests.find(({ method }) => method === 'DELETE');
  const later = streams.filter(({ at }) => at > (deletion?.at ?? Infinity));
  for (const { resource, at } of later) {
    expect(['events', 'leases', 'nodes']).toContain(resource);
    expect(at - (deletion?.at ?? 0)).toBeLessThan(500);
  }
  const pod = streams.find(({ resource, verb }) => resource === 'pods' && verb === 'watch');
  const spoken = run.observations.flatMap((one) => (one.kind === 'changed' && one.stream === 'pod' ? [one.at] : []));
  const pauses = spoken.map((at, index) => at - (spoken[index - 1] ?? at));
  expect(Math.max(...pauses)).toBeGreaterThan(29_000);
  expect(pod?.endedAt).toBeGreaterThanOrEqual(spoken.at(-1) ?? Infinity);
  expect(run.report?.gaps).toEqual([]);
  expect(run.observations.filter(({ kind }) => kind === 'resumed' || kind === 'gap')).toEqual([]);

  const looks = run.requests.flatMap(({ verb, resource, subresource, at }) =>
    verb === 'get' && resource === 'pods' && subresource === undefined ? [at] : [],
  );
  expect(looks.length).toBeGreaterThan(3);
  for (const [index, at] of looks.slice(1).entries()) expect(at - (looks[index] ?? NaN)).toBeGreaterThanOrEqual(5000);
});
