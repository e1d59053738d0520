/** Makes the Timeline from the conclusions: numbers on one clock, with one consistent schedule. Pure. */
import { millisecondsOf, type AssumptionName } from '../model/assumptions.ts';
import { offsetAt, withDates } from '../model/clock.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf, deploymentNamed, isFinished } from '../model/pod.ts';
import { isSeenAtOnce, second, type Span } from '../model/span.ts';
import { parseFloor, parseTime } from '../model/stamps.ts';
import { allNotes, failedProbes, type OwnerFacts, type Trace } from '../model/trace.ts';
import { isEndSettled, isSignalSettled, reportedExit, type PodExit, type ContainerExit } from './context.ts';
import { unroutedBefore } from './endpoints.ts';
import { between, cite, isBefore, type Estimate } from './estimate.ts';
import { clockGaps, streamGaps, deliveryLagOf, hasLogGap } from './arrival.ts';
import { marksOf, phasesOf, unseenMarks } from './marks.ts';
import { failureMarks, probeResultsOf } from './probes.ts';
import { inOrder, scheduleOf, shownLength, intervalsIn, lengthBetween, type Intervals } from './schedule.ts';
import type {
  GraceTimeline,
  Interval,
  Length,
  Mark,
  Timeline,
  Workload,
  ContainerTimeline,
  Phase,
  PreStopExit,
  StopSignal,
} from './timeline.ts';

/** `pod`: its state at the deletion or, without a deletion, its last state. */
export function timelineFrom(trace: Trace, exit: PodExit | undefined, pod: Pod): Timeline {
  const unplaced = exit ? marksOf(exit) : unseenMarks(trace);
  const window = windowOf(trace, exit);
  const arrivals = new Map(allNotes(trace.notes).map(({ seq, at }) => [seq, at]));
  const schedule = scheduleOf(unplaced, exit, arrivals, window);
  const intervals = intervalsIn(schedule, window, trace.now);
  const marks = inOrder(unplaced, schedule).map((mark): Mark => ({ ...mark, at: intervals.of(mark.at) }));
  const phases = exit ? phasesOf(exit, marks, intervals) : [];
  const { trigger } = exit ?? {};
  const { began } = trace;
  const removed = marks.find(({ name }) => name === 'removed')?.at.shown;
  const probes = probeResultsOf(trace.probes, { requested: zeroOf(marks), removed });
  return {
    mode: began?.value.mode ?? 'attach',
    pod,
    workload: workloadOf(trace, pod),
    zero: zeroOf(marks) ?? trace.now,
    now: trace.now,
    firstAnswerMs: began?.value.askedAt === undefined ? undefined : began.at - began.value.askedAt,
    deleted: exit !== undefined,
    grace: graceTimeline(trace, pod, exit),
    trigger: { kind: 'unknown', ...trigger, evidence: cite(trigger?.evidence ?? []) },
    marks: [...marks, ...failureMarks(probes)],
    phases,
    containers: exit ? exit.containers.map((container) => containerTimeline(trace, intervals, phases, container)) : [],
    endpoints: (exit?.endpoints ?? []).map((endpoint) => placed(endpoint, intervals)),
    unroutedBefore: exit ? unroutedBefore(exit).map((endpoint) => placed(endpoint, intervals)) : [],
    replacement: exit?.replacement && placed(exit.replacement, intervals),
    replacementHold: exit?.replacementHold,
    total: totalOf(marks),
    probes,
    clocks: clocksOf(trace, exit),
    assumes: assumesOf(exit),
    gaps: [...streamGaps(trace), ...(exit ? clockGaps(exit.network) : [])],
    contradictions: exit ? contradictionsIn(exit) : [],
    notes: trace.notes,
  };
}

function contradictionsIn({ network }: PodExit): Timeline['contradictions'] {
  const all = network.rejected.map(({ to, because }) => [`${to} ${because}`, { about: to, because }] as const);
  return [...new Map(all).values()];
}

