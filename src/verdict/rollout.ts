/** A run over several pods: its numbers and sentence for people, and its JSON summary. Pure; lengths in ms. */
import type { Bounds, ContainerTimeline, Timeline } from '../infer/timeline.ts';
import type { FixReport, Gate, Outcome, ProbeReport } from '../model/report.ts';
import { sumOf } from '../model/probe-numbers.ts';
import { second } from '../model/span.ts';
import { exitCodes, gateFailed, precedence, worstCode } from './policy.ts';
import { pick, secondsRange } from './exit-report.ts';
import { isLostSleep } from './findings/containers.ts';
import { lengthText, byFrequency, plural } from './words.ts';
import { lossOf, rolloutRequestsText } from './loss.ts';
import type { Report } from './report.ts';
import { graceMs, markOf, shareOfGrace, signalName } from './rule-input.ts';
import { trafficGrades } from './traffic.ts';

export type Quantiles<T> = Readonly<Record<'p50' | 'p90' | 'p99' | 'max', T>>;

export type RolloutNumbers = ReturnType<typeof rolloutNumbers>;

/** What a rollout knows beyond the reports of its pods. */
export interface RolloutExtras {
  /** Pods that are gone and whose termination was not observed. */
  readonly unseen?: readonly string[];
  readonly incomplete?: string | undefined;
  /** Results of each `--probe`; a probe of the pod itself (`--probe pod`) has one result per pod. */
  readonly probes?: readonly ProbeReport[];
  /** Gates of the whole run. */
  readonly gates?: readonly Gate[];
  /** Exit codes that no report accounts for, such as of a file that could not be written. */
  readonly codes?: readonly number[];
}

/** `scope`: the pods as the command line names them. */
export function rolloutNumbers(scope: string, reports: readonly Report[], extras: RolloutExtras = {}) {
  const numbers = numbersOf(scope, reports, extras);
  return { ...numbers, sentence: sentenceOf(numbers) };
}

function numbersOf(
  scope: string,
  reports: readonly Report[],
  { codes = [], unseen = [], incomplete, probes = [], gates = [] }: RolloutExtras,
) {
  const timelines = reports.map(({ timeline }) => timeline);
  const containers = timelines.flatMap((timeline) => timeline.containers);
  const zeros = timelines.map(({ zero }) => zero);
  const isExact = unseen.length === 0 && timelines.every(({ total, gaps }) => total && gaps.length === 0);
  const watched = isExact ? timelines : [];
  const ends = timelines.flatMap((timeline) => markOf(timeline, 'removed')?.at.shown ?? []);
  const bad = worstFirst(reports.filter(({ verdict }) => verdict.exitCode !== 0));
  const losing = reports.filter(({ answer }) => answer.traffic.grade === 'lost');
  const advice = mostFrequent([...bad, ...losing].flatMap(({ answer }) => answer.advice.slice(0, 1)));
  const outcomes: Partial<Record<Outcome, number>> = {};
  for (const { verdict } of reports) outcomes[verdict.outcome] = (outcomes[verdict.outcome] ?? 0) + 1;
  return {
    scope,
    what: scope.startsWith('node/') ? 'drain' : 'rollout',
    /** The workload that all pods belong to, `deployment/checkout`; else `scope`. */
    target:
      sharedBy(timelines, ({ workload }) => workload && `${workload.kind.toLowerCase()}/${workload.name}`) ?? scope,
    /** What deleted all of them. */
    trigger: sharedBy(timelines, ({ trigger: { kind } }) => kind),
    pods: reports.length,
    outcomes,
    /** Pods with a container that was killed at the end of its grace period. */
    killed: timelines.filter(({ containers }) => containers.some(({ outcome }) => outcome === 'killed')).map(nameOf),
    /** From the first request (or acceptance) to the last removal. */
    total: ends.length === 0 ? undefined : Math.max(...ends) - Math.min(...zeros),
    /** From the first request to the last, if each pod was watched until it was gone. */
    deleting: isExact ? Math.max(...zeros) - Math.min(...zeros) : 0,
    slowest: slowestOf(reports),
    held: heldOf(timelines),
    /** Stop signal to exit of the slowest container of each pod. */
    drain: quantilesOf(timelines, ({ drain }) => drain),
    /** Nothing shows how long the others took that were still running. */
    observed: containers.some(({ outcome }) => /^(unknown|abandoned)$/.test(outcome)) ? ' observed' : '',
    signal: sharedBy(containers, signalName) ?? 'the stop signal',
    /** Ratios to the grace period; 1 is all of it. */
    graceUsed: quantilesOf(timelines, ({ graceUsed: used }, timeline) =>
      used && Number.isFinite(used.max) ? shareOfGrace(timeline, used) : undefined,
    ),
    graceMs: Math.max(0, ...timelines.map(graceMs)),
    traffic: trafficOf(reports),
    worst: bad
      .slice(0, 3)
      .map(({ timeline, answer: { word, headline } }) => ({ pod: nameOf(timeline), summary: `${word}: ${headline}` })),
    // Not of pods that are advised something else.
    why:
      mostFrequent(bad.flatMap(({ answer }) => ((answer.advice[0] ?? advice) === advice ? (answer.why ?? []) : []))) ??
      failedHooksText(reports),
    advice,
    unseen,
    incomplete,
    probes,
    gates,
    requests: probes.map((probe) => `${rolloutRequestsText(probe)}${lostApart(probe, watched)} · ${probe.target}`),
    fix: commonFix(reports),
    exitCode: worstCode([
      ...reports.map(({ verdict }) => verdict.exitCode),
      ...(unseen.length > 0 ? [exitCodes.unknown] : []),
      ...codes,
    ]),
  };
}

