/** Compares the report of a simulated exit with the true events of its story. */
import { simulate, type Simulation } from '../sim/simulate.ts';
import type { InstantName, TrueInstant } from '../sim/expected.ts';
import { randomStory } from '../sim/random-story.ts';
import type { Story } from '../sim/story.ts';
import { convertPod, rowsOf } from '../../scripts/convert/convert.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport, Instant } from '../../src/model/report.ts';
import { mustReport, observationsOf, traceOf } from './recordings.ts';
import { nanoTime } from './truth.ts';

export interface Judged {
  report: ExitReport;
  /** One line for each wrong statement of the report. */
  wrong: string[];
  /** The true instants with the width (ms) of their intervals in the report; undefined: not reported. */
  instants: { name: InstantName; width: number | undefined }[];
  /** Signals in the report that were not sent. */
  unsent: string[];
}

const rawObservationsIn = (rows: ReturnType<typeof simulate>['rows']): RawObservation[] => [
  ...convertPod(rowsOf(rows)),
];

const stories = new Map<number, Story>();

/** The random story of this seed, for all tests the same object, so that it is simulated once. */
export function storyOfSeed(seed: number): Story {
  const story = stories.get(seed) ?? randomStory(seed);
  stories.set(seed, story);
  return story;
}

const simulations = new WeakMap<Story, Simulation>();

/** What happens in this story, simulated once: a simulation takes as long as its report. */
export function simulated(story: Story): Simulation {
  const simulation = simulations.get(story) ?? simulate(story);
  simulations.set(story, simulation);
  return simulation;
}

/** The raw observations of a run during the story. */
export const rawObservationsOfStory = (story: Story): RawObservation[] => rawObservationsIn(simulated(story).rows);

/** Whether the pod is deleted: a controller that is down to the end deletes nothing. */
export const isDeleted = (story: Story): boolean =>
  simulated(story).expected.instants.some((truth) => truth.name === 'accepted');

/** `view`: filters the raw observations by the permissions of the run. */
export function judgeStory(
  story: Story,
  view: (all: readonly RawObservation[]) => readonly RawObservation[] = (all) => all,
): Judged {
  const { rows, expected } = simulated(story);
  const report = mustReport(traceOf(observationsOf(view(rawObservationsIn(rows)))));
  const instants = expected.instants.map(({ name, subject }) => {
    const claimed = claimOf(report, name, subject);
    return { name, width: claimed && widthOf(claimed) };
  });
  // Without a deletion during the run no statement can be right or wrong.
  if (!isDeleted(story) && report.verdict.outcome === 'not-started') return { report, wrong: [], instants, unsent: [] };
  const codes = report.verdict.findings.map((finding) => finding.code as string);
  const wrong = [
    ...missedIn(report, story, expected.instants),
    ...(expected.outcomes.includes(report.verdict.outcome)
      ? []
      : [`outcome ${report.verdict.outcome}, not ${expected.outcomes.join(' or ')}`]),
    ...(expected.triggers.includes(report.trigger.kind)
      ? []
      : [`trigger ${report.trigger.kind}, not ${expected.triggers.join(' or ')}`]),
    ...expected.containers.flatMap(({ name, outcomes }) => {
      const outcome = report.containers.find((one) => one.name === name)?.outcome ?? 'missing';
      return outcomes.includes(outcome) ? [] : [`${name} ${outcome}, not ${outcomes.join(' or ')}`];
    }),
    ...expected.untrue.filter((code) => codes.includes(code)).map((code) => `finding ${code}`),
    ...report.phases
      .filter(({ seconds }) => seconds.min < 0 || seconds.max < seconds.min)
      .map(({ name }) => `phase ${name} lasted less than nothing`),
    ...wrongLedger(report),
  ];
  return { report, wrong, instants, unsent: neverSent(report, expected.instants) };
}

