/** A good stream is silent for as long as nothing happens: 30 s, the default grace, must cost no reconnect and no news. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

it("traces a pod killed after 30 s of quiet; only the node's Events and Lease are asked for later than the DELETE", async () => {
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

it('asks now and then whether a silent stream is alive, with small questions', async () => {
  const run = await traced(loadRecording('no-grace-spec-default'));
  const questions = run.requests.filter(({ verb, at }) => verb !== 'watch' && at > (run.requests[0]?.at ?? 0) + 5000);
  expect(questions.length).toBeGreaterThan(3);
  expect(questions.length).toBeLessThan(40);
  const podStream = run.requests.filter(({ verb, resource }) => verb === 'watch' && resource === 'pods');
  expect(podStream).toHaveLength(1);
});