/** `the preStop hook of web failed in 2 of 3 exits`; not of one that its container's own exit may have ended. */
function failedHooksText(reports: readonly Report[]): string | undefined {
  const failed = reports.flatMap(({ timeline }) =>
    timeline.containers.filter((one) => one.preStop?.outcome === 'failed' || isLostSleep(timeline, one)),
  );
  const [most] = byFrequency(failed.map(({ name }) => [name, 1]));
  return most && `the preStop hook of ${most[0]} failed in ${most[1]} of ${plural(reports.length, 'exit')}`;
}

const nameOf = ({ pod }: Timeline): string => pod.metadata.name;

function sharedBy<Item, T>(items: readonly Item[], valueOf: (item: Item) => T): T | undefined {
  const values = new Set(items.map(valueOf));
  return values.size === 1 ? [...values][0] : undefined;
}

/** `beside`: how many others were terminating on its node while it waited for the kubelet after its exit. */
function slowestOf(reports: readonly Report[]) {
  const ended = reports.flatMap(({ timeline, ledger }) =>
    timeline.total ? [{ timeline, ledger, total: timeline.total, until: timeline.zero + timeline.total.min }] : [],
  );
  const [slowest, ...others] = ended.toSorted((a, b) => b.total.shown - a.total.shown);
  if (!slowest) return undefined;
  const { timeline, ledger, until } = slowest;
  const { nodeName } = timeline.pod.spec;
  // Not before its stop, nor where its container runtime or the API server may be the one.
  const waits = ledger.filter(({ what, subject }) => subject === nodeName && !what.startsWith('began '));
  const since = until - waits.reduce((ms, { seconds }) => ms + seconds * second, 0);
  const isThere = ({ pod, zero }: Timeline): boolean => zero < until && pod.spec.nodeName === nodeName;
  const beside = others.filter((one) => isThere(one.timeline) && one.until > since);
  return { ...slowest, beside: since > until - 2 * second ? 0 : beside.length };
}

/** The pod whose deletion was held up longest, of at least 2 s, before it was accepted. */
function heldOf(timelines: readonly Timeline[]) {
  const held = timelines.filter(({ trigger: { heldMs = 0 } }) => heldMs >= 2000);
  const [longest] = held.toSorted((a, b) => (b.trigger.heldMs ?? 0) - (a.trigger.heldMs ?? 0));
  return longest && { pods: held.length, pod: nameOf(longest), note: longest.trigger.note ?? '' };
}

/** ` · 3 of them while none of these pods was terminating`: their exits do not explain these. `timelines`: of all pods, or none. */
function lostApart({ windows }: ProbeReport, timelines: readonly Timeline[]): string {
  const isApart = ({ start, end }: (typeof windows)[number], { zero, total }: Timeline): boolean =>
    Date.parse(end.latest) < zero - second || Date.parse(start.earliest) > zero + (total?.max ?? Infinity);
  const apart = windows.filter((window) => timelines[0] && timelines.every((timeline) => isApart(window, timeline)));
  const count = apart.reduce((sum, { failed }) => sum + failed, 0);
  return count === 0 ? '' : ` · ${count} of them while none of these pods was terminating`;
}

type BoundsOf = (container: ContainerTimeline, timeline: Timeline) => Bounds | undefined;

const eachBound = (of: (bound: keyof Bounds) => number): Bounds => ({
  min: of('min'),
  max: of('max'),
  shown: of('shown'),
});

function greatest(timeline: Timeline, boundsOf: BoundsOf): Bounds | undefined {
  const all = timeline.containers.flatMap((container) => boundsOf(container, timeline) ?? []);
  return all.length === 0 ? undefined : eachBound((bound) => Math.max(...all.map((one) => one[bound])));
}

