/** podexit lists Services once. A server that is busy at that time must not cost the endpoints. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

const busy = { kind: 'status', resource: 'services', verb: 'list' } as const;

it.each([
  ['busy twice', { ...busy, code: 429, times: 2 }],
  ['failing once', { ...busy, code: 500, times: 1 }],
])('podexit lists Services again if the server is %s, and nothing is missing', async (_, fault) => {
  const { report, warnings } = await traced(loadRecording('graceful-exit'), { server: { faults: [fault] } });
  expect(report?.endpoints).toMatchObject([{ service: 'checkout', otherReady: 1 }]);
  expect(report?.gaps).toEqual([]);
  expect(warnings).toEqual([]);
});

it('a list of Services that arrives after the DELETE leaves a gap that ends', async () => {
  const fault = { ...busy, code: 429, retryAfterSeconds: 4, times: 1 };
  const { report } = await traced(loadRecording('prestop-exceeds-grace'), { server: { faults: [fault] } });
  const gaps = report?.gaps ?? [];
  expect(gaps.map(({ resource, cause }) => [resource, cause])).toEqual([
    ['services', 'not-synced'],
    ['endpointslices', 'not-synced'],
  ]);
  expect(gaps.every(({ to }) => to !== undefined)).toBe(true);
  expect(report?.endpoints).toHaveLength(1);
});

it('podexit warns if it may not list Services, and reports the rest', async () => {
  const fault = { ...busy, code: 403 };
  const { report, warnings } = await traced(loadRecording('graceful-exit'), { server: { faults: [fault] } });
  expect(report?.verdict.outcome).toBe('graceful');
  expect(report?.endpoints).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining('no permission to list services')]);
});
