/** Decodes an OTLP request in JSON, like a collector (opentelemetry-proto, trace/v1/trace.proto). */
export type Attributes = Record<string, unknown>;

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** ns since the epoch. */
  start: bigint;
  end: bigint;
  attributes: Attributes;
  events: { name: string; time: bigint; attributes: Attributes }[];
  links: { traceId: string; spanId: string; traceState: string }[];
  status: { code: number; message: string };
}

export interface ReceivedTrace {
  resource: Attributes;
  scope: { name: string; version: string };
  spans: ReceivedSpan[];
}

interface JsonValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number;
  doubleValue?: number;
  arrayValue?: { values: JsonValue[] };
}
type JsonAttributes = { key: string; value: JsonValue }[];
interface JsonSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: JsonAttributes;
  events: { name: string; timeUnixNano: string; attributes: JsonAttributes }[];
  links: { traceId: string; spanId: string; traceState?: string }[];
  status: { code: number; message?: string };
}
interface JsonRequest {
  resourceSpans: {
    resource: { attributes: JsonAttributes };
    scopeSpans: { scope: { name: string; version: string }; spans: JsonSpan[] }[];
  }[];
}

export function decodeJson(body: Buffer): ReceivedTrace[] {
  const { resourceSpans } = JSON.parse(body.toString('utf8')) as JsonRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.map(({ scope, spans }) => ({
      resource: fromJson(resource.attributes),
      scope,
      spans: spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        name: span.name,
        start: nanos(span.startTimeUnixNano),
        end: nanos(span.endTimeUnixNano),
        attributes: fromJson(span.attributes),
        events: span.events.map(({ name, timeUnixNano, attributes }) => ({
          name,
          time: nanos(timeUnixNano),
          attributes: fromJson(attributes),
        })),
        links: span.links.map(({ traceId, spanId, traceState = '' }) => ({ traceId, spanId, traceState })),
        status: { code: span.status.code, message: span.status.message ?? '' },
      })),
    })),
  );
}

/** Nanoseconds must be a string: a JSON number would lose the last digits when it is parsed. */
function nanos(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw new Error(`no decimal string: ${String(value)}`);
  return BigInt(value);
}

const fromJson = (attributes: JsonAttributes): Attributes =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, jsonValue(value)]));

function jsonValue(value: JsonValue): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(jsonValue);
  return (
    value.stringValue ??
    value.boolValue ??
    value.doubleValue ??
    (value.intValue === undefined ? undefined : Number(value.intValue))
  );
}
