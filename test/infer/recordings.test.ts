import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import {
  mustReport,
  observationsOf,
  recordingNames,
  reportOfRecording,
  secondSeriesNames,
  tracedPodsOf,
  traceOf,
  truthsOf,
} from '../helpers/recordings.ts';
import { rounds } from '../helpers/sweep.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { expected, expectedOfSeries } from './expected.ts';

it('has an expectation for every recording, and a recording for every expectation', () => {
  expect(recordingNames).toEqual(Object.keys(expected).sort());
  expect(recordingNames).toHaveLength(24);
});

describe.each(Object.entries(expected))('the recording %s', (name, wanted) => {
  const report = reportOfRecording(name);

  it('gives its row of the table', async () => {
    const { verdict, containers, trigger } = await report;
    expect({ outcome: verdict.outcome, exitCode: verdict.exitCode, trigger: trigger.kind }).toEqual({
      outcome: wanted.outcome,
      exitCode: wanted.exitCode,
      trigger: wanted.trigger,
    });
    expect(Object.fromEntries(containers.map((one) => [one.name, one.outcome]))).toEqual(wanted.containers);
    const codes = verdict.findings.map((finding) => finding.code);
    expect(codes).toEqual(expect.arrayContaining(wanted.findings));
    expect(codes.filter((code) => wanted.without?.includes(code))).toEqual([]);
  });

  it('claims no instant that the truth contradicts', async () => {
    const held = heldAgainst(await report, truthsOf(name));
    expect(held.filter((one) => !one.hit)).toEqual([]);
    expect(held.length).toBeGreaterThanOrEqual(truthsOf(name).length);
  });

  it('cites only observations that it lists, and lists only what it cites', async () => {
    const document = await report;
    const cited = new Set(collectEvidence(document));
    expect(document.observations.map(({ seq }) => seq)).toEqual([...cited].sort((a, b) => a - b));
  });

  it('has no negative duration and no interval that ends before it begins', async () => {
    const { phases, marks } = await report;
    expect(phases.filter(({ seconds }) => seconds.min < 0 || seconds.max < seconds.min)).toEqual([]);
    expect(marks.filter(({ at }) => at.earliest > at.latest)).toEqual([]);
  });

  it('orders exits as they happened', async () => {
    const exits = (await report).marks.filter((mark) => mark.name === 'exited').map((mark) => mark.subject);
    const inTruth = truthsOf(name)
      .filter((truth) => truth.exited !== undefined)
      .sort((a, b) => ((a.exited ?? '') < (b.exited ?? '') ? -1 : 1))
      .map((truth) => truth.container);
    expect(exits).toEqual(inTruth);
  });
});

it('has an expectation for every recording of the second series', () => {
  expect(secondSeriesNames).toEqual(Object.keys(expectedOfSeries).sort());
});

describe.each(Object.entries(expectedOfSeries))('each pod of the recording %s', (name, wanted) => {
  // Each pod of a rollout takes as long as a recording of one pod.
  const pods = tracedPodsOf(name).then((all) =>
    all
      .slice(0, rounds(4, Infinity))
      .map((one) => ({ ...one, report: mustReport(traceOf(observationsOf(one.rawObservations))) })),
  );

  it('gives its row of the table', async () => {
    for (const { pod, report } of await pods) {
      const outcome = { pod, outcome: report.verdict.outcome, exitCode: report.verdict.exitCode };
      expect(outcome).toEqual({ pod, outcome: wanted.outcome, exitCode: wanted.exitCode });
      expect(Object.fromEntries(report.containers.map((one) => [one.name, one.outcome]))).toEqual(wanted.containers);
      const codes = report.verdict.findings.map((finding) => finding.code);
      expect(codes).toEqual(expect.arrayContaining(wanted.findings));
      expect(codes.filter((code) => wanted.without?.includes(code))).toEqual([]);
    }
  });

  it('claims no instant that the truth contradicts', async () => {
    for (const { pod, report, truths } of await pods) {
      const held = heldAgainst(report, truths);
      const missed = held.filter((one) => !one.hit).map(({ instant, container }) => `${pod} ${container} ${instant}`);
      expect(missed).toEqual([]);
      expect(held.length).toBeGreaterThan(0);
    }
  });
});