/** The bounds of an instant without others: from the pod's creation (API server's clock) to the newest observation. */
function windowOf({ pod, now }: Trace, exit: PodExit | undefined): Span {
  const created = parseFloor(pod?.value.metadata.creationTimestamp);
  const since = exit && created ? exit.network.toClient('api', created).lo : now;
  return { lo: Math.min(since, now), hi: now + 1 };
}

const startMark = (marks: readonly Mark[]): Mark | undefined =>
  marks.find(({ name }) => name === 'requested') ?? marks.find(({ name }) => name === 'accepted');

const zeroOf = (marks: readonly Mark[]): number | undefined => (startMark(marks) ?? marks[0])?.at.shown;

function totalOf(marks: readonly Mark[]): Length | undefined {
  const [from, to] = [startMark(marks)?.at, marks.find(({ name }) => name === 'removed')?.at];
  if (!from || !to) return undefined;
  const lapse = { lo: Math.max(0, to.earliest - from.latest), hi: to.latest - from.earliest };
  const total = shownLength(lapse, from, to);
  // It ends with the arrival of the removal, but may have begun long before it was observed.
  return isSeenAtOnce(from) ? total : { ...total, basis: 'inferred' };
}

function graceTimeline(trace: Trace, pod: Pod, exit: PodExit | undefined): GraceTimeline {
  const specSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
  const requestedSeconds = trace.began?.value.graceSeconds ?? null;
  const planned = requestedSeconds ?? specSeconds;
  // That of the first DELETE, unless a later one certainly lowered it in time (SIGNALS.md §1 "Repeat delete").
  const effectiveSeconds = exit ? Math.min(graceSeen(exit), exit.kubelet.grace.max) : planned;
  return {
    requestedSeconds,
    specSeconds,
    effectiveSeconds,
    deadline: parseTime(pod.metadata.deletionTimestamp) ?? trace.now,
    counted: exit ? graceCounted(exit) : { min: planned, max: planned },
  };
}

/** A kill that came only after the longest of the possible grace periods shows which one the kubelet counted. */
function graceCounted({ containers, kubelet: { grace } }: PodExit): GraceTimeline['counted'] {
  const isLongest = containers.some(({ outcome, stopping, exit, hook }) => {
    // The shortest one may end late, above all after a hook that was cut off (SIGNALS.md §5).
    const least = Math.max(grace.max - 1, grace.min + (hook ? 3 : 2)) * second;
    return outcome === 'killed' && stopping && exit && between(stopping, exit.at).lo >= least;
  });
  return { ...grace, min: isLongest ? grace.max : grace.min };
}

/** On a pod that was first seen finished, 0 may be of the kubelet's last DELETE (trap 2): then its spec's is likely. */
const graceSeen = ({ deletion: { grace, isWitnessed, pod } }: PodExit): number =>
  grace === 0 && !isWitnessed && isFinished(pod) ? (pod.spec.terminationGracePeriodSeconds ?? 0) : grace;

type Placed<T> = { [K in keyof T]: T[K] extends Estimate | undefined ? Interval | Extract<T[K], undefined> : T[K] };

const placed = <T extends object>(facts: T, intervals: Intervals): Placed<T> =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]: [string, unknown]) => [
      key,
      isEstimate(value) ? intervals.of(value) : value,
    ]),
  ) as Placed<T>;

const isEstimate = (value: unknown): value is Estimate =>
  typeof value === 'object' && value !== null && 'client' in value;

function clocksOf(trace: Trace, exit: PodExit | undefined): Timeline['clocks'] {
  const { api, node, dates } = trace.clocks;
  const finite = ({ lo, hi }: Span) => (Number.isFinite(lo) && Number.isFinite(hi) ? { min: lo, max: hi } : undefined);
  return {
    api: finite(exit ? exit.network.offset('api', trace.now) : offsetAt(withDates(api, dates), trace.now)),
    node: finite(exit ? exit.network.offset('node', trace.now) : offsetAt(node, trace.now)),
  };
}

