/** Runs a table of cases. Each is judged like a live run, by its report alone. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../../src/model/report.ts';
import { after, containerOf, judged, markOf, recorded, storyObservations } from '../../helpers/cases.ts';
import { endedLikeLive } from '../../../scripts/convert/end-like-live.ts';
import { checkPrefixes } from '../../helpers/prefixes.ts';
import { observationsOf } from '../../helpers/recordings.ts';
import { linesOf } from '../../helpers/owned.ts';
import { judgeStory, missedIn } from '../../helpers/simulated.ts';
import { plainStory } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { Case, Edit, ContainerExpectation, Expectation, Reported, Window } from './case.ts';

export function walk(topic: string, cases: readonly Case[]): void {
  describe(topic, () => {
    it.each(cases.map((one) => [one.sentence, one] as const))('%s', async (_, { of, edit = [], expect: wanted }) => {
      const original = typeof of === 'string' ? await recorded(of) : storyObservations(of);
      const rawObservations = edited(original, edit);
      const report = judged(rawObservations);
      check(report, wanted);
      if (wanted.truth && typeof of !== 'string') checkTruth(report, of, edit.length > 0);
      if (wanted.same) expect(outcomesOf(judged(edited(rawObservations, wanted.same)))).toEqual(outcomesOf(report));
      if (wanted.neverWithdraws) expect(brokenIn(rawObservations)).toEqual([]);
      wanted.holds?.(report, rawObservations, () => judged(original));
    });
  });
}

const edited = (rawObservations: readonly RawObservation[], edits: readonly Edit[]): readonly RawObservation[] =>
  edits.reduce((all, change) => change(all), rawObservations);

const outcomesOf = ({ verdict, containers }: ExitReport) => [
  verdict.outcome,
  ...containers.map(({ name, outcome }) => `${name} ${outcome}`),
];

const brokenIn = (rawObservations: readonly RawObservation[]): string[] =>
  checkPrefixes(observationsOf([...endedLikeLive(rawObservations)]), () => undefined).broken;

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
  if (wanted.sentence) expect(report.summary).toMatch(wanted.sentence);
  if (wanted.noMessage) expect(codes.map((code) => wordsOf(report, code)).join('\n')).not.toMatch(wanted.noMessage);
  for (const [code, severity] of Object.entries(wanted.severity ?? {}))
    expect(verdict.findings.find((finding) => finding.code === code)?.severity, code).toBe(severity);
  const phases = report.phases.map(({ name }) => name as string);
  expect(phases).toEqual(expect.arrayContaining([...(wanted.phases ?? [])]));
  for (const name of wanted.noPhases ?? []) expect(phases).not.toContain(name);
  const lengthOf = (one: string) => report.phases.find(({ name }) => name === one);
  for (const [name, window] of Object.entries(wanted.lasting ?? {})) checkSpan(lengthOf(name)?.seconds, window, name);
  for (const [name, window] of Object.entries(wanted.ofGrace ?? {})) checkSpan(lengthOf(name)?.ofGrace, window, name);
  const causes = report.gaps.map(({ cause }) => cause as string);
  expect(causes).toEqual(expect.arrayContaining([...(wanted.gaps ?? [])]));
  for (const cause of wanted.noGaps ?? []) expect(causes).not.toContain(cause);
  expect(report.assumes.map(({ name }) => name)).toEqual(expect.arrayContaining([...(wanted.assumes ?? [])]));
  if (typeof wanted.replacement === 'string') expect(report.replacement?.name).toBe(wanted.replacement);
  else if (wanted.replacement !== undefined) expect(report.replacement !== undefined).toBe(wanted.replacement);
  for (const [id, expected] of Object.entries(wanted.marks ?? {}))
    checkReported(report, markAt(report, id), expected, id);
  for (const [name, one] of Object.entries(wanted.containers ?? {})) checkContainer(report, name, one);
}

function checkContainer(report: ExitReport, name: string, wanted: ContainerExpectation): void {
  const container = containerOf(report, name);
  if (wanted.outcome !== undefined) expect([wanted.outcome].flat(), name).toContain(container.outcome);
  for (const outcome of wanted.notOutcome ?? []) expect(container.outcome, name).not.toBe(outcome);
  if (wanted.code !== undefined) expect(container.exit?.code, name).toBe(wanted.code);
  if (wanted.stopSignal !== undefined)
    checkReported(report, container.stopSignal, wanted.stopSignal, `signal of ${name}`);
  if (wanted.kill !== undefined) checkReported(report, container.kill, wanted.kill, `kill of ${name}`);
  if (wanted.exit !== undefined) checkReported(report, container.exit?.at, wanted.exit, `exit of ${name}`);
  if (wanted.preStop === false) expect(container.preStop, name).toBeUndefined();
  else if (wanted.preStop !== undefined) expect(container.preStop?.outcome, name).toBe(wanted.preStop);
  if (wanted.preStopEnd) checkReported(report, container.preStop?.end, wanted.preStopEnd, `hook of ${name}`);
}

type Instant = { earliest: string; latest: string } | undefined;

function checkReported(report: ExitReport, instant: Instant, expected: Reported, what: string): void {
  if (typeof expected === 'boolean') {
    expect(instant !== undefined, `${what} is reported`).toBe(expected);
    return;
  }
  const reported = report.marks.map(({ id }) => id).join(' ');
  expect(instant, `${what} is not reported; these marks are: ${reported}`).toBeDefined();
  checkWindow(after(report, instant), expected, what);
}

function checkTruth(report: ExitReport, of: Partial<Story>, isEdited: boolean): void {
  const story = plainStory(of);
  expect(isEdited ? missedIn(report, story) : judgeStory(story).wrong).toEqual([]);
}

function checkSpan(span: { min: number; max: number } | undefined, window: Window, what: string): void {
  expect(span, what).toBeDefined();
  checkWindow({ earliest: span?.min ?? NaN, latest: span?.max ?? NaN }, window, what);
}

function checkWindow(at: { earliest: number; latest: number }, wanted: Window, what: string): void {
  const { after: later, before, until, from, width } = wanted;
  if (later !== undefined) expect(at.earliest, what).toBeGreaterThan(later);
  if (before !== undefined) expect(at.latest, what).toBeLessThan(before);
  if (until !== undefined) expect(at.latest, what).toBeGreaterThan(until);
  if (from !== undefined) expect(at.earliest, what).toBeLessThan(from);
  if (width !== undefined) expect(at.latest - at.earliest, what).toBeLessThan(width);
}

const markAt = (report: ExitReport, id: string): Instant =>
  report.marks.some((mark) => mark.id === id)
    ? markOf(report, id).at
    : report.marks.find(({ name }) => name === id)?.at;

function wordsOf({ verdict }: ExitReport, code: string): string {
  const finding = verdict.findings.find((one) => one.code === code);
  return `${finding?.message ?? 'no such finding'}\n${finding?.advice ?? ''}`;
}
