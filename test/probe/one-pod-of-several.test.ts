/** A replay of one pod of a rollout: the other pods left too, and a lost request may have been sent to one of them. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';

const at = Date.parse('2026-11-28T10:00:00Z');

const terminating = (name: string) => ({
  kind: 'Pod',
  metadata: {
    ...{ name, namespace: 'shop', uid: name, resourceVersion: '2', creationTimestamp: '2026-11-28T09:00:00Z' },
    ...{ deletionTimestamp: '2026-11-28T10:00:30Z', deletionGracePeriodSeconds: 30 },
  },
  spec: { containers: [{ name: 'app', image: 'web' }] },
  status: { phase: 'Running' },
});

it('counts the pods that it does not trace among those that left', () => {
  const began = { kind: 'began', mode: 'attach', namespace: 'shop', name: '', target: 'deployment/web' } as const;
  const log: RawObservation[] = [
    { at, ...began, graceSeconds: null, timeoutSeconds: null, waitReplacement: false },
    {
      ...{ at, kind: 'probe-started', probe: 0, target: 'http://shop', via: 'url' },
      ...{ ratePerSecond: 20, timeoutMs: 1000, keepalive: false },
    },
    ...['web-0', 'web-1', 'web-2'].map((name, index): RawObservation => {
      const change = { kind: 'changed', stream: 'pods', change: 'MODIFIED' } as const;
      return { at: at + index * 1000, ...change, object: terminating(name) };
    }),
  ];
  const traces = tracesOfLog(({ metadata }) => metadata.name === 'web-1');
  log.forEach((one, index) => traces.add(observe(one, index + 1, { logText: false })));
  expect(traces.keys()).toEqual(['web-1']);
  expect(traces.get('web-1')?.probes.get(0)?.otherPods).toBe(2);
});
