/** Runs a file of cases. Each is judged like a live run, by its report alone. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cardLines } from '../../../src/output/text/card.ts';
import { deletedText } from '../../../src/output/pod-facts.ts';
import { missingReplacementText } from '../../../src/run/group/finish.ts';
import { renderText } from '../../../src/output/text/lines.ts';
import { plainPen } from '../../../src/output/palette.ts';
import type { GateSpec } from '../../../src/verdict/policy.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import {
  after,
  changesOf,
  containerOf,
  judged,
  linesOf,
  markOf,
  observationsDuring,
  observedLikeLive,
  recorded,
  renderedOf,
} from '../../helpers/cases.ts';
import { checkPrefixes } from '../../helpers/prefixes.ts';
import { observationsOf, rawObservationsIn, traceOf } from '../../helpers/recordings.ts';
import { judgeStory, missedIn } from '../../helpers/simulated.ts';
import { plainStory } from '../../sim/plain-story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { Case, Check, ContainerExpectation, Edit, Expectation, Reported, Window } from './case.ts';
import { pattern } from '../../helpers/case-file.ts';
import { verdictWith } from './gates.ts';
import type { Story } from '../../sim/story.ts';
import { factsAwaitedUntil } from '../../../src/run/ending/trace-end.ts';
import { storyOf } from '../../sim/story-text.ts';
import { codeOf } from './text.ts';

/** The file has topics, a topic has sentences, and a sentence is a case. */
export function walk(file: string): void {
  const topics = parse(readFileSync(file, 'utf8')) as Record<string, Record<string, Case>>;
  for (const [topic, cases] of Object.entries(topics))
    describe(topic, () => {
      it.each(Object.entries(cases))('%s', async (_, { of, edit = [], expect: wanted, ...unknown }) => {
        expect(unknown).toEqual({});
        const story = typeof of === 'string' ? undefined : plainStory(storyOf(of));
        const original = story ? observationsDuring(story) : await originalOf(of as string);
        const rawObservations = edited(original, edit);
        const run: Run = { story, edit, original, rawObservations, report: judged(rawObservations) };
        checkFields(checks, run, wanted);
      });
    });
}

const originalOf = async (of: string): Promise<readonly RawObservation[]> =>
  of.includes('/') ? rawObservationsIn(fileURLToPath(new URL(`../../${of}`, import.meta.url))) : recorded(of);

interface Run {
  /** Absent: a recording. */
  story: Story | undefined;
  edit: readonly unknown[];
  /** Without the edits. */
  original: readonly RawObservation[];
  rawObservations: readonly RawObservation[];
  report: ExitReport;
}

/** What each field of an expectation means. */
type Checks<Subject, Wanted> = {
  [Field in keyof Wanted]-?: (subject: Subject, wanted: NonNullable<Wanted[Field]>) => void;
};

/** Every field must be known: a misspelt one would check nothing. */
function checkFields<Subject, Wanted extends object>(
  table: Checks<Subject, Wanted>,
  of: Subject,
  wanted: Wanted,
): void {
  expect(Object.keys(wanted)).not.toEqual([]);
  for (const [field, value] of Object.entries(wanted)) {
    const check = (table as Record<string, ((subject: Subject, wanted: unknown) => void) | undefined>)[field];
    if (!check) throw new Error(`a case cannot expect ${field}`);
    check(of, value);
  }
}

