/** Runs a table of cases: each is judged as a live run would have been, and only its report is looked at. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../../src/model/report.ts';
import { after, containerOf, judged, markOf, recorded, told } from '../../helpers/cases.ts';
import { linesOf } from '../../helpers/owned.ts';
import { judgeStory } from '../../helpers/simulated.ts';
import { plainStory } from '../../sim/plain-story.ts';
import type { Case, ContainerExpectation, Expectation, Said, Window } from './case.ts';

export function walk(topic: string, cases: readonly Case[]): void {
  describe(topic, () => {
    it.each(cases.map((one) => [one.sentence, one] as const))('%s', async (_, { of, edit = [], expect: wanted }) => {
      const original = typeof of === 'string' ? await recorded(of) : told(of);
      const sightings = edit.reduce<typeof original>((all, change) => [...change(all)], original);
      const report = judged(sightings);
      check(report, wanted);
      if (wanted.truth && typeof of !== 'string') expect(judgeStory(plainStory(of)).wrong).toEqual([]);
      wanted.holds?.(report, sightings, () => judged(original));
    });
  });
}

function check(report: ExitReport, wanted: Expectation): void {
  const { verdict } = report;
  const evidence = linesOf(report).join('\n');
  const codes = verdict.findings.map(({ code }) => code as string);
  if (wanted.trigger !== undefined) expect(report.trigger.kind).toBe(wanted.trigger);
  if (wanted.evidence) expect(evidence).toMatch(wanted.evidence);
  if (wanted.noEvidence) expect(evidence).not.toMatch(wanted.noEvidence);
  if (wanted.outcome !== undefined) expect(verdict.outcome).toBe(wanted.outcome);
  if (wanted.notOutcome !== undefined) expect(verdict.outcome).not.toBe(wanted.notOutcome);
  if (wanted.exitCode !== undefined) expect(verdict.exitCode).toBe(wanted.exitCode);
  if (wanted.report) expect(report).toMatchObject(wanted.report);
  for (const code of wanted.findings ?? []) expect(codes).toContain(code);
  for (const code of wanted.without ?? []) expect(codes).not.toContain(code);
  for (const [code, words] of Object.entries(wanted.says ?? {})) expect(wordsOf(report, code)).toMatch(words);
  for (const [code, severity] of Object.entries(wanted.severity ?? {}))
    expect(verdict.findings.find((finding) => finding.code === code)?.severity, code).toBe(severity);
  const phases = report.phases.map(({ name }) => name as string);
  expect(phases).toEqual(expect.arrayContaining([...(wanted.phases ?? [])]));
  for (const name of wanted.noPhases ?? []) expect(phases).not.toContain(name);
  for (const [id, said] of Object.entries(wanted.marks ?? {})) checkSaid(report, markAt(report, id), said, id);
  for (const [name, one] of Object.entries(wanted.containers ?? {})) checkContainer(report, name, one);
}

function checkContainer(report: ExitReport, name: string, wanted: ContainerExpectation): void {
  const container = containerOf(report, name);
  if (wanted.outcome !== undefined) expect(container.outcome, name).toBe(wanted.outcome);
  for (const outcome of wanted.notOutcome ?? []) expect(container.outcome, name).not.toBe(outcome);
  if (wanted.code !== undefined) expect(container.exit?.code, name).toBe(wanted.code);
  if (wanted.stopSignal !== undefined) checkSaid(report, container.stopSignal, wanted.stopSignal, `signal of ${name}`);
  if (wanted.kill !== undefined) checkSaid(report, container.kill, wanted.kill, `kill of ${name}`);
  if (wanted.exit !== undefined) checkSaid(report, container.exit?.at, wanted.exit, `exit of ${name}`);
  if (wanted.preStop === false) expect(container.preStop, name).toBeUndefined();
  else if (wanted.preStop !== undefined) expect(container.preStop?.outcome, name).toBe(wanted.preStop);
  if (wanted.preStopEnd) checkSaid(report, container.preStop?.end, wanted.preStopEnd, `hook of ${name}`);
}

type Instant = { earliest: string; latest: string } | undefined;

function checkSaid(report: ExitReport, instant: Instant, said: Said, what: string): void {
  if (typeof said === 'boolean') {
    expect(instant !== undefined, `${what} is said`).toBe(said);
    return;
  }
  checkWindow(after(report, instant), said, what);
}

function checkWindow(at: { earliest: number; latest: number }, { after: from, before, until }: Window, what: string) {
  if (from !== undefined) expect(at.earliest, what).toBeGreaterThan(from);
  if (before !== undefined) expect(at.latest, what).toBeLessThan(before);
  if (until !== undefined) expect(at.latest, what).toBeGreaterThan(until);
}

const markAt = (report: ExitReport, id: string): Instant =>
  report.marks.some((mark) => mark.id === id)
    ? markOf(report, id).at
    : report.marks.find(({ name }) => name === id)?.at;

function wordsOf({ verdict }: ExitReport, code: string): string {
  const finding = verdict.findings.find((one) => one.code === code);
  return `${finding?.message ?? 'no such finding'}\n${finding?.advice ?? ''}`;
}
