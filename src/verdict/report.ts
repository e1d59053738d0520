/** The ExitReport of a trace: the one document that every renderer shows. Pure. */
import type { AssumptionName } from '../model/assumptions.ts';
import { assumptions } from '../model/assumptions.ts';
import { toClient } from '../model/clock.ts';
import { withDates } from '../model/dates.ts';
import type { ContainerExit } from '../infer/container.ts';
import type { Estimate } from '../infer/estimate.ts';
import { instantOf, spanOf } from '../infer/estimate.ts';
import { controllerOf, isFinished } from '../model/pod.ts';
import type { ContainerReport, EndpointReport, ExitReport, Instant, Mark, Phase, Range } from '../model/report.ts';
import type { Span } from '../model/span.ts';
import { parseFloor, parseTime, printTime } from '../model/stamps.ts';
import { conclusionsOf } from '../infer/conclusions.ts';
import type { Exit, Conclusions, TimelineMark, TimelinePhase } from '../infer/conclusions.ts';
import type { Note, Trace } from '../model/trace.ts';
import { isFirm, isLasting, isSignalFirm, told } from '../infer/view/told.ts';
import { clockGaps, gapsOf } from './gaps.ts';
import type { Policy } from './judge.ts';
import { judge, noPolicy } from './judge.ts';

/** Undefined while not even the pod has been seen. */
export function reportOf(trace: Trace, policy: Policy = noPolicy): ExitReport | undefined {
  const timeline = conclusionsOf(trace);
  return timeline && buildReport(trace, timeline, policy);
}

function buildReport(trace: Trace, timeline: Conclusions, policy: Policy): ExitReport {
  const { exit } = timeline;
  const fallback = windowOf(trace, timeline);
  const at = (estimate: Estimate) => instantOf(estimate, fallback);
  const report: Omit<ExitReport, 'observations'> = {
    apiVersion: 'podexit/v1',
    kind: 'ExitReport',
    mode: trace.began?.value.mode ?? 'attach',
    pod: podOf(timeline),
    grace: graceOf(trace, timeline),
    trigger: { kind: exit?.trigger.kind ?? 'unknown', evidence: unique(exit?.trigger.evidence ?? []) },
    marks: timeline.marks.filter((mark) => isLasting(trace, mark)).map((mark) => markReport(mark, at)),
    phases: timeline.phases.flatMap((phase) => phaseReport(phase, timeline, fallback)),
    containers: (exit?.containers ?? []).map((container) => containerReport(trace, container, at)),
    endpoints: (exit?.endpoints ?? []).map(
      ({ slice, service, addressType, unrouted, removed, otherReady }): EndpointReport => ({
        ...(service === undefined ? {} : { service }),
        slice,
        addressType,
        ...(unrouted ? { unroutedAt: at(unrouted) } : {}),
        ...(removed ? { removedAt: at(removed) } : {}),
        otherReady,
      }),
    ),
    ...replacementReport(exit, at),
    verdict: judge(trace, timeline, policy),
    clocks: clocksOf(timeline),
    assumes: assumesOf(exit),
    gaps: [...gapsOf(trace), ...clockGaps(exit)],
  };
  return { ...report, observations: cited(trace, report) };
}

export const markReport = (mark: TimelineMark, at: (estimate: Estimate) => Instant): Mark => ({
  id: mark.id,
  name: mark.name,
  ...(mark.subject === undefined ? {} : { subject: mark.subject }),
  at: at(mark.at),
  ...(mark.note === undefined ? {} : { note: mark.note }),
});

/**
 * What an unbounded instant is printed as: from the pod's creation to the newest observation. The API server stamps the
 * creation (SIGNALS.md §5 "Clocks"): it says nothing of the client's time where nothing bounds how far ahead it is.
 */
export function windowOf(trace: Trace, { exit }: Pick<Conclusions, 'exit'>): Span {
  const created = parseFloor(trace.pod?.value.metadata.creationTimestamp);
  const api = exit?.deletion.api ?? withDates(trace.clocks.api, trace.clocks.dates);
  const lo = created ? toClient(api, created, trace.now).lo : -Infinity;
  return { lo: Math.min(lo, trace.now), hi: trace.now + 1 };
}

function podOf({ pod, exit }: Conclusions): ExitReport['pod'] {
  const owner = controllerOf(pod);
  return {
    namespace: pod.metadata.namespace ?? '',
    name: pod.metadata.name,
    uid: pod.metadata.uid,
    ...(pod.spec.nodeName === undefined ? {} : { node: pod.spec.nodeName }),
    ...(owner ? { owner: { kind: owner.kind, name: owner.name } } : {}),
    ...(pod.spec.runtimeClassName === undefined ? {} : { runtimeClass: pod.spec.runtimeClassName }),
    ...(!exit && isFinished(pod) && pod.status.reason ? { reason: pod.status.reason } : {}),
  };
}

function graceOf(trace: Trace, { pod, exit }: Conclusions): ExitReport['grace'] {
  const specSeconds = pod.spec.terminationGracePeriodSeconds ?? 30;
  const requestedSeconds = trace.began?.value.graceSeconds ?? null;
  const deadline = parseTime(pod.metadata.deletionTimestamp);
  return {
    requestedSeconds,
    specSeconds,
    effectiveSeconds: (exit && effectiveGrace(exit)) ?? requestedSeconds ?? specSeconds,
    deadline: printTime(deadline ?? trace.now, 'earlier'),
  };
}