const checks: Checks<Run, Expectation> = {
  trigger: ({ report }, kind) => expect(report.trigger.kind).toBe(kind),
  evidence: ({ report }, words) => expect(linesOf(report).join('\n')).toMatch(pattern(words)),
  noEvidence: ({ report }, words) => expect(linesOf(report).join('\n')).not.toMatch(pattern(words)),
  outcome: ({ report }, outcome) => expect(report.verdict.outcome).toBe(outcome),
  notOutcome: ({ report }, outcome) => expect(report.verdict.outcome).not.toBe(outcome),
  exitCode: ({ report }, code) => expect(report.verdict.exitCode).toBe(code),
  containers: ({ report }, wanted) =>
    eachOf(wanted, (one, name) => checkFields(containerChecks, { report, name, one: containerOf(report, name) }, one)),
  marks: ({ report }, wanted) =>
    eachOf(wanted, (reported, id) => checkReported(report, markAt(report, id), reported, id)),
  markCount: ({ report }, wanted) =>
    eachOf(wanted, (count, name) => expect(report.marks.filter((mark) => mark.name === name)).toHaveLength(count)),
  findings: ({ report }, codes) => expect(codesOf(report)).toEqual(expect.arrayContaining([...codes])),
  without: ({ report }, codes) => codes.forEach((code) => expect(codesOf(report)).not.toContain(code)),
  says: ({ report }, wanted) => eachOf(wanted, (words, code) => expect(wordsOf(report, code)).toMatch(pattern(words))),
  noMessage: ({ report }, words) =>
    expect(
      codesOf(report)
        .map((code) => wordsOf(report, code))
        .join('\n'),
    ).not.toMatch(pattern(words)),
  why: ({ rawObservations }, wanted) =>
    eachOf(wanted, (words, code) => expect(whyOf(rawObservations, code)).toMatch(pattern(words))),
  severity: ({ report: { verdict } }, wanted) =>
    eachOf(wanted, (severity, code) =>
      expect(verdict.findings.find((finding) => finding.code === code)?.severity, code).toBe(severity),
    ),
  phases: ({ report }, names) => expect(phasesOf(report)).toEqual(expect.arrayContaining([...names])),
  noPhases: ({ report }, names) => names.forEach((name) => expect(phasesOf(report)).not.toContain(name)),
  lasting: ({ report: { phases } }, wanted) =>
    eachOf(wanted, (window, phase) => checkSpan(phases.find(({ name }) => name === phase)?.seconds, window, phase)),
  ofGrace: ({ report: { phases } }, wanted) =>
    eachOf(wanted, (window, phase) => checkSpan(phases.find(({ name }) => name === phase)?.ofGrace, window, phase)),
  endpoint: ({ report }, window) => checkReported(report, report.endpoints[0]?.removedAt, window, 'endpoint'),
  assumes: ({ report }, names) =>
    expect(report.assumes.map(({ name }) => name)).toEqual(expect.arrayContaining([...names])),
  replacement: ({ report }, name) => expect(report.replacement?.name ?? false).toBe(name),
  awaits: ({ rawObservations }, isSo) =>
    expect(factsAwaitedUntil(traceOf(observationsOf(rawObservations))) === undefined).toBe(isSo),
  awaitsFor: ({ rawObservations }, seconds) => {
    const trace = traceOf(observationsOf(rawObservations));
    expect(Math.max(0, (factsAwaitedUntil(trace) ?? NaN) - (trace.gone?.at ?? NaN))).toBe(seconds * 1000);
  },
  sentence: ({ report }, words) => expect(report.summary).toMatch(pattern(words)),
  report: ({ report }, wanted) => expect(report).toMatchObject(wanted),
  gates: ({ rawObservations }, wanted) => {
    const verdict = verdictWith(rawObservations, Object.keys(wanted).map(specOf));
    for (const [index, { message, exitCode, ...more }] of Object.values(wanted).entries()) {
      expect(verdict.gates[index]).toMatchObject(more);
      if (message !== undefined) expect(verdict.gates[index]?.message).toMatch(pattern(message));
      if (exitCode !== undefined) expect(verdict.exitCode).toBe(exitCode);
    }
  },
  card: ({ rawObservations }, all) =>
    [all].flat().forEach((words) => expect(cardOf(rawObservations)).toMatch(pattern(words))),
  noCard: ({ rawObservations }, words) => expect(cardOf(rawObservations)).not.toMatch(pattern(words)),
  firstLines: ({ rawObservations }, words) => expect(firstLinesOf(rawObservations)).toMatch(pattern(words)),
  notFirstLines: ({ rawObservations }, words) => expect(firstLinesOf(rawObservations)).not.toMatch(pattern(words)),
  longestWait: ({ report: { ledger = [] } }, owner) =>
    expect(ledger.toSorted((a, b) => b.seconds - a.seconds)[0]?.owner ?? 'none').toBe(owner),
  missingReplacement: ({ rawObservations }, words) =>
    expect(missingReplacementText(traceOf(observationsOf(rawObservations)))).toMatch(pattern(words)),
  printed: ({ rawObservations }, all) =>
    [all].flat().forEach((words) => expect(renderText(renderedOf(rawObservations))).toMatch(pattern(words))),
  notPrinted: ({ rawObservations }, words) =>
    expect(renderText(renderedOf(rawObservations))).not.toMatch(pattern(words)),
  lastPod: ({ rawObservations }, wanted) => expect(changesOf(rawObservations, 'pod').at(-1)).toMatchObject(wanted),
  truth: ({ story = plainStory(), edit, report }, wanted) => {
    const wrong = edit.length > 0 ? missedIn(report, story) : judgeStory(story).wrong;
    expect(wanted === true ? wrong : wrong.filter((one) => !/ unknown, not /.test(one))).toEqual([]);
  },
  unchanged: ({ report, original }, names) =>
    names.forEach((name) => expect(parts[name](report)).toEqual(parts[name](judged(original)))),
  same: ({ report, rawObservations }, edits) =>
    expect(outcomesOf(judged(edited(rawObservations, edits)))).toEqual(outcomesOf(report)),
  neverWithdraws: ({ rawObservations }) =>
    expect(checkPrefixes(observedLikeLive(rawObservations), () => undefined).broken).toEqual([]),
  holds: ({ report, rawObservations, original }, check) =>
    (codeOf(check) as Check)(report, rawObservations, () => judged(original)),
};

type ContainerReport = ExitReport['containers'][number];