/** Over the greatest of each pod. The quantile of the true values lies between those of their bounds; of the longest, only the upper one is shown. */
function quantilesOf(timelines: readonly Timeline[], boundsOf: BoundsOf): Quantiles<Bounds> | undefined {
  const all = timelines.flatMap((timeline) => greatest(timeline, boundsOf) ?? []);
  if (all.length === 0) return undefined;
  const rankOf = (share: number): number => Math.max(0, Math.ceil(share * all.length) - 1);
  const sorted = (bound: keyof Bounds): number[] => all.map((one) => one[bound]).sort((a, b) => a - b);
  const at = (share: number): Bounds => eachBound((bound) => sorted(bound)[rankOf(share)] ?? 0);
  const max = at(1);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: Number.isFinite(max.max) ? { ...max, min: 0 } : max };
}

const trafficOf = (reports: readonly Report[]) =>
  trafficGrades.flatMap((grade) => {
    const own = reports.filter(({ answer }) => answer.traffic.grade === grade);
    // The requests row has the numbers, which pods share: failures of an earlier pod are unexplained in the next one's time.
    const losses = own.flatMap(({ timeline }) => lossOf(timeline) ?? []);
    const lost = losses.filter(({ cause }) => cause !== 'unexplained' || losses.every((one) => one.cause === cause));
    const reasons = grade === 'lost' ? lost.map(({ why }) => why) : own.map(({ answer }) => answer.traffic.reason);
    const reason = `${new Set(reasons).size > 1 ? 'for example: ' : ''}${mostFrequent(reasons) ?? ''}`;
    // Which of the pods that leave together lost a request is not known.
    const where = grade === 'lost' ? [] : [`in ${own.length} of ${plural(reports.length, 'exit')}`];
    const text = [...where, ...(grade === 'safe' || reason === '' ? [] : [reason])].join(', ');
    return own.length === 0 ? [] : [{ grade, text }];
  });

/** By exit code, then the longest first. */
function worstFirst(reports: readonly Report[]): Report[] {
  const weight = ({ verdict }: Report): number => precedence.indexOf(verdict.exitCode);
  return reports.toSorted(
    (a, b) => weight(a) - weight(b) || (b.timeline.total?.shown ?? 0) - (a.timeline.total?.shown ?? 0),
  );
}

function commonFix(reports: readonly Report[]): FixReport | undefined {
  const fixes = reports.flatMap(({ answer }) => answer.fix.slice(0, 1));
  const command = mostFrequent(fixes.map((one) => one.command));
  return fixes.find((one) => one.command === command);
}

const mostFrequent = (texts: readonly string[]): string | undefined =>
  byFrequency(texts.map((text) => [text, 1]))[0]?.[0];

/** `12 of 12 pods terminated gracefully; longest 3.1s from SIGTERM to exit` */
function sentenceOf(numbers: ReturnType<typeof numbersOf>): string {
  const { what, pods, outcomes, drain, observed, signal, unseen, incomplete, exitCode, probes, gates } = numbers;
  const rest = Object.entries({ ...outcomes, 'not observed': unseen.length || undefined });
  const others = rest.flatMap(([outcome, count]) => (outcome !== 'graceful' && count ? `${count} ${outcome}` : []));
  const end = incomplete === undefined ? '' : `, but the ${what} did not complete`;
  if (pods + unseen.length === 0) return incomplete ?? 'no pod was deleted';
  const counts = `${outcomes.graceful ?? 0} of ${plural(pods + unseen.length, 'pod')} terminated gracefully`;
  const lost = gates.filter(({ passed }) => !passed || sumOf(probes).failed > 0).map(({ message }) => `, ${message}`);
  const gate = lost.length === 0 && exitCode === gateFailed ? ', a gate failed' : lost.join('');
  return `${counts}${others.length > 0 ? `, ${others.join(', ')}` : ''}${gate}${end}${drain ? `; longest${observed} ${lengthText(drain.max)} from ${signal} to exit` : ''}`;
}

export type RolloutSummary = ReturnType<typeof summaryOf>;

export function summaryOf(numbers: RolloutNumbers) {
  const { slowest, graceUsed, probes, gates } = numbers;
  return {
    apiVersion: 'podexit/v1',
    kind: 'RolloutSummary',
    target: numbers.scope,
    ...pick(numbers, 'pods', 'outcomes', 'killed', 'unseen'),
    /** From the request (or the acceptance, if the request was not ours) until the object was gone. */
    slowest: slowest && { name: nameOf(slowest.timeline), seconds: secondsRange(slowest.total) },
    /** Ratio of the grace period that each pod's slowest container used at most. */
    graceUsed: graceUsed && upperBounds(graceUsed),
    ...pick(numbers, 'exitCode', 'incomplete'),
    probes: probes.length > 0 ? probes : undefined,
    gates: gates.length > 0 ? gates : undefined,
    sentence: numbers.sentence,
  };
}

function upperBounds({ p50, p90, p99, max }: Quantiles<Bounds>): Quantiles<number> {
  const upper = (bounds: Bounds): number => Math.ceil(bounds.max * 1000) / 1000;
  return { p50: upper(p50), p90: upper(p90), p99: upper(p99), max: upper(max) };
}