/** Every report relies on the first three, for offsets and arrivals; the others are listed only if an instant relies on them. */
function assumesOf(exit: PodExit | undefined): AssumptionName[] {
  if (!exit) return [];
  const used = exit.containers.flatMap(({ assumes }) => assumes);
  return [...new Set<AssumptionName>(['clock-drift', 'delivery-lag', 'event-lag', ...used])].sort();
}

function workloadOf(trace: Trace, pod: Pod): Workload | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const owner = trace.owners.get(controller.uid);
  const parent = owner && controllerOf(owner.last.value);
  if (parent) return { kind: parent.kind, name: parent.name, replicas: replicasOf(trace.owners.get(parent.uid)) };
  const hash = pod.metadata.labels?.['pod-template-hash'];
  const deployment = owner ? undefined : deploymentNamed(controller, hash);
  const known = [...trace.owners.values()].find(({ last }) => last.value.metadata.name === deployment);
  if (deployment !== undefined) return { kind: 'Deployment', name: deployment, replicas: replicasOf(known) };
  return { kind: controller.kind, name: controller.name, replicas: replicasOf(owner) };
}

const replicasOf = (owner: OwnerFacts | undefined): number | undefined => owner?.last.value.spec.replicas;

function containerTimeline(
  trace: Trace,
  intervals: Intervals,
  phases: readonly Phase[],
  container: ContainerExit,
): ContainerTimeline {
  const { spec, ran, killings, outcome, probable, mayHaveOverrun, graceEnd, served } = container;
  const lengthOf = (phase: Phase['name']): Length | undefined =>
    phases.find(({ name, subject }) => name === phase && subject === spec.name)?.length;
  const exitAt = intervals.past(container.exit?.at);
  return {
    name: spec.name,
    kind: spec.kind,
    ran,
    killings,
    outcome,
    probable,
    mayHaveOverrun,
    stopping: intervals.past(container.stopping),
    bounds: { stopSignal: isSignalSettled(trace, container) ? container.signal : undefined, exit: container.exit?.at },
    preStop: preStopOf(trace, intervals, container, lengthOf('prestop')),
    stopSignal: stopSignalOf(trace, intervals, container),
    kill: intervals.past(container.kill),
    reaction: reactionOf(trace, container),
    exit: exitAt && { ...container.exit, at: exitAt },
    drain: drainOf(intervals, container, lengthOf('drain')),
    graceUsed: exitAt && graceUsedOf(intervals, container, exitAt),
    pastGrace: lengthOf('overtime'),
    graceEnd: graceEnd && intervals.of(graceEnd),
    servedUntil: served && intervals.of(served),
  };
}

function preStopOf(
  trace: Trace,
  intervals: Intervals,
  container: ContainerExit,
  length: Length | undefined,
): PreStopExit | undefined {
  const { hook, ran, stopping } = container;
  const start = ran ? intervals.past(hook?.start, stopping) : undefined;
  if (!hook || !start) return undefined;
  const end = intervals.past(hook.end);
  const exit = reportedExit(container);
  const outlasted = exit !== undefined && isBefore(exit, hook.end);
  return {
    kind: hook.kind,
    outcome: hook.outcome,
    start,
    end,
    length: end && length,
    sleepSeconds: hook.sleepSeconds,
    mayHaveDied: hook.mayHaveDied && !outlasted,
    outlasted,
    provisional: !isEndSettled(trace, container),
  };
}

function stopSignalOf(trace: Trace, intervals: Intervals, container: ContainerExit): StopSignal | undefined {
  const { name: signal } = container.signal ?? {};
  const at = intervals.past(container.signal);
  const isPerhapsOther = signal === undefined && isPerhapsOtherSignal(trace, container);
  return at && { ...at, signal, isPerhapsOther, provisional: !isSignalSettled(trace, container) };
}