const containerChecks: Checks<{ report: ExitReport; name: string; one: ContainerReport }, ContainerExpectation> = {
  outcome: ({ one, name }, outcome) => expect([outcome].flat(), name).toContain(one.outcome),
  notOutcome: ({ one, name }, outcomes) => expect(outcomes, name).not.toContain(one.outcome),
  code: ({ one, name }, code) => expect(one.exit?.code, name).toBe(code),
  stopSignal: ({ report, name, one }, wanted) => checkReported(report, one.stopSignal, wanted, `signal of ${name}`),
  kill: ({ report, name, one }, wanted) => checkReported(report, one.kill, wanted, `kill of ${name}`),
  exit: ({ report, name, one }, wanted) => checkReported(report, one.exit?.at, wanted, `exit of ${name}`),
  preStop: ({ one, name }, outcome) => expect([outcome].flat(), name).toContain(one.preStop?.outcome ?? false),
  notPreStop: ({ one, name }, outcomes) => expect(outcomes, name).not.toContain(one.preStop?.outcome),
  preStopEnd: ({ report, name, one }, wanted) => checkReported(report, one.preStop?.end, wanted, `hook of ${name}`),
};

const eachOf = <Value>(wanted: Readonly<Record<string, Value>>, check: (value: Value, key: string) => void): void =>
  Object.entries(wanted).forEach(([key, value]) => check(value, key));

const edited = (rawObservations: readonly RawObservation[], edits: readonly unknown[]): readonly RawObservation[] =>
  edits.reduce<readonly RawObservation[]>((all, edit) => (codeOf(edit) as Edit)(all), rawObservations);

const codesOf = ({ verdict }: ExitReport): string[] => verdict.findings.map(({ code }) => code);
const phasesOf = ({ phases }: ExitReport): string[] => phases.map(({ name }) => name);
const outcomesOf = ({ verdict, containers }: ExitReport) => [
  verdict.outcome,
  ...containers.map(({ name, outcome }) => `${name} ${outcome}`),
];

type Instant = { earliest: string; latest: string } | undefined;

const bounds = (at: Instant) => at && [at.earliest, at.latest];
/** Parts of a report to compare. */
const parts = {
  everything: (report: ExitReport): unknown => report,
  endpoints: ({ endpoints }: ExitReport): unknown => endpoints,
  codes: codesOf,
  stopSignals: ({ containers }: ExitReport): unknown => containers.map(({ stopSignal }) => bounds(stopSignal)),
  hookEnds: ({ containers }: ExitReport): unknown => containers.map(({ preStop }) => bounds(preStop?.end)),
};

function checkReported(report: ExitReport, instant: Instant, expected: Reported, what: string): void {
  if (typeof expected === 'boolean') {
    expect(instant !== undefined, `${what} is reported`).toBe(expected);
    return;
  }
  const reported = report.marks.map(({ id }) => id).join(' ');
  expect(instant, `${what} is not reported; these marks are: ${reported}`).toBeDefined();
  checkFields(windowChecks, { ...after(report, instant), what }, expected);
}

function checkSpan(span: { min: number; max: number } | undefined, window: Window, what: string): void {
  expect(span, what).toBeDefined();
  checkFields(windowChecks, { earliest: span?.min ?? NaN, latest: span?.max ?? NaN, what }, window);
}

const windowChecks: Checks<{ earliest: number; latest: number; what: string }, Window> = {
  after: ({ earliest, what }, seconds) => expect(earliest, what).toBeGreaterThan(seconds),
  before: ({ latest, what }, seconds) => expect(latest, what).toBeLessThan(seconds),
  until: ({ latest, what }, seconds) => expect(latest, what).toBeGreaterThan(seconds),
  from: ({ earliest, what }, seconds) => expect(earliest, what).toBeLessThan(seconds),
  width: ({ earliest, latest, what }, seconds) => expect(latest - earliest, what).toBeLessThan(seconds),
};

const markAt = (report: ExitReport, id: string): Instant =>
  report.marks.some((mark) => mark.id === id)
    ? markOf(report, id).at
    : report.marks.find(({ name }) => name === id)?.at;

/** A gate as text: its kind, and its limit in ms, as a share, or as a finding. */
function specOf(text: string): GateSpec {
  const [kind = '', limit = ''] = text.split(' ');
  if (kind === 'fail-on') return { kind, wanted: limit as Extract<GateSpec, { kind: 'fail-on' }>['wanted'] };
  return kind === 'max-grace-used'
    ? { kind, share: Number(limit) }
    : { kind: kind as 'max-duration' | 'min-drain-lead', ms: Number(limit) };
}

function firstLinesOf(rawObservations: readonly RawObservation[]): string {
  const report = renderedOf(rawObservations);
  return [report.answer.headline, deletedText(report)].join('\n');
}

const cardOf = (rawObservations: readonly RawObservation[]): string =>
  cardLines(renderedOf(rawObservations), { pen: plainPen, columns: 200 }).join('\n');

function whyOf(rawObservations: readonly RawObservation[], code: string): string | undefined {
  const { findings } = renderedOf(rawObservations).verdict;
  return findings.find((one) => one.code === code)?.why;
}

function wordsOf({ verdict }: ExitReport, code: string): string {
  const finding = verdict.findings.find((one) => one.code === code);
  return `${finding?.message ?? 'no such finding'}\n${finding?.advice ?? ''}`;
}
