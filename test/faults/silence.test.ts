/** A stream is silent while nothing happens: 30 s, the default grace period, must cause no reconnect and no gap. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

it("a silence of 30 s causes no reconnect, and podexit opens only the node's streams after the DELETE", async () => {
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
});

it('podexit asks about a pod that is silent for 5 s, no sooner', async () => {
  const { requests } = await traced(loadRecording('no-grace-spec-default'));
  const askedAt = requests.flatMap(({ verb, resource, subresource, at }) =>
    verb === 'get' && resource === 'pods' && subresource === undefined ? [at] : [],
  );
  const pauses = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? NaN));
  expect(askedAt.length).toBeGreaterThan(3);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5000);
});
