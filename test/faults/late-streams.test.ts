/** Streams that open late or never, because the API server is busy or cannot reach the kubelet; everything else works. */
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

const away = { kind: 'status', verb: 'log', code: 500 } as const;

it('a log that never opens is an open gap, even in an attached run', async () => {
  const { report } = await traced(loadRecording('owner-deleted'), {
    live: { mode: 'attach' },
    server: { attachDelayMs: 700, faults: [away] },
  });
  expect(report?.gaps).toMatchObject([{ resource: 'pods/log', cause: 'not-synced' }]);
  expect(report?.gaps[0]).not.toHaveProperty('to');
  expect(report?.verdict.findings.map(({ code }) => code)).toContain('evidence-lost');
});

it('a log that opens late, but before the deletion, gives no evidence-lost finding', async () => {
  const { report } = await traced(loadRecording('graceful-exit'), {
    server: { faults: [{ ...away, times: 1 }] },
  });
  expect(report?.gaps).toMatchObject([{ resource: 'pods/log', cause: 'not-synced' }]);
  expect(report?.verdict.findings.map(({ code }) => code)).not.toContain('evidence-lost');
});

it('a log that never opens before the DELETE is reported once', async () => {
  const { report } = await traced(loadRecording('graceful-exit'), { server: { faults: [away] } });
  // The DELETE waits for the log, so the watch of the pod's siblings, which follows it, is late too.
  const gaps = report?.gaps.filter(({ cause }) => cause !== 'late');
  expect(gaps).toMatchObject([{ resource: 'pods/log', cause: 'not-synced' }]);
});
