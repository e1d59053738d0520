/** Makes the Timeline from the conclusions: numbers on one clock, with one consistent schedule. Pure. */
import type { AssumptionName } from '../model/assumptions.ts';
import { offsetAt, withDates } from '../model/clock.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf, deploymentNamed, isFinished } from '../model/pod.ts';
import { isSeenAtOnce, type Span } from '../model/span.ts';
import { parseFloor, parseTime } from '../model/stamps.ts';
import { allNotes, type OwnerFacts, type Trace } from '../model/trace.ts';
import { containerTimeline } from './container-timeline.ts';
import type { PodExit } from './context.ts';
import { unroutedBefore } from './endpoints.ts';
import { cite, type Estimate } from './estimate.ts';
import { clockGaps, streamGaps } from './gaps.ts';
import { marksOf, phasesOf, unseenMarks } from './marks.ts';
import { failureMarks, probeResultsOf } from './probes.ts';
import { inOrder, scheduleOf, shownLength, intervalsIn, type Intervals } from './schedule.ts';
import type { GraceTimeline, Interval, Length, Mark, Timeline, Workload } from './timeline.ts';

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
    containers: exit
      ? exit.containers.map((container) => containerTimeline({ exit, intervals, phases }, container))
      : [],
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

/** What the network rejected, each once. */
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
    counted: exit ? exit.kubelet.grace : { min: planned, max: planned },
  };
}

/** On a pod that was first seen finished, 0 may be of the kubelet's last DELETE (trap 2): then its spec's is likely. */
const graceSeen = ({ deletion: { grace, isWitnessed, pod } }: PodExit): number =>
  grace === 0 && !isWitnessed && isFinished(pod) ? (pod.spec.terminationGracePeriodSeconds ?? 0) : grace;

type Placed<T> = { [K in keyof T]: T[K] extends Estimate | undefined ? Interval | Extract<T[K], undefined> : T[K] };

/** With the interval of each estimate. */
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
