/** A run over several pods: its numbers and its sentence for people, and its summary in JSON. Pure; lengths in ms. */
import type { ContainerTimeline, Length, Timeline } from '../infer/timeline.ts';
import type { FindingCode, Outcome, ProbeReport, Range } from '../model/report.ts';
import { exitCodes, gateFailed, precedence, worstCode } from './exit-code.ts';
import { secondsRange } from './exit-report.ts';
import { leadText } from './drain-lead.ts';
import type { FixAnswer } from './fix.ts';
import { secondsText } from './length-text.ts';
import { rolloutRequestsText } from './loss.ts';
import type { Report } from './report.ts';
import type { Race, TrafficAnswer } from './traffic.ts';
import { byFrequency, plural, servicesNamed } from './words.ts';

/** Of the ratios or lengths of all pods. */
export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

export interface RolloutNumbers {
  /** As the command names it. */
  readonly scope: string;
  /** The workload that all pods belong to, `deployment/checkout`; else `scope`. */
  readonly target: string;
  readonly pods: number;
  readonly outcomes: Partial<Record<Outcome, number>>;
  /** Pods with a container that was killed at the end of its grace period. */
  readonly killed: readonly string[];
  /** First request or acceptance to last removal. */
  readonly total?: number;
  /** `drain`: of its slowest container. */
  readonly slowest?: { readonly timeline: Timeline; readonly total: Length; readonly drain?: number | undefined };
  /** SIGTERM to exit of the slowest container of each pod. */
  readonly drain?: Quantiles;
  /** Ratios to the grace period; 1 is all of it. */
  readonly graceUsed?: Quantiles;
  /** The same, as much as it may have been. */
  readonly mostGraceUsed?: Quantiles;
  readonly traffic: readonly TrafficCount[];
  /** The longest time that a Service had no ready endpoint, where one was missing. */
  readonly noReady?: { readonly service: string; readonly longest: number };
  /** Warnings and errors, the most frequent first. */
  readonly causes: readonly { readonly code: FindingCode; readonly pods: number }[];
  /** At most three that were not graceful, the worst first. */
  readonly worst: readonly { readonly pod: string; readonly summary: string }[];
  /** Pods that are gone without a report. */
  readonly unseen: readonly string[];
  /** Why the rollout did not come to its end. */
  readonly incomplete?: string | undefined;
  /** What each `--probe` measured; those of `pod` once for each pod. */
  readonly probes: readonly ProbeReport[];
  /** The same, each in a line. */
  readonly requests: readonly string[];
  /** The one that most pods need. */
  readonly fix?: FixAnswer;
  readonly exitCode: number;
  /** The card's last line, without icon. */
  readonly sentence: string;
}

export interface TrafficCount {
  readonly judgement: TrafficAnswer['judgement'];
  readonly pods: number;
  /** What most of them have in common. */
  readonly reason: string;
}

/** What a run over several pods has beside its reports. */
interface BesideReports {
  /** Exit codes of what is no report, such as a file that could not be written. */
  readonly codes?: readonly number[];
  readonly unseen?: readonly string[];
  readonly incomplete?: string | undefined;
  readonly probes?: readonly ProbeReport[];
}

export function rolloutNumbers(
  scope: string,
  reports: readonly Report[],
  { codes = [], unseen = [], incomplete, probes = [] }: BesideReports = {},
): RolloutNumbers {
  const [slowest] = reports
    .flatMap(({ timeline }) =>
      timeline.total ? [{ timeline, total: timeline.total, drain: slowestOf(timeline, drainOf)[0] }] : [],
    )
    .sort((a, b) => b.total.shown - a.total.shown);
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const { verdict } of reports) outcomes[verdict.outcome] = (outcomes[verdict.outcome] ?? 0) + 1;
  const numbers = {
    scope,
    target: sharedWorkload(reports) ?? scope,
    pods: reports.length,
    outcomes,
    killed: reports.filter(wasKilled).map(({ timeline }) => timeline.pod.metadata.name),
    total: totalOf(reports.map(({ timeline }) => timeline)),
    slowest,
    drain: quantilesOf(reports.flatMap(({ timeline }) => slowestOf(timeline, drainOf))),
    graceUsed: quantilesOf(reports.flatMap(({ timeline }) => slowestOf(timeline, ({ graceUsed }) => graceUsed?.shown))),
    mostGraceUsed: quantilesOf(reports.flatMap(({ timeline }) => slowestOf(timeline, mostUsedOf))),
    traffic: trafficOf(reports),
    noReady: noReadyOf(reports),
    causes: causesOf(reports),
    worst: worstOf(reports),
    unseen,
    incomplete,
    probes,
    requests: probes.map((probe) => `${rolloutRequestsText(probe)} · ${probe.target}`),
    fix: commonFix(reports),
    exitCode: worstCode([
      ...reports.map(({ verdict }) => verdict.exitCode),
      ...(unseen.length > 0 ? [exitCodes.unknown] : []),
      ...codes,
    ]),
  };
  return { ...numbers, sentence: sentenceOf(numbers) };
}

