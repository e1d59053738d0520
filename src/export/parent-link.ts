import type { Link } from '@opentelemetry/api';
import { parseTraceParent, TraceState } from '@opentelemetry/core';

/**
 * The span that TRACEPARENT names (W3C Trace Context in the environment, as CI systems hand it down), as a link: the
 * exit is a trace of its own, since it often outlives the step that caused it. What is malformed is ignored.
 */
export function parentLinks(env: Readonly<Record<string, string | undefined>>): Link[] {
  const context = parseTraceParent(env['TRACEPARENT'] ?? '');
  if (!context) return [];
  const state = env['TRACESTATE'] ?? '';
  return [{ context: { ...context, isRemote: true, ...(state === '' ? {} : { traceState: new TraceState(state) }) } }];
}