describe('the details of single recordings', () => {
  const at = async (name: string, id: string) => {
    const { marks } = await reportOfRecording(name);
    const zero = marks.find((mark) => mark.name === 'requested') ?? marks.find((mark) => mark.name === 'accepted');
    const mark = marks.find((one) => one.id === id);
    if (!zero || !mark) throw new Error(`${name} has no ${id}`);
    const offset = (time: string) => (Date.parse(time) - Date.parse(zero.at.earliest)) / 1000;
    return { earliest: offset(mark.at.earliest), latest: offset(mark.at.latest) };
  };

  it('graceful-exit: the replacement is ready before the old pod is removed', async () => {
    const ready = await at('graceful-exit', 'replacement-ready/checkout-754699c75f-rqfbr');
    expect(ready.latest).toBeLessThan((await at('graceful-exit', 'removed')).earliest);
  });

  it('prestop-exceeds-grace: signal at +5 s, exit at +6.1 s, removed at +7.2 s', async () => {
    const signal = await at('prestop-exceeds-grace', 'stop-signal/app');
    expect(signal.earliest).toBeGreaterThan(4.9);
    expect(signal.latest).toBeLessThan(5.2);
    const exit = await at('prestop-exceeds-grace', 'exited/app');
    expect(exit.earliest).toBeLessThanOrEqual(6.13);
    expect(exit.latest).toBeGreaterThanOrEqual(6.1);
    expect((await at('prestop-exceeds-grace', 'removed')).latest).toBeCloseTo(7.217, 2);
  });

  it('finalizer: example.com/audit held the pod for about 5.56 s', async () => {
    const { verdict } = await reportOfRecording('finalizer');
    expect(verdict.findings.find((finding) => finding.code === 'finalizer-held')?.message).toMatch(
      /finalizer example\.com\/audit held the pod for 5\.6s/,
    );
  });

  it('force-delete: the container ran on for about 2 s, and its log ended within a second of that', async () => {
    const { verdict } = await reportOfRecording('force-delete');
    expect(verdict.findings.find((finding) => finding.code === 'force-deleted')?.message).toContain(
      'probably ran until its log ended, at +2.91s or earlier',
    );
  });

  it.each(['pending', 'completed', 'crashloop'])('%s: the kubelet had nothing to stop', async (name) => {
    const { marks, phases } = await reportOfRecording(name);
    expect(marks.filter((mark) => ['stopping', 'stop-signal', 'kill', 'exited'].includes(mark.name))).toEqual([]);
    expect(phases.filter((phase) => ['prestop', 'drain', 'overtime'].includes(phase.name))).toEqual([]);
  });

  it('statefulset: the replacement has the same name, another uid, and comes after the removal', async () => {
    const report: ExitReport = await reportOfRecording('statefulset');
    expect(report.replacement?.name).toBe(report.pod.name);
    expect(report.replacement?.uid).not.toBe(report.pod.uid);
    const names = report.marks.map((mark) => mark.name);
    expect(names.indexOf('replacement-created')).toBeGreaterThan(names.indexOf('removed'));
  });

  it('node-down: the node was silent for at least 62 s, and the end of the log at +42.6 s is not an exit', async () => {
    const { verdict } = await reportOfRecording('node-down');
    const silent = /did not respond for ([\d.]+)s/.exec(
      verdict.findings.find((finding) => finding.code === 'node-silent')?.message ?? '',
    );
    expect(Number(silent?.[1])).toBeGreaterThanOrEqual(62);
    expect((await at('node-down', 'exited/app')).earliest).toBeGreaterThan(60);
  });

  it('kubelet-restart: one stop signal at +1.1 s, and an exit at +10.1 s though the log ended at +1.8 s', async () => {
    const { marks } = await reportOfRecording('kubelet-restart');
    expect(marks.filter((mark) => mark.name === 'stop-signal')).toHaveLength(1);
    expect((await at('kubelet-restart', 'stop-signal/app')).latest).toBeLessThan(1.2);
    const exit = await at('kubelet-restart', 'exited/app');
    expect(exit.earliest).toBeGreaterThan(9);
    expect(exit.latest).toBeLessThan(10.3);
  });

  it('grace-shortened: the kubelet started termination at +2 s and the kill came 30 s later', async () => {
    expect((await at('grace-shortened', 'stopping/app')).latest).toBeCloseTo(1.985, 2);
    const kill = await at('grace-shortened', 'kill/app');
    expect(kill.earliest).toBeGreaterThan(29.9);
    expect(kill.latest).toBeGreaterThan(32);
  });

  it('two-services: the report names the Service that publishes not-ready addresses', async () => {
    const { verdict } = await reportOfRecording('two-services');
    expect(verdict.findings.find((finding) => finding.code === 'stays-ready')?.message).toContain('internal');
  });
});

function collectEvidence(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'evidence' ? (item as number[]) : collectEvidence(item),
  );
}