/** `deployment/checkout`; undefined where the pods are of several workloads, or of none. */
function sharedWorkload(reports: readonly Report[]): string | undefined {
  const names = new Set(
    reports.map(({ timeline: { workload } }) => workload && `${workload.kind.toLowerCase()}/${workload.name}`),
  );
  return names.size === 1 ? [...names][0] : undefined;
}

function totalOf(timelines: readonly Timeline[]): number | undefined {
  const ends = timelines.flatMap(({ marks }) => marks.find(({ name }) => name === 'removed')?.at.shown ?? []);
  return ends.length === 0 ? undefined : Math.max(...ends) - Math.min(...timelines.map(({ zero }) => zero));
}

const wasKilled = ({ timeline }: Report): boolean => timeline.containers.some(({ outcome }) => outcome === 'killed');

/** To three decimals. Undefined where nothing bounds it. */
const mostUsedOf = ({ graceUsed }: ContainerTimeline): number | undefined =>
  graceUsed && Number.isFinite(graceUsed.max) ? Math.ceil(graceUsed.max * 1000) / 1000 : undefined;

const drainOf = ({ drain }: ContainerTimeline): number | undefined => drain?.shown;

function slowestOf({ containers }: Timeline, of: (one: ContainerTimeline) => number | undefined): number[] {
  const values = containers.flatMap((one) => of(one) ?? []);
  return values.length === 0 ? [] : [Math.max(...values)];
}

function quantilesOf(values: readonly number[]): Quantiles | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

const judgements = ['lost', 'at-risk', 'safe', 'not-judged'] as const;

function trafficOf(reports: readonly Report[]): TrafficCount[] {
  return judgements.flatMap((judgement) => {
    const own = reports.filter(({ answer }) => answer.traffic.judgement === judgement);
    if (own.length === 0) return [];
    return [{ judgement, pods: own.length, reason: sharedReason(own.map(({ answer }) => answer.traffic)) }];
  });
}

/** What holds for all of them: of a race the widest interval; a reason that only some have is an example. */
function sharedReason(answers: readonly TrafficAnswer[]): string {
  const races = answers.flatMap(({ race }) => race ?? []);
  if (races.length === answers.length) return raceText(races);
  const reasons = answers.map(({ reason }) => reason);
  return `${new Set(reasons).size > 1 ? 'such as ' : ''}${mostFrequent(reasons) ?? ''}`;
}

function raceText(races: readonly Race[]): string {
  const leads = races.map(({ lead }) => lead);
  const [min, max] = [Math.min(...leads.map((one) => one.min)), Math.max(...leads.map((one) => one.max))];
  const signal = new Set(races.map((one) => one.signal)).size > 1 ? 'the stop signal' : (races[0]?.signal ?? '');
  const services = servicesNamed([...new Set(races.flatMap((one) => one.services))]);
  const hook = races.some(({ hasHook }) => hasHook) ? '' : ', no preStop hook';
  const least = Math.min(...races.map(({ otherReady = 0 }) => otherReady));
  const others = Number.isFinite(least) && least > 0 ? ` · at least ${plural(least, 'other endpoint')} ready` : '';
  return `${signal} came ${leadText({ min, max, shown: (min + max) / 2 })} removal from ${services}${hook}${others}`;
}

/** Where nothing was meant to take over, no backend is missing. */
const lacksBackend = ({ verdict }: Report): boolean =>
  verdict.findings.some(({ code, severity }) => code === 'no-ready-endpoint' && severity !== 'info');

