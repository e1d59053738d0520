/** The Timeline of what was concluded: numbers on one clock, with one consistent schedule. Pure. */
import type { AssumptionName } from '../model/assumptions.ts';
import { toClient, withDates } from '../model/clock.ts';
import type { Pod } from '../model/kube.ts';
import { controllerOf } from '../model/pod.ts';
import type { Span } from '../model/span.ts';
import { parseFloor, parseTime } from '../model/stamps.ts';
import type { OwnerFacts, Trace } from '../model/trace.ts';
import type { Conclusions, Exit, TimelinePhase } from './conclusions.ts';
import { containerTimeline } from './container-timeline.ts';
import type { Estimate } from './estimate.ts';
import { clockGaps, streamGaps } from './gaps.ts';
import { failureMarks, probeResultsOf } from './probes.ts';
import { scheduleOf } from './schedule.ts';
import type { TimelineScale } from './timeline-scale.ts';
import { shownLength, timelineScale } from './timeline-scale.ts';
import type {
  EndpointTimeline,
  GraceTimeline,
  Length,
  Mark,
  Phase,
  ReplacementTimeline,
  Timeline,
  Workload,
} from './timeline.ts';

export function timelineFrom(trace: Trace, conclusions: Conclusions): Timeline {
  const { exit, pod } = conclusions;
  const scale = scaleFor(trace, conclusions);
  const marks = conclusions.marks.map(({ id, name, subject, at, note, provisional }): Mark => {
    return { id, name, subject, at: scale.interval(at, id), note, provisional };
  });
  const phases = conclusions.phases.flatMap((phase) => phaseOf(phase, exit, scale));
  const { trigger } = exit ?? {};
  const removed = marks.find(({ name }) => name === 'removed')?.at.shown;
  const probes = probeResultsOf(trace.probes, { requested: zeroOf(marks), removed });
  return {
    mode: trace.began?.value.mode ?? 'attach',
    pod,
    workload: workloadOf(trace, pod),
    zero: zeroOf(marks) ?? trace.now,
    now: trace.now,
    deleted: exit !== undefined,
    grace: graceOf(trace, conclusions),
    trigger: { kind: trigger?.kind ?? 'unknown', evidence: unique(trigger?.evidence ?? []), note: trigger?.note },
    marks: [...marks, ...failureMarks(probes)],
    phases,
    containers: (exit?.containers ?? []).map((one) => containerTimeline({ trace, exit, scale, phases }, one)),
    endpoints: (exit?.endpoints ?? []).map((one) => endpointOf(one, scale)),
    replacement: exit?.replacement && replacementOf(exit.replacement, scale),
    total: totalOf(marks),
    probes,
    clocks: clocksOf(conclusions),
    assumes: assumesOf(exit),
    gaps: [...streamGaps(trace), ...(exit ? clockGaps(exit.stage) : [])],
    notes: trace.notes,
  };
}

function scaleFor(trace: Trace, { marks, exit }: Conclusions): TimelineScale {
  const window = windowOf(trace, exit);
  const arrivals = new Map<number, number>();
  for (let note = trace.notes; note; note = note.earlier) arrivals.set(note.seq, note.at);
  return timelineScale(scheduleOf(marks, exit, { arrivedAt: (seq) => arrivals.get(seq), window }), window);
}

/**
 * What bounds an instant that nothing else bounds: from the pod's creation to the newest observation. The API server
 * stamps the creation (SIGNALS.md §5 "Clocks"): it says nothing of the client's time where nothing bounds how far ahead
 * its clock is.
 */
function windowOf(trace: Trace, exit: Exit | undefined): Span {
  const created = parseFloor(trace.pod?.value.metadata.creationTimestamp);
  if (!created) return { lo: trace.now, hi: trace.now + 1 };
  const { lo } = exit
    ? exit.stage.toClient('api', created, trace.now)
    : toClient(withDates(trace.clocks.api, trace.clocks.dates), created, trace.now);
  return { lo: Math.min(lo, trace.now), hi: trace.now + 1 };
}

const first = (marks: readonly Mark[]): Mark | undefined =>
  marks.find(({ name }) => name === 'requested') ?? marks.find(({ name }) => name === 'accepted');

const zeroOf = (marks: readonly Mark[]): number | undefined => (first(marks) ?? marks[0])?.at.shown;

function totalOf(marks: readonly Mark[]): Length | undefined {
  const [from, to] = [first(marks)?.at, marks.find(({ name }) => name === 'removed')?.at];
  if (!from || !to) return undefined;
  const lapse = { lo: Math.max(0, to.earliest - from.latest), hi: to.latest - from.earliest };
  return shownLength(lapse, from, to);
}

function graceOf(trace: Trace, { pod, exit }: Conclusions): GraceTimeline {
  const specSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
  const requestedSeconds = trace.began?.value.graceSeconds ?? null;
  const planned = requestedSeconds ?? specSeconds;
  // The first DELETE's, unless a later one certainly lowered it before the kubelet began (SIGNALS.md §1 "Repeat delete").
  const effectiveSeconds = exit ? Math.min(exit.deletion.grace, exit.kubelet.grace.max) : planned;
  return {
    requestedSeconds,
    specSeconds,
    effectiveSeconds,
    deadline: parseTime(pod.metadata.deletionTimestamp) ?? trace.now,
    counted: exit ? exit.kubelet.grace : { min: planned, max: planned },
  };
}

