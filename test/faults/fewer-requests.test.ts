/** What saves requests, counted against a run that cannot save them. A path that saves none any more can go. */
import { describe, expect, it } from 'vitest';
import type { Scenario } from '../../src/demo/scenario.ts';
import { loadRecording } from '../demo/helpers/load.ts';
import type { Traced } from './helpers/traced.ts';
import { traced } from './helpers/traced.ts';

const scenario = loadRecording('graceful-exit');
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
  expect(report?.replacement?.name).toBe(ours.report?.replacement?.name);
  expect(report?.replacement?.name).toMatch(/^checkout-/);
});
