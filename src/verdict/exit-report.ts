/** The JSON document of a report (`-o json`): a serialisation that the program itself never reads back. Pure. */
import { assumptions } from '../model/assumptions.ts';
import type { ContainerTimeline, Interval, Length, Mark, Timeline, TimelineGap } from '../infer/timeline.ts';
import { probeReportOf } from '../infer/probes.ts';
import { controllerOf, isFinished } from '../model/pod.ts';
import type { ExitReport, GapReport, Instant, MarkReport, Range } from '../model/report.ts';
import { maxObservedWidthMs } from '../model/span.ts';
import { printTime } from '../model/stamps.ts';
import { allNotes } from '../model/trace.ts';
import type { Report } from './report.ts';
import type { TrafficAnswer } from './traffic.ts';

export function exitReportOf({ timeline, verdict, answer, ledger, run }: Report): ExitReport {
  const { mode, pod, grace, trigger, clocks } = timeline;
  const owner = controllerOf(pod);
  const isGone = timeline.marks.some(({ name }) => name === 'removed');
  const report: Omit<ExitReport, 'observations'> = serialised({
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
      ...pick(grace, 'requestedSeconds', 'specSeconds', 'effectiveSeconds'),
      deadline: printTime(grace.deadline, 'earlier'),
    },
    trigger: pick(trigger, 'kind', 'evidence', 'note'),
    marks: timeline.marks.filter(({ provisional }) => isGone || !provisional).map(markReport),
    phases: timeline.phases.map(({ length, ofGrace, ...phase }) => ({
      ...phase,
      seconds: length,
      ofGrace: thousandths(ofGrace.min, ofGrace.max),
    })),
    containers: timeline.containers.map(containerReport),
    endpoints: timeline.endpoints.map((endpoint) =>
      pick(endpoint, 'service', 'slice', 'addressType', 'unroutedAt', 'removedAt', 'otherReady'),
    ),
    replacement: timeline.replacement,
    verdict: {
      ...verdict,
      // Without the fields that only people see.
      findings: verdict.findings.map((finding) => pick(finding, 'code', 'severity', 'message', 'advice', 'evidence')),
    },
    summary: answer.summary,
    totalSeconds: totalSeconds(timeline),
    ledger: ledger.length > 0 ? [...ledger] : undefined,
    cause: answer.cause,
    traffic: trafficReport(answer.traffic, timeline),
    fix: answer.fix.length > 0 ? answer.fix : undefined,
    run,
    clocks: { api: clocks.api && offsetReport(clocks.api), node: clocks.node && offsetReport(clocks.node) },
    assumes: timeline.assumes.map((name) => ({ name, seconds: assumptions[name] })),
    gaps: timeline.gaps.map(gapReport),
  });
  return { ...report, observations: citedIn(report, timeline.notes) };
}

export const pick = <T, Key extends keyof T>(object: T, ...keys: Key[]): Pick<T, Key> =>
  Object.fromEntries(keys.map((key) => [key, object[key]])) as Pick<T, Key>;

type Serialised<T> = T extends Interval
  ? Instant
  : T extends Length
    ? Range
    : T extends readonly (infer Item)[]
      ? Serialised<Item>[]
      : T extends object
        ? { [Key in keyof T]: Serialised<T[Key]> }
        : T;

/** Instants for intervals, seconds for lengths; without what is undefined, which YAML and jsonpath cannot express. */
function serialised<T>(value: T): Serialised<T>;
function serialised(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => serialised(item as unknown));
  if (typeof value !== 'object' || value === null) return value;
  if ('shown' in value && 'earliest' in value) return instant(value as Interval);
  if ('shown' in value && 'min' in value) return secondsRange(value as Length);
  const defined = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(defined.map(([key, item]) => [key, serialised(item as unknown)]));
}

/** Rounded outward to milliseconds. */
const instant = ({ earliest, latest, basis, evidence }: Interval): Instant => ({
  earliest: printTime(earliest, 'earlier'),
  latest: printTime(latest, 'later'),
  basis,
  evidence: [...evidence],
});

export const markReport = (mark: Mark): MarkReport => serialised(pick(mark, 'id', 'name', 'subject', 'at', 'note'));

export const gapReport = ({ resource, from, to, cause }: TimelineGap): GapReport =>
  serialised({
    resource,
    from: printTime(from, 'earlier'),
    to: to === undefined ? undefined : printTime(to, 'later'),
    cause,
  });

/** Rounded outward to milliseconds; may be infinite. */
export const secondsRange = ({ min, max }: Pick<Length, 'min' | 'max'>): Range => thousandths(min / 1000, max / 1000);

/** Absent if the deletion may have begun long before it was observed: a single number would be wrong. */
function totalSeconds({ total }: Timeline): number | undefined {
  if (!total || (total.basis !== 'observed' && total.max - total.min > maxObservedWidthMs)) return undefined;
  return Math.round(total.shown) / 1000;
}

const thousandths = (min: number, max: number): Range => ({
  min: Math.floor(min * 1000) / 1000,
  max: Math.ceil(max * 1000) / 1000,
});

function containerReport(container: ContainerTimeline) {
  const { preStop, stopSignal, exit } = container;
  const hook = preStop?.end && !preStop.provisional ? { ...preStop, end: preStop.end } : undefined;
  const signal = stopSignal?.provisional ? undefined : stopSignal;
  return {
    ...pick(container, 'name', 'kind', 'outcome'),
    probable: container.probable || undefined,
    preStop: hook && pick(hook, 'kind', 'outcome', 'start', 'end'),
    stopSignal: signal && { ...instant(signal), signal: signal.signal },
    kill: container.kill,
    exit: exit?.code === undefined ? undefined : { at: exit.at, code: exit.code, reason: exit.reason },
    preStopSeconds: hook?.length,
    drainSeconds: container.drain,
    pastGraceSeconds: container.pastGrace,
    servedUntil: container.servedUntil,
  };
}

const trafficReport = ({ judgement, grade, reason, measured, services }: TrafficAnswer, { probes }: Timeline) => ({
  judgement,
  grade,
  reason: measured === undefined ? reason : `${reason} · ${measured}`,
  services: services.map(({ name, otherReady, noReady }) => ({
    name,
    otherReady,
    noReadySeconds: noReady && secondsRange({ min: noReady.ms, max: noReady.ms }),
  })),
  probes: probes.length > 0 ? probes.map(probeReportOf) : undefined,
});

const offsetReport = ({ min, max }: Range): { offsetMs: Range } => ({
  offsetMs: { min: Math.floor(min), max: Math.ceil(max) },
});

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
