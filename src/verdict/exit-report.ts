/** The JSON document of a report (`-o json`): a serialisation that the program itself never reads back. Pure. */
import { assumptions } from '../model/assumptions.ts';
import type {
  Mark as MarkModel,
  ContainerTimeline,
  EndpointTimeline,
  Interval,
  Length,
  Phase as PhaseModel,
  ReplacementTimeline,
  Timeline,
  TimelineGap,
} from '../infer/timeline.ts';
import { probeReportOf } from '../infer/probes.ts';
import { controllerOf, isFinished } from '../model/pod.ts';
import type {
  ContainerReport,
  EndpointReport,
  ExitReport,
  Finding,
  GapReport,
  Instant,
  Mark,
  Phase,
  Range,
  ReplacementReport,
  TrafficReport,
} from '../model/report.ts';
import { printTime } from '../model/stamps.ts';
import type { Report } from './report.ts';
import { allNotes } from './rule-input.ts';
import type { TrafficAnswer } from './traffic.ts';

export function exitReportOf({ timeline, verdict, answer, run }: Report): ExitReport {
  const { mode, pod, grace, trigger, clocks } = timeline;
  const owner = controllerOf(pod);
  const isGone = timeline.marks.some(({ name }) => name === 'removed');
  const report: Omit<ExitReport, 'observations'> = {
    apiVersion: 'podexit/v1',
    kind: 'ExitReport',
    mode,
    pod: {
      namespace: pod.metadata.namespace ?? '',
      name: pod.metadata.name,
      uid: pod.metadata.uid,
      node: pod.spec.nodeName,
      owner: owner && { kind: owner.kind, name: owner.name },
      runtimeClass: pod.spec.runtimeClassName,
      reason: (!timeline.deleted && isFinished(pod) && pod.status.reason) || undefined,
    },
    grace: {
      requestedSeconds: grace.requestedSeconds,
      specSeconds: grace.specSeconds,
      effectiveSeconds: grace.effectiveSeconds,
      deadline: printTime(grace.deadline, 'earlier'),
    },
    trigger: { kind: trigger.kind, evidence: [...trigger.evidence], note: trigger.note },
    marks: timeline.marks.filter(({ provisional }) => isGone || !provisional).map(markReport),
    phases: timeline.phases.map(phaseReport),
    containers: timeline.containers.map(containerReport),
    endpoints: timeline.endpoints.map(endpointReport),
    replacement: timeline.replacement && replacementReport(timeline.replacement),
    verdict: { ...verdict, findings: verdict.findings.map(findingReport) },
    summary: answer.summary,
    totalSeconds: timeline.total && toThousandths(timeline.total.shown / 1000),
    cause: answer.cause,
    traffic: trafficReport(answer.traffic, timeline),
    fix: answer.fix.length > 0 ? [...answer.fix] : undefined,
    run,
    clocks: { api: clocks.api && offsetReport(clocks.api), node: clocks.node && offsetReport(clocks.node) },
    assumes: timeline.assumes.map((name) => ({ name, seconds: assumptions[name] })),
    gaps: timeline.gaps.map(gapReport),
  };
  return withoutUndefined({ ...report, observations: citedIn(report, timeline.notes) });
}

/** YAML, jsonpath and go-templates cannot express `undefined`. */
function withoutUndefined<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutUndefined) as T;
  if (typeof value !== 'object' || value === null) return value;
  const defined = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(defined.map(([key, item]) => [key, withoutUndefined(item as unknown)])) as T;
}

/** Rounded outward to milliseconds. */
const instant = ({ earliest, latest, basis, evidence }: Interval): Instant => ({
  earliest: printTime(earliest, 'earlier'),
  latest: printTime(latest, 'later'),
  basis,
  evidence: [...evidence],
});

export const markReport = ({ id, name, subject, at, note }: MarkModel): Mark =>
  withoutUndefined({ id, name, subject, at: instant(at), note });

export const gapReport = ({ resource, from, to, cause }: TimelineGap): GapReport =>
  withoutUndefined({
    resource,
    from: printTime(from, 'earlier'),
    to: to === undefined ? undefined : printTime(to, 'later'),
    cause,
  });

