import { describe, expect, it } from 'vitest';
import { recordingNames, reportOfRecording, secondSeriesNames, tracedPodsOf, truthsOf } from '../helpers/recordings.ts';
import { exitReportOf } from '../../src/verdict/exit-report.ts';
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

  it('cites for each exit the report of its own container, even if one status reports several', async () => {
    const { marks, observations } = await report;
    for (const { subject, at } of marks.filter(({ name, note }) => name === 'exited' && note?.startsWith('code '))) {
      const cited = observations.filter(({ seq }) => at.evidence.includes(seq)).map(({ what }) => what);
      expect(cited.join('\n')).toContain(`${subject} terminated`);
    }
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
    all.slice(0, rounds(4, Infinity)).map(({ pod, truths, report }) => ({ pod, truths, report: exitReportOf(report) })),
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

function collectEvidence(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === 'evidence' ? (item as number[]) : collectEvidence(item),
  );
}