function wrongLedger({ ledger = [], totalSeconds }: ExitReport): string[] {
  const sum = ledger.reduce((all, { seconds }) => all + seconds, 0);
  return [
    ...(totalSeconds === undefined || Math.abs(sum - totalSeconds) < 0.005 ? [] : [`the ledger adds up to ${sum} s`]),
    ...(ledger.every(({ seconds }) => seconds > 0) ? [] : ['somebody owns no second of the ledger']),
  ];
}

/** One line for each instant of the story outside its interval in the report. */
export const missedIn = (report: ExitReport, story: Story, truths = simulated(story).expected.instants): string[] =>
  truths.flatMap((truth) => {
    const claimed = claimOf(report, truth.name, truth.subject);
    if (!claimed || holds(claimed, nanoTime(truth.client)) || breaksAssumption(story, report, truth)) return [];
    return [`${truth.name} ${truth.subject ?? ''} at ${truth.client}, claimed ${claimed.earliest} … ${claimed.latest}`];
  });

function neverSent({ containers }: ExitReport, instants: readonly TrueInstant[]): string[] {
  const happened = (name: InstantName, subject: string): boolean =>
    instants.some((one) => one.name === name && one.subject === subject);
  return containers.flatMap(({ name, stopSignal, kill }) => [
    ...(stopSignal && !happened('stop-signal', name) ? [`stop-signal ${name}`] : []),
    ...(kill && !happened('kill', name) ? [`kill ${name}`] : []),
  ]);
}

/**
 * Stories may break three named assumptions without evidence: a kubelet that hangs between the end of a hook and the
 * stop signal (signal-lag), a kubelet that crashes with its logs after the object is gone (log-end), and a silent
 * application that exits with 137 in the second in which it would have been killed (silent-kill).
 */
function breaksAssumption(story: Story, { assumes, containers }: ExitReport, { name, subject }: TrueInstant): boolean {
  const hasFault = (kind: string) => story.faults.some((fault) => fault.kind === kind);
  if (hasFault('freeze')) return name === 'prestop-end' || name === 'stop-signal';
  const hasAssumption = (assumption: string) => assumes.some((one) => one.name === assumption);
  // The kill of one container also bounds the marks after the end of all.
  const ended = afterAll.has(name) ? containers.map((one) => one.name) : [subject];
  if (hasAssumption('silent-kill') && ended.some((one) => chosen137(containers, one, story))) return true;
  const isAbandoned = containers.some((one) => one.name === subject && one.outcome === 'abandoned');
  return hasFault('kubelet-restart') && name === 'exited' && isAbandoned && hasAssumption('log-end');
}

const afterAll: ReadonlySet<string> = new Set(['containers-done', 'endpoint-removed', 'final-delete', 'removed']);

/** Whether the app of the story exits with 137 by itself, and the report says that it was killed. */
function chosen137(containers: ExitReport['containers'], subject: string | undefined, story: Story): boolean {
  const app = story.containers.find(({ name }) => name === subject)?.app;
  const own = app?.ownExit?.code === 137 || (app?.onSignal.kind === 'exits' && app.onSignal.code === 137);
  return own && containers.some((one) => one.name === subject && one.outcome === 'killed');
}

const widthOf = ({ earliest, latest }: Instant): number => Date.parse(latest) - Date.parse(earliest);

const holds = ({ earliest, latest }: Instant, truth: number): boolean =>
  Date.parse(earliest) <= truth && truth <= Date.parse(latest);

function claimOf(report: ExitReport, name: string, subject: string | undefined): Instant | undefined {
  const container = report.containers.find((one) => one.name === subject);
  const mark = (id: string) => report.marks.find((one) => one.id === id)?.at;
  const claims: Record<string, () => Instant | undefined> = {
    requested: () => mark('requested'),
    accepted: () => mark('accepted'),
    noticed: () => mark('acknowledged'),
    'prestop-start': () => container?.preStop?.start,
    'prestop-end': () => container?.preStop?.end,
    'stop-signal': () => container?.stopSignal,
    kill: () => container?.kill,
    exited: () => container?.exit?.at ?? mark(`exited/${subject}`),
  };
  return (claims[name] ?? (() => mark(subject === undefined ? name : `${name}/${subject}`)))();
}
