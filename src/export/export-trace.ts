/** Sends an exit over OTLP/HTTP with the official SDK, whose packages read the OTEL_* variables as specified. */
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Attributes, HrTime, Link, Tracer } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, TraceState, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ExitReport, Finding, Instant, MarkReport, PhaseReport, ProbeReport, Time } from '../model/report.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `version`: of podexit. Returns why the export failed, in one sentence; undefined if it succeeded or OTEL_SDK_DISABLED is set. */
export async function exportTrace(
  report: ExitReport,
  { env, version }: { env: Env; version: string },
): Promise<string | undefined> {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return undefined;
  const warnings = collectWarnings();
  try {
    const result = await send(exporterFor(env), spansOf(report, env, version), timeoutMs(env));
    return result.code === ExportResultCode.SUCCESS ? undefined : [reasonOf(result.error), ...warnings].join('; ');
  } catch (error) {
    return [reasonOf(error), ...warnings].join('; ');
  } finally {
    diag.disable();
  }
}

/** Collects the warnings of the packages about settings that they cannot use. */
function collectWarnings(): string[] {
  const warnings: string[] = [];
  const take = (message: string): void => void warnings.push(withoutCredentials(message));
  const ignore = (): void => {};
  const logger = { error: ignore, warn: take, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return warnings;
}

const setting = (env: Env, name: string): string | undefined =>
  env[`OTEL_EXPORTER_OTLP_TRACES_${name}`]?.trim() || env[`OTEL_EXPORTER_OTLP_${name}`]?.trim() || undefined;

function exporterFor(env: Env): SpanExporter {
  const protocol = setting(env, 'PROTOCOL') ?? 'http/protobuf';
  if (protocol === 'http/json') return new JsonExporter();
  if (protocol === 'http/protobuf') return new ProtobufExporter();
  throw new Error(`unsupported protocol ${protocol.slice(0, 40)}: use http/protobuf or http/json`);
}

/** The specification's default is 10 s. */
function timeoutMs(env: Env): number {
  const ms = Number(setting(env, 'TIMEOUT') ?? 10_000);
  return Number.isFinite(ms) && ms > 0 ? ms : 10_000;
}

/** All spans of one trace, ended and ready to be sent. */
function spansOf(report: ExitReport, env: Env, version: string): ReadableSpan[] {
  const ended: ReadableSpan[] = [];
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'kubectl-podexit', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    // A pod of many containers has more marks than the SDK keeps by default, and none may be lost.
    spanLimits: { eventCountLimit: 10_000 },
    spanProcessors: [
      {
        onStart: () => {},
        onEnd: (span) => void ended.push(span),
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  recordSpans(provider.getTracer('kubectl-podexit', version), report, parentLinks(env));
  return ended;
}

/** TRACEPARENT (W3C, as CI systems hand it down) as a link: an exit often outlives its step. A malformed one is ignored. */
function parentLinks(env: Env): Link[] {
  const context = parseTraceParent(env['TRACEPARENT'] ?? '');
  if (!context) return [];
  const state = env['TRACESTATE'];
  return [{ context: { ...context, isRemote: true, traceState: state ? new TraceState(state) : undefined } }];
}

/** Waits for the exporter and its retries, but no longer than its timeout. */
async function send(exporter: SpanExporter, spans: ReadableSpan[], ms: number): Promise<ExportResult> {
  if (spans.length === 0) return { code: ExportResultCode.SUCCESS };
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<ExportResult>((resolve) => {
    const error = new Error(`the collector did not answer within ${ms / 1000}s`);
    timer = setTimeout(() => resolve({ code: ExportResultCode.FAILED, error }), ms);
  });
  const sent = new Promise<ExportResult>((resolve) => exporter.export(spans, resolve));
  try {
    return await Promise.race([sent, timedOut]);
  } finally {
    clearTimeout(timer);
    void exporter.shutdown().catch(() => {});
  }
}

function reasonOf(error: unknown): string {
  const { message = String(error), code } = error as NodeJS.ErrnoException;
  const first = withoutCredentials(message.split('\n')[0] || 'no reason was given').slice(0, 300);
  return code === undefined || first.includes(String(code)) ? first : `${first} (${String(code)})`;
}

const withoutCredentials = (text: string): string => text.replace(/\/\/[^/@\s]*@/g, '//');

/**
 * Records and ends all spans of a report: the exit is the root, its phases are the children, its marks are events. A span has
 * one start and one end, but the report has intervals: spans and events get the middle of their interval, and its bounds and
 * basis as attributes. No child begins before the root or ends after it. `links`: of the root.
 */
function recordSpans(tracer: Tracer, report: ExitReport, links: Link[]): void {
  const { verdict, marks, phases, traffic } = report;
  const probes = traffic?.probes ?? [];
  const failed = failedGates(verdict).map((name) => `gate ${name} failed`);
  const stretches = [...phases, ...probes.flatMap(({ windows }) => windows)];
  const instants = [...marks.map(({ at }) => at), ...stretches.flatMap(({ start, end }) => [start, end])];
  // An exit that never began is a trace at the deadline, the only time that every report has.
  const moments = instants.length > 0 ? instants.map(middle) : [millis(report.grace.deadline)];
  const startTime = toHrTime(Math.min(...moments));
  const endTime = toHrTime(Math.max(...moments));
  const root = tracer.startSpan('pod exit', { startTime, links, attributes: exitAttributes(report) }, ROOT_CONTEXT);
  for (const mark of marks) root.addEvent(mark.name, markAttributes(mark), toHrTime(middle(mark.at)));
  for (const finding of verdict.findings) root.addEvent(`finding ${finding.code}`, findingAttributes(finding), endTime);
  if (verdict.exitCode !== 0)
    root.setStatus({ code: SpanStatusCode.ERROR, message: [verdict.outcome, ...failed].join(', ') });

  const below = trace.setSpan(ROOT_CONTEXT, root);
  const recordChild = (name: string, { start, end }: { start: Instant; end: Instant }, own: Attributes): void => {
    const attributes = known({ ...own, ...bounds('podexit.start', start), ...bounds('podexit.end', end) });
    const child = tracer.startSpan(name, { startTime: toHrTime(middle(start)), attributes }, below);
    child.end(toHrTime(Math.max(middle(start), middle(end))));
  };
  for (const phase of phases) recordChild(phase.name, phase, phaseAttributes(report, phase));
  for (const probe of probes)
    for (const window of probe.windows) recordChild('requests failed', window, failureAttributes(probe, window));
  root.end(endTime);
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
  return known({
    'k8s.namespace.name': pod.namespace,
    'k8s.pod.name': pod.name,
    'k8s.pod.uid': pod.uid,
    'k8s.node.name': pod.node,
    ...(owner && { [owner]: pod.owner?.name }),
    'podexit.mode': mode,
    'podexit.trigger': trigger.kind,
    'podexit.outcome': verdict.outcome,
    'podexit.exit_code': verdict.exitCode,
    'podexit.grace.seconds': grace.effectiveSeconds,
    'podexit.findings': verdict.findings.map(({ code }) => code),
    'podexit.gates.failed': failedGates(verdict),
  });
}

/** The SDK would send an undefined attribute, without a value. */
const known = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

function phaseAttributes({ containers }: ExitReport, { name, subject, seconds, ofGrace }: PhaseReport): Attributes {
  const container = containers.find((one) => one.name === subject);
  const drained = name === 'drain' ? container : undefined;
  return {
    'podexit.subject': subject,
    'k8s.container.name': container?.name,
    'podexit.seconds.min': seconds.min,
    'podexit.seconds.max': seconds.max,
    'podexit.of_grace.min': ofGrace.min,
    'podexit.of_grace.max': ofGrace.max,
    'podexit.container.outcome': drained?.outcome,
    'podexit.container.exit_code': drained?.exit?.code,
  };
}

/** A stretch in which requests of `--probe` failed. */
const failureAttributes = (
  { target, via, ratePerSecond }: ProbeReport,
  { failed }: ProbeReport['windows'][number],
): Attributes => ({
  'podexit.probe.target': target,
  'podexit.probe.via': via,
  'podexit.probe.rate': ratePerSecond,
  'podexit.probe.failed': failed,
});

const markAttributes = ({ subject, at, note }: MarkReport): Attributes =>
  known({ 'podexit.subject': subject, ...bounds('podexit.at', at), 'podexit.note': note });

const findingAttributes = ({ code, severity, message, advice }: Finding): Attributes =>
  known({
    'podexit.finding.code': code,
    'podexit.finding.severity': severity,
    'podexit.finding.message': message,
    'podexit.finding.advice': advice,
  });

const bounds = (prefix: string, { earliest, latest, basis }: Instant): Attributes => ({
  [`${prefix}.earliest`]: earliest,
  [`${prefix}.latest`]: latest,
  [`${prefix}.basis`]: basis,
});

const failedGates = ({ gates }: ExitReport['verdict']): string[] =>
  gates.filter(({ passed }) => !passed).map(({ name }) => name);
