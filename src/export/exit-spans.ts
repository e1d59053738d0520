/** An exit as the spans of one trace: the exit is the root, its phases are the children, its marks are events. Pure. */
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { ExitReport, Finding, Instant, Mark, Phase, ProbeReport, Time } from '../model/report.ts';

export interface SpanEvent {
  name: string;
  time: HrTime;
  attributes: Attributes;
}

export interface PlannedSpan {
  name: string;
  start: HrTime;
  end: HrTime;
  attributes: Attributes;
  events: SpanEvent[];
}

export interface PlannedTrace {
  root: PlannedSpan;
  children: PlannedSpan[];
  /** Absent if the exit code is 0. */
  error?: string;
}

/**
 * A span has one start and one end, but the report has intervals: spans and events get the middle of their interval, and
 * its bounds and basis as attributes. No child begins before the root or ends after it.
 */
export function planTrace(report: ExitReport): PlannedTrace {
  const { verdict, marks, phases, traffic } = report;
  const probes = traffic?.probes ?? [];
  const times = [
    ...marks.map(({ at }) => middle(at)),
    ...[...phases, ...probes.flatMap(({ windows }) => windows)].flatMap(({ start, end }) => [
      middle(start),
      middle(end),
    ]),
  ];
  // An exit that never began is a trace at the deadline, the only time that every report has.
  const moments = times.length > 0 ? times : [millis(report.grace.deadline)];
  const end = toHrTime(Math.max(...moments));
  return {
    root: {
      name: 'pod exit',
      start: toHrTime(Math.min(...moments)),
      end,
      attributes: exitAttributes(report),
      events: [...marks.map(markEvent), ...verdict.findings.map((finding) => findingEvent(finding, end))],
    },
    children: [
      ...phases.map((phase) => phaseSpan(report, phase)),
      ...probes.flatMap((probe) => probe.windows.map((window) => failureSpan(probe, window))),
    ],
    ...(verdict.exitCode === 0 ? {} : { error: errorOf(report) }),
  };
}

/** Milliseconds since the epoch as seconds and nanoseconds: a single number of nanoseconds would not be exact. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}

const millis = (time: Time): number => Date.parse(time);

/** An instant without a lower bound (`earliest` is the epoch's) counts as its latest time. */
function middle({ earliest, latest }: Instant): number {
  const [lo, hi] = [millis(earliest), millis(latest)];
  return lo > 0 ? (lo + hi) / 2 : hi;
}

const ownerAttributes: Record<string, string> = {
  ReplicaSet: 'k8s.replicaset.name',
  StatefulSet: 'k8s.statefulset.name',
  DaemonSet: 'k8s.daemonset.name',
  Job: 'k8s.job.name',
};

/** Names from OpenTelemetry's semantic conventions for Kubernetes, and our own below `podexit.`. */
function exitAttributes({ pod, grace, trigger, mode, verdict }: ExitReport): Attributes {
  const owner = pod.owner && ownerAttributes[pod.owner.kind];
  return {
    'k8s.namespace.name': pod.namespace,
    'k8s.pod.name': pod.name,
    'k8s.pod.uid': pod.uid,
    ...(pod.node === undefined ? {} : { 'k8s.node.name': pod.node }),
    ...(pod.owner && owner !== undefined ? { [owner]: pod.owner.name } : {}),
    'podexit.mode': mode,
    'podexit.trigger': trigger.kind,
    'podexit.outcome': verdict.outcome,
    'podexit.exit_code': verdict.exitCode,
    'podexit.grace.seconds': grace.effectiveSeconds,
    'podexit.findings': verdict.findings.map(({ code }) => code),
    'podexit.gates.failed': verdict.gates.filter(({ passed }) => !passed).map(({ name }) => name),
  };
}

function phaseSpan(report: ExitReport, { name, subject, start, end, seconds, ofGrace }: Phase): PlannedSpan {
  const from = middle(start);
  return {
    name,
    start: toHrTime(from),
    end: toHrTime(Math.max(from, middle(end))),
    attributes: {
      ...subjectAttributes(report, subject),
      ...bounds('podexit.start', start),
      ...bounds('podexit.end', end),
      'podexit.seconds.min': seconds.min,
      'podexit.seconds.max': seconds.max,
      'podexit.of_grace.min': ofGrace.min,
      'podexit.of_grace.max': ofGrace.max,
      ...(name === 'drain' ? endAttributes(report, subject) : {}),
    },
    events: [],
  };
}

/** A stretch in which requests of `--probe` failed. */
const failureSpan = (
  { target, via, ratePerSecond }: ProbeReport,
  { start, end, failed }: ProbeReport['windows'][number],
): PlannedSpan => ({
  name: 'requests failed',
  start: toHrTime(middle(start)),
  end: toHrTime(Math.max(middle(start), middle(end))),
  attributes: {
    'podexit.probe.target': target,
    'podexit.probe.via': via,
    'podexit.probe.rate': ratePerSecond,
    'podexit.probe.failed': failed,
    ...bounds('podexit.start', start),
    ...bounds('podexit.end', end),
  },
  events: [],
});

function endAttributes({ containers }: ExitReport, subject: string | undefined): Attributes {
  const container = containers.find(({ name }) => name === subject);
  if (!container) return {};
  return {
    'podexit.container.outcome': container.outcome,
    ...(container.exit ? { 'podexit.container.exit_code': container.exit.code } : {}),
  };
}

const markEvent = ({ name, subject, at, note }: Mark): SpanEvent => ({
  name,
  time: toHrTime(middle(at)),
  attributes: {
    ...(subject === undefined ? {} : { 'podexit.subject': subject }),
    ...bounds('podexit.at', at),
    ...(note === undefined ? {} : { 'podexit.note': note }),
  },
});

const findingEvent = ({ code, severity, message, advice }: Finding, time: HrTime): SpanEvent => ({
  name: `finding ${code}`,
  time,
  attributes: {
    'podexit.finding.code': code,
    'podexit.finding.severity': severity,
    'podexit.finding.message': message,
    ...(advice === undefined ? {} : { 'podexit.finding.advice': advice }),
  },
});

function subjectAttributes({ containers }: ExitReport, subject: string | undefined): Attributes {
  if (subject === undefined) return {};
  const isContainer = containers.some(({ name }) => name === subject);
  return { 'podexit.subject': subject, ...(isContainer ? { 'k8s.container.name': subject } : {}) };
}

const bounds = (prefix: string, { earliest, latest, basis }: Instant): Attributes => ({
  [`${prefix}.earliest`]: earliest,
  [`${prefix}.latest`]: latest,
  [`${prefix}.basis`]: basis,
});

function errorOf({ verdict }: ExitReport): string {
  const failed = verdict.gates.filter(({ passed }) => !passed).map(({ name }) => name);
  return [verdict.outcome, ...failed.map((name) => `gate ${name} failed`)].join(', ');
}
