/** An API server that cannot reach the kubelet answers 500 to log requests; everything else works. */
import { expect, it } from 'vitest';
import { loadRecording } from '../demo/helpers/load.ts';
import { traced } from './helpers/traced.ts';

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