/** The first DELETE's, unless a later one certainly lowered it before the kubelet began (SIGNALS.md §1 "Repeat delete"). */
const effectiveGrace = ({ deletion, kubelet }: Exit): number => Math.min(deletion.grace, kubelet.grace.max);

/**
 * What nothing bounds lasted at most from the earliest start to the latest end that are told; where even the window does
 * not bound those, how long is not known, and the phase is none.
 */
function phaseReport(phase: TimelinePhase, timeline: Conclusions, window: Span): Phase[] {
  const [start, end] = [instantOf(phase.start, window), instantOf(phase.end, window)];
  const lasted = Number.isFinite(phase.lasted.hi) ? phase.lasted : toldSpan(phase, window);
  if (!Number.isFinite(lasted.hi)) return [];
  const { min: least, max: most } = timeline.exit?.kubelet.grace ?? { min: 1, max: 1 };
  return [
    {
      name: phase.name,
      ...(phase.subject === undefined ? {} : { subject: phase.subject }),
      start,
      end,
      seconds: range(lasted, 1000),
      ofGrace: { min: range(lasted, most * 1000).min, max: range(lasted, least * 1000).max },
    },
  ];
}

function toldSpan({ start, end, lasted }: TimelinePhase, window: Span): Span {
  const [from, to] = [spanOf(start, window), spanOf(end, window)];
  return { lo: lasted.lo, hi: Math.max(lasted.lo, to.hi - from.lo) };
}

/** Rounded outward to three decimals. */
const range = (span: Span, unit: number): Range => ({
  min: Math.floor((Math.max(0, span.lo) / unit) * 1000) / 1000,
  max: Math.ceil((Math.max(0, span.hi) / unit) * 1000) / 1000,
});

function containerReport(trace: Trace, container: ContainerExit, at: (estimate: Estimate) => Instant): ContainerReport {
  const { spec, outcome, hook, exit, ran } = container;
  const signal = isSignalFirm(trace, container) ? told(trace, container.signal) : undefined;
  const kill = told(trace, container.kill);
  const exited = told(trace, exit?.at);
  const preStop = ran && isFirm(trace, container) ? told(trace, hook?.start) : undefined;
  const preStopEnd = told(trace, hook?.end);
  return {
    name: spec.name,
    kind: spec.kind,
    outcome,
    ...(hook && preStop && preStopEnd
      ? { preStop: { kind: hook.kind, outcome: hook.outcome, start: at(preStop), end: at(preStopEnd) } }
      : {}),
    ...(signal
      ? {
          stopSignal: {
            ...at(signal),
            ...(container.signal?.name === undefined ? {} : { signal: container.signal.name }),
          },
        }
      : {}),
    ...(kill ? { kill: at(kill) } : {}),
    ...(exit?.code === undefined || !exited
      ? {}
      : { exit: { at: at(exited), code: exit.code, ...(exit.reason === undefined ? {} : { reason: exit.reason }) } }),
  };
}

function replacementReport(
  exit: Exit | undefined,
  at: (estimate: Estimate) => Instant,
): Pick<ExitReport, 'replacement'> {
  const one = exit?.replacement;
  if (!one) return {};
  return {
    replacement: {
      name: one.name,
      uid: one.uid,
      createdAt: at(one.created),
      ...(one.scheduled ? { scheduledAt: at(one.scheduled) } : {}),
      ...(one.started ? { startedAt: at(one.started) } : {}),
      ...(one.ready ? { readyAt: at(one.ready) } : {}),
    },
  };
}

function clocksOf({ offsets }: Conclusions): ExitReport['clocks'] {
  const finite = (span: Span | undefined) =>
    span && Number.isFinite(span.lo) && Number.isFinite(span.hi)
      ? { offsetMs: { min: Math.floor(span.lo), max: Math.ceil(span.hi) } }
      : undefined;
  const api = finite(offsets.api);
  const node = finite(offsets.node);
  return { ...(api ? { api } : {}), ...(node ? { node } : {}) };
}

/** Offsets and arrivals lean on these in every report; the others are named where an instant does. */
const always: AssumptionName[] = ['clock-drift', 'delivery-lag', 'event-lag'];

function assumesOf(exit: Exit | undefined): ExitReport['assumes'] {
  const used = new Set<AssumptionName>(
    exit ? [...always, ...exit.deletion.assumes, ...exit.containers.flatMap((container) => container.assumes)] : [],
  );
  return [...used].sort().map((name) => ({ name, seconds: assumptions[name] }));
}

/** One line each for all that is cited, and for nothing else. */
function cited(trace: Trace, report: Omit<ExitReport, 'observations'>): ExitReport['observations'] {
  const wanted = new Set<number>();
  collect(report, wanted);
  const lines: ExitReport['observations'] = [];
  for (let note: Note | undefined = trace.notes; note; note = note.earlier)
    if (wanted.has(note.seq)) lines.unshift({ seq: note.seq, at: printTime(note.at, 'earlier'), what: note.what });
  return lines;
}

function collect(value: unknown, into: Set<number>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === 'evidence' && Array.isArray(item)) item.forEach((seq) => into.add(seq as number));
    else collect(item, into);
  }
}

const unique = (seqs: readonly number[]): number[] => [...new Set(seqs)].sort((a, b) => a - b);