/** The API shows no STOPSIGNAL of an image, and not whether the runtime heeds the spec's (SIGNALS.md §2 S8). */
function isPerhapsOtherSignal(trace: Trace, container: ContainerExit): boolean {
  const { spec, facts, signal, outcome } = container;
  const { lifecycle, handlesTerm, handlesOther } = spec.container;
  if (lifecycle?.stopSignal !== undefined || handlesOther) return true;
  if (handlesTerm && outcome === 'killed' && reactionOf(trace, container) !== 'seen') return true;
  return facts.log.signalLines.find(({ value }) => value >= (signal?.node.lo ?? Infinity))?.isOther === true;
}

/** The drain lasts until the exit. The phase of that name ends with the kill, if there was one. */
function drainOf(intervals: Intervals, { signal, kill, exit }: ContainerExit, phase: Length | undefined) {
  if (!phase || !kill || !signal || !exit) return phase;
  return lengthBetween(intervals.of(signal), intervals.of(exit.at));
}

/** The grace counts from the kubelet's last attempt to stop the container (SIGNALS.md §2 S1, trap 36). */
function graceUsedOf(intervals: Intervals, container: ContainerExit, exitAt: Interval): Length | undefined {
  const { graceStart, stopping, hook, signal } = container;
  const isRestarted = graceStart !== undefined && graceStart !== stopping;
  const from = isRestarted ? graceStart : (stopping ?? hook?.start ?? signal);
  if (!from) return undefined;
  // A copy is no mark's moment: without a Killing, the mark of the signal must not place the start of the stop.
  return lengthBetween(intervals.of({ ...from }, isRestarted ? undefined : stopping), exitAt);
}

/** Undefined if silence means nothing: the log was not followed all the time, or its command handles the signal. */
function reactionOf(trace: Trace, container: ContainerExit): 'none' | 'seen' | undefined {
  const { outcome, signal, kill, exit, facts, spec } = container;
  if (outcome !== 'killed' || spec.kind === 'ephemeral' || !signal || !exit) return undefined;
  const { log, readyLost } = facts;
  const [from, lastLine = -Infinity] = [signal.node.lo, log.lastLine?.value.stamp];
  const handlesIt = spec.container.handlesTerm === true && [undefined, 'SIGTERM'].includes(signal.name);
  // What logs all the time goes on after a signal that it never got, and an access log ends with its requests.
  const hasReacted = handlesIt || [...log.signalLines, log.stopLine].some((line) => line && line.value > from);
  const failed = failedProbes(trace, spec.name).filter(({ time }) => time.lo > signal.node.hi);
  const { node, client } = kill ?? exit.at;
  if ((lastLine > from && hasReacted) || (readyLost?.at ?? Infinity) < client.lo) return 'seen';
  if (failed.some(({ time }) => time.hi <= node.lo)) return 'seen';
  // What was perhaps before the kill, or before the exit if no kill is dated, may have been a reaction: a kill fails probes too.
  if (lastLine > from || readyLost || failed.some(({ time }) => time.lo < node.lo)) return undefined;
  return wasLogFollowed(trace, container) && !handlesIt ? 'none' : undefined;
}

function wasLogFollowed(trace: Trace, { spec, facts: { log }, signal, kill }: ContainerExit): boolean {
  if (!log.opened || !signal || !kill || log.opened.at > signal.client.hi) return false;
  const endedBefore = log.ended !== undefined && log.ended.at < kill.client.lo;
  const missed = hasLogGap(trace, spec.name, { lo: signal.client.lo, hi: kill.client.hi });
  // A log line can be late by the delivery lag, and the Event of a failed probe a little more.
  const watchedFor = trace.gone ? Infinity : trace.lastReceivedAt - kill.client.hi;
  const isComplete = watchedFor >= deliveryLagOf(trace) + millisecondsOf('event-lag');
  return isComplete && !endedBefore && !missed;
}
