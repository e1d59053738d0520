/** Probes of a run over several pods: one report for each --probe, one gate for all, and losses for each pod. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { tracesOfLog } from '../../src/run/traces/traces.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import type { ProbeCounts, ProbeObservation } from '../../src/model/probe-observation.ts';
import type { Trace } from '../../src/model/trace.ts';
import { lossGates, probeReportsOf } from '../../src/run/group/finish.ts';
import { createSharedProbes } from '../../src/run/traces/shared-facts.ts';

const started = (probe: number, target: string, pod?: string): ProbeObservation => ({
  ...{ kind: 'probe-started', probe, target, via: pod === undefined ? 'url' : 'pod-proxy', pod },
  ...{ ratePerSecond: 5, timeoutMs: 1000, keepalive: false },
});

const counts = (probe: number, sent: number, failed = 0, at = 0): ProbeCounts => ({
  ...{ kind: 'probe-counts', probe, since: at - 500, new: { sent, failed }, latency: [] },
  failures: failed === 0 ? [] : [{ kind: 'refused', connection: 'new', first: at - 100, last: at - 50, count: failed }],
});

function probesOf(...observations: readonly [at: number, ProbeObservation][]) {
  const probes = createSharedProbes();
  observations.forEach(([at, one], index) => probes.take({ ...one, at, seq: index + 1 }));
  return probes;
}

it('reports `pod` once for all pods, and each address separately', () => {
  const { all } = probesOf(
    [0, started(0, 'http://shop')],
    [500, counts(0, 10)],
    [600, started(1, 'pod:8080', 'a')],
    [1000, counts(1, 5, 1, 1000)],
    [1200, started(2, 'pod:8080', 'b')],
    [1700, counts(2, 7, 2, 1700)],
  );
  expect(probeReportsOf(all(), [])).toMatchObject([
    { target: 'http://shop', sent: 10, failed: 0 },
    { target: 'pod:8080', sent: 12, failed: 3, windows: [{ failed: 3 }] },
  ]);
});

it('judges the losses of the whole run, also those between two exits, by the limit or by none', () => {
  const { all } = probesOf([0, started(0, 'http://shop')], [9000, counts(0, 100, 1, 9000)]);
  const of = (gates: Parameters<typeof lossGates>[1]['gates']) => lossGates(all(), { gates });
  expect(of([])).toEqual([{ name: 'max-lost', passed: false, message: '1 of 100 requests failed' }]);
  expect(of([{ kind: 'max-lost', count: 1 }])).toMatchObject([{ passed: true }]);
});

it('says of a loss how many other pods left within a minute before it or later', () => {
  const probes = probesOf([0, started(0, 'http://shop')], [95_000, counts(0, 10, 4, 95_000)]);
  const trace = { ...emptyTrace, deletion: { seenAt: 90_000 } } as unknown as Trace;
  const begun = new Map([...Object.entries({ own: 90_000, longAgo: 20_000, before: 40_000, after: 92_000 })]);
  expect(probes.in(trace, 'own', begun).probes.get(0)?.otherPods).toBe(2);
});

it('attributes no loss to a pod before its deletion', () => {
  const probes = probesOf(
    [0, started(0, 'http://shop')],
    [1000, counts(0, 10, 4, 1000)],
    [5000, counts(0, 10, 1, 5000)],
  );
  const trace = { ...emptyTrace, deletion: { seenAt: 4000 } } as unknown as Trace;
  const own = probes
    .in(trace, 'a', new Map())
    .probes.get(0)
    ?.slices.map(({ value }) => value.new.failed);
  expect(own).toEqual([1]);
});

/** A replay of one pod of a rollout: a lost request may have been sent to another one that left. */
it('counts the pods that it does not trace among those that left', () => {
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
  const began = { kind: 'began', mode: 'attach', namespace: 'shop', name: '', target: 'deployment/web' } as const;
  const log: RawObservation[] = [
    { at, ...began, graceSeconds: null, timeoutSeconds: null, waitReplacement: false },
    { at, ...started(0, 'http://shop') },
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
