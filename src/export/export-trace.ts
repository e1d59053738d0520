/** Sends an exit over OTLP/HTTP with the official SDK, whose packages read the OTEL_* variables as specified. */
import { diag, DiagLogLevel, type Link } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, TraceState, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { ExitReport } from '../model/report.ts';
import { recordSpans } from './exit-spans.ts';

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