const phaseReport = ({ name, subject, start, end, length, ofGrace }: PhaseModel): Phase => ({
  name,
  subject,
  start: instant(start),
  end: instant(end),
  seconds: secondsRange(length),
  ofGrace: thousandths(ofGrace.min, ofGrace.max),
});

/** Rounded outward to milliseconds; may be infinite. */
export const secondsRange = ({ min, max }: Pick<Length, 'min' | 'max'>): Range => thousandths(min / 1000, max / 1000);

const toThousandths = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** Rounded outward to three decimals. */
const thousandths = (min: number, max: number): Range => ({
  min: Math.floor(min * 1000) / 1000,
  max: Math.ceil(max * 1000) / 1000,
});

function containerReport(container: ContainerTimeline): ContainerReport {
  const { preStop, stopSignal, kill, exit, drain, pastGrace, servedUntil } = container;
  const hook = preStop?.end && !preStop.provisional ? { ...preStop, end: preStop.end } : undefined;
  const signal = stopSignal?.provisional ? undefined : stopSignal;
  return {
    name: container.name,
    kind: container.kind,
    outcome: container.outcome,
    probable: container.probable || undefined,
    preStop: hook && { kind: hook.kind, outcome: hook.outcome, start: instant(hook.start), end: instant(hook.end) },
    stopSignal: signal && { ...instant(signal), signal: signal.signal },
    kill: kill && instant(kill),
    exit: exit?.code === undefined ? undefined : { at: instant(exit.at), code: exit.code, reason: exit.reason },
    preStopSeconds: hook?.length && secondsRange(hook.length),
    drainSeconds: drain && secondsRange(drain),
    pastGraceSeconds: pastGrace && secondsRange(pastGrace),
    servedUntil: servedUntil && instant(servedUntil),
  };
}

const endpointReport = (endpoint: EndpointTimeline): EndpointReport => ({
  service: endpoint.service,
  slice: endpoint.slice,
  addressType: endpoint.addressType,
  unroutedAt: endpoint.unroutedAt && instant(endpoint.unroutedAt),
  removedAt: endpoint.removedAt && instant(endpoint.removedAt),
  otherReady: endpoint.otherReady,
});

const replacementReport = (replacement: ReplacementTimeline): ReplacementReport => ({
  name: replacement.name,
  uid: replacement.uid,
  createdAt: instant(replacement.createdAt),
  scheduledAt: replacement.scheduledAt && instant(replacement.scheduledAt),
  startedAt: replacement.startedAt && instant(replacement.startedAt),
  readyAt: replacement.readyAt && instant(replacement.readyAt),
});

const trafficReport = (
  { judgement, reason, measured, services }: TrafficAnswer,
  { probes }: Timeline,
): TrafficReport => ({
  judgement,
  reason: measured === undefined ? reason : `${reason} · ${measured}`,
  services: services.map(({ name, otherReady, noReady }) => ({
    name,
    otherReady,
    noReadySeconds: noReady && secondsRange({ min: noReady.ms, max: noReady.ms }),
  })),
  probes: probes.length > 0 ? probes.map(probeReportOf) : undefined,
});

/** Drops the fields that only people see. */
const findingReport = ({ code, severity, message, advice, evidence }: Finding): Finding => {
  return { code, severity, message, advice, evidence };
};

const offsetReport = ({ min, max }: Range): { offsetMs: Range } => ({
  offsetMs: { min: Math.floor(min), max: Math.ceil(max) },
});

/** One line per cited observation, oldest first. */
function citedIn(report: Omit<ExitReport, 'observations'>, newest: Timeline['notes']): ExitReport['observations'] {
  const cited = new Set<number>();
  collect(report, cited);
  return allNotes(newest).flatMap(({ seq, at, what }) =>
    cited.has(seq) ? [{ seq, at: printTime(at, 'earlier'), what }] : [],
  );
}

function collect(value: unknown, into: Set<number>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    if (key === 'evidence' && Array.isArray(item)) item.forEach((seq) => into.add(seq as number));
    else collect(item, into);
  }
}