function noReadyOf(reports: readonly Report[]): RolloutNumbers['noReady'] {
  const spells = reports
    .filter(lacksBackend)
    .flatMap(({ answer }) =>
      answer.traffic.services.flatMap(({ name, noReady }) => (noReady ? [{ service: name, longest: noReady.ms }] : [])),
    );
  return spells.sort((a, b) => b.longest - a.longest)[0];
}

function causesOf(reports: readonly Report[]): RolloutNumbers['causes'] {
  const codes = reports.flatMap(({ verdict }) => [
    ...new Set(verdict.findings.flatMap(({ code, severity }) => (severity === 'info' ? [] : [code]))),
  ]);
  return byFrequency(codes.map((code) => [code, 1])).map(([code, pods]) => ({ code, pods }));
}

function worstOf(reports: readonly Report[]): RolloutNumbers['worst'] {
  const weight = ({ verdict }: Report): number => precedence.indexOf(verdict.exitCode);
  return reports
    .filter(({ verdict }) => verdict.exitCode !== 0)
    .sort((a, b) => weight(a) - weight(b) || (b.timeline.total?.shown ?? 0) - (a.timeline.total?.shown ?? 0))
    .slice(0, 3)
    .map(({ timeline, answer }) => ({ pod: timeline.pod.metadata.name, summary: answer.summary }));
}

function commonFix(reports: readonly Report[]): FixAnswer | undefined {
  const fixes = reports.flatMap(({ answer }) => answer.fix.slice(0, 1));
  // Pods of one workload need the same change; the largest numbers fit all of them.
  const target = mostFrequent(fixes.map((fix) => `${fix.target.kind}/${fix.target.name}`));
  const own = fixes.filter((fix) => `${fix.target.kind}/${fix.target.name}` === target);
  const most = mostFrequent(own.map(({ command }) => command));
  return own.find(({ command }) => command === most);
}

const mostFrequent = (texts: readonly string[]): string | undefined =>
  byFrequency(texts.map((text) => [text, 1]))[0]?.[0];

/** `12 of 12 pods terminated gracefully; longest drain 3.1s` */
function sentenceOf({ pods, outcomes, drain, unseen, incomplete, exitCode }: Omit<RolloutNumbers, 'sentence'>): string {
  const good = (outcomes.graceful ?? 0) + (outcomes.removed ?? 0);
  const rest = Object.entries(outcomes).filter(([outcome]) => outcome !== 'graceful' && outcome !== 'removed');
  const others = [
    ...rest.map(([outcome, count]) => `${count} ${outcome}`),
    ...(unseen.length > 0 ? [`${unseen.length} not observed`] : []),
  ];
  const slowest = drain ? `; longest drain ${secondsText(drain.max)}` : '';
  const end = incomplete === undefined ? '' : ', but the rollout did not complete';
  if (pods + unseen.length === 0) return `no pod was deleted${end}`;
  const counts = `${good} of ${plural(pods + unseen.length, 'pod')} terminated gracefully`;
  const gate = exitCode === gateFailed ? ', a gate failed' : '';
  return `${counts}${others.length > 0 ? `, ${others.join(', ')}` : ''}${gate}${end}${slowest}`;
}

export interface RolloutSummary {
  apiVersion: 'podexit/v1';
  kind: 'RolloutSummary';
  target: string;
  pods: number;
  outcomes: Partial<Record<Outcome, number>>;
  killed: readonly string[];
  unseen: readonly string[];
  /** From the request, or the acceptance where it was not ours, until the object was gone. */
  slowest?: { name: string; seconds: Range };
  /** At most this ratio of the grace period was used by the slowest container, by so many percent of the pods. */
  graceUsed?: Quantiles;
  /** The command's own. */
  exitCode: number;
  incomplete?: string;
  probes?: readonly ProbeReport[];
  sentence: string;
}

/** What JSON has of it. */
export function summaryOf(numbers: RolloutNumbers): RolloutSummary {
  const { scope, pods, outcomes, killed, unseen, slowest, mostGraceUsed, exitCode, incomplete, sentence } = numbers;
  return {
    apiVersion: 'podexit/v1',
    kind: 'RolloutSummary',
    target: scope,
    pods,
    outcomes,
    killed,
    unseen,
    slowest: slowest && { name: slowest.timeline.pod.metadata.name, seconds: secondsRange(slowest.total) },
    graceUsed: mostGraceUsed,
    exitCode,
    incomplete,
    probes: numbers.probes.length > 0 ? numbers.probes : undefined,
    sentence,
  };
}