/** Absent where not even the window bounds how long it took. */
function phaseOf(phase: TimelinePhase, exit: Exit | undefined, scale: TimelineScale): Phase[] {
  const { name, subject, lasted } = phase;
  const [startMark, endMark] = endsOf(phase, exit);
  const start = scale.interval(phase.start, startMark);
  const end = scale.interval(phase.end, endMark);
  const hi = Number.isFinite(lasted.hi) ? lasted.hi : Math.max(lasted.lo, end.latest - start.earliest);
  if (!Number.isFinite(hi)) return [];
  const { min, max } = exit?.kubelet.grace ?? { min: 1, max: 1 };
  const length = shownLength({ lo: Math.max(0, lasted.lo), hi: Math.max(0, hi) }, start, end);
  const ofGrace = { min: length.min / (max * 1000), max: length.max / (min * 1000) };
  return [{ name, subject, start, end, length, ofGrace }];
}

/** The marks that a phase lies between, by id. */
function endsOf({ name, subject = '' }: TimelinePhase, exit: Exit | undefined): [string, string] {
  const container = exit?.containers.find(({ spec }) => spec.name === subject);
  const turn = container?.hook ? 'prestop-ended' : 'stopping';
  const last = container?.kill ? 'kill' : 'exited';
  const ends: Record<TimelinePhase['name'], [string, string]> = {
    accept: ['requested', 'accepted'],
    notice: ['accepted', 'acknowledged'],
    'route-removal': ['accepted', `unrouted/${subject}`],
    prestop: [`stopping/${subject}`, `prestop-ended/${subject}`],
    'sidecar-wait': [`${turn}/${subject}`, `stop-signal/${subject}`],
    drain: [`stop-signal/${subject}`, `${last}/${subject}`],
    overtime: [`grace-end/${subject}`, `exited/${subject}`],
    cleanup: ['containers-done', exit?.removal.finalDelete ? 'final-delete' : 'removed'],
    finalize: ['finalizing', 'removed'],
    replace: [`replacement-created/${subject}`, `replacement-ready/${subject}`],
  };
  return ends[name];
}

function endpointOf(
  {
    slice,
    service,
    addressType,
    staysReady,
    wasReady,
    unrouted,
    removed,
    otherReady,
    counted,
  }: Exit['endpoints'][number],
  scale: TimelineScale,
): EndpointTimeline {
  return {
    slice,
    service,
    addressType,
    staysReady,
    wasReady,
    unroutedAt: unrouted && { ...scale.interval(unrouted, `unrouted/${slice}`), serving: unrouted.serving },
    removedAt: removed && scale.interval(removed, `endpoint-removed/${slice}`),
    otherReady,
    counted,
  };
}

function replacementOf(one: NonNullable<Exit['replacement']>, scale: TimelineScale): ReplacementTimeline {
  const at = (estimate: Estimate | undefined, name: string) =>
    estimate && scale.interval(estimate, `replacement-${name}/${one.name}`);
  return {
    name: one.name,
    uid: one.uid,
    createdAt: scale.interval(one.created, `replacement-created/${one.name}`),
    scheduledAt: at(one.scheduled, 'scheduled'),
    startedAt: at(one.started, 'started'),
    readyAt: at(one.ready, 'ready'),
  };
}

function clocksOf({ offsets }: Conclusions): Timeline['clocks'] {
  const finite = ({ lo, hi }: Span) => (Number.isFinite(lo) && Number.isFinite(hi) ? { min: lo, max: hi } : undefined);
  return { api: finite(offsets.api), node: finite(offsets.node) };
}

/** Offsets and arrivals lean on these in every report; the others are named where an instant does. */
const always: readonly AssumptionName[] = ['clock-drift', 'delivery-lag', 'event-lag'];

function assumesOf(exit: Exit | undefined): AssumptionName[] {
  if (!exit) return [];
  return [
    ...new Set([...always, ...exit.deletion.assumes, ...exit.containers.flatMap((container) => container.assumes)]),
  ].sort();
}

const unique = (seqs: readonly number[]): number[] => [...new Set(seqs)].sort((a, b) => a - b);

/** Undefined for a bare pod. */
function workloadOf(trace: Trace, pod: Pod): Workload | undefined {
  const controller = controllerOf(pod);
  if (!controller) return undefined;
  const owner = trace.owners.get(controller.uid);
  const references = owner?.last.value.metadata.ownerReferences ?? [];
  const above = references.find((one) => one.controller === true) ?? references[0];
  if (above) return { kind: above.kind, name: above.name, replicas: replicasOf(trace.owners.get(above.uid)) };
  const deployment = owner ? undefined : deploymentNamed(pod, controller.name);
  if (controller.kind === 'ReplicaSet' && deployment !== undefined) return { kind: 'Deployment', name: deployment };
  return { kind: controller.kind, name: controller.name, replicas: replicasOf(owner) };
}

const replicasOf = (owner: OwnerFacts | undefined): number | undefined => owner?.last.value.spec.replicas;

/** A Deployment names its ReplicaSets NAME-HASH, and labels their pods with the hash. */
function deploymentNamed(pod: Pod, replicaSet: string): string | undefined {
  const hash = pod.metadata.labels?.['pod-template-hash'];
  return hash !== undefined && replicaSet.endsWith(`-${hash}`) ? replicaSet.slice(0, -hash.length - 1) : undefined;
}
