/** A simulated exit through the pure mapping and the reducer, held against what really happened in it. */
import { simulate as tellStory } from '../sim/simulate.ts';
import type { InstantName, TrueInstant } from '../sim/expected.ts';
import type { Story } from '../sim/story.ts';
import { rowOf } from '../../src/recording/rows.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { replayOf } from '../../src/run/replay.ts';
import type { ExitReport, Instant } from '../../src/model/report.ts';
import { mustReport, observationsOf, traceOf } from './recordings.ts';
import { nanoTime } from './truth.ts';

export interface Judged {
  report: ExitReport;
  /** One line for each thing that the report says and that is not so. */
  wrong: string[];
  /** What happened, and with how wide an interval (ms) it was reported; undefined: not at all. */
  instants: { name: InstantName; width: number | undefined }[];
  /** Signals in the report that nobody sent. */
  unsent: string[];
}

const rawObservationsIn = (rows: ReturnType<typeof tellStory>['rows']): RawObservation[] => {
  const parsed = rows.flatMap((value, index) => rowOf({ number: index + 1, value }) ?? []).sort((a, b) => a.at - b.at);
  return [...replayOf(parsed)];
};

/** What a run sees of it. */
export const rawObservationsOfStory = (story: Story): RawObservation[] => rawObservationsIn(tellStory(story).rows);

/** Controllers that stand still to the end delete nothing, and a run waits on. */
export const isDeleted = (story: Story): boolean =>
  tellStory(story).expected.instants.some((truth) => truth.name === 'accepted');

/** `view`: what is kept of what a run would see, by its permissions. */
export function judgeStory(
  story: Story,
  view: (all: readonly RawObservation[]) => readonly RawObservation[] = (all) => all,
): Judged {
  const { rows, expected } = tellStory(story);
  const report = mustReport(traceOf(observationsOf(view(rawObservationsIn(rows)))));
  const instants = expected.instants.map(({ name, subject }) => {
    const claimed = claimOf(report, name, subject);
    return { name, width: claimed && widthOf(claimed) };
  });
  // Nobody deleted the pod while anybody looked: there is nothing to be right or wrong about.
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
  ];
  return { report, wrong, instants, unsent: neverSent(report, expected.instants) };
}

/** One line for each instant of the report that is not where the story has it. */
export const missedIn = (report: ExitReport, story: Story, truths = tellStory(story).expected.instants): string[] =>
  truths.flatMap((truth) => {
    const claimed = claimOf(report, truth.name, truth.subject);
    if (!claimed || holds(claimed, nanoTime(truth.client)) || isBeyond(story, report, truth)) return [];
    return [`${truth.name} ${truth.subject ?? ''} at ${truth.client}, claimed ${claimed.earliest} … ${claimed.latest}`];
  });

function neverSent({ containers }: ExitReport, instants: readonly TrueInstant[]): string[] {
  const came = (name: InstantName, subject: string): boolean =>
    instants.some((one) => one.name === name && one.subject === subject);
  return containers.flatMap(({ name, stopSignal, kill }) => [
    ...(stopSignal && !came('stop-signal', name) ? [`stop-signal ${name}`] : []),
    ...(kill && !came('kill', name) ? [`kill ${name}`] : []),
  ]);
}

/**
 * Three named assumptions that a story may break without leaving a trace: a kubelet that stands still between a hook's end
 * and its call (signal-lag), one that dies after the object is gone, and its logs with it (log-end), and an application
 * that says nothing and ends with 137 of its own choice in the second in which it would have been killed (silent-kill).
 */
function isBeyond(story: Story, { assumes, containers }: ExitReport, { name, subject }: TrueInstant): boolean {
  const befell = (kind: string) => story.faults.some((fault) => fault.kind === kind);
  if (befell('freeze')) return name === 'prestop-end' || name === 'stop-signal';
  const leansOn = (assumption: string) => assumes.some((one) => one.name === assumption);
  // What follows the end of all containers is bounded by the kill of one, too.
  const ended = afterAll.has(name) ? containers.map((one) => one.name) : [subject];
  if (leansOn('silent-kill') && ended.some((one) => chosen137(containers, one, story))) return true;
  const isAbandoned = containers.some((one) => one.name === subject && one.outcome === 'abandoned');
  return befell('kubelet-restart') && name === 'exited' && isAbandoned && leansOn('log-end');
}

const afterAll: ReadonlySet<string> = new Set(['containers-done', 'endpoint-removed', 'final-delete', 'removed']);

/** The story lets it end so by itself, and the report took it for killed. */
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
