/** Decodes an OTLP request in either encoding, like a collector (opentelemetry-proto, trace/v1/trace.proto). */
import type { Message } from './protobuf.ts';
import { hex, messages, readMessage, text, whole } from './protobuf.ts';

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

export function decodeProtobuf(body: Buffer): ReceivedTrace[] {
  return messages(readMessage(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    return messages(resourceSpans, 2).map((scopeSpans) => {
      const [scope] = messages(scopeSpans, 1);
      return {
        resource: resource ? attributesAt(resource, 1) : {},
        scope: { name: scope ? text(scope, 1) : '', version: scope ? text(scope, 2) : '' },
        spans: messages(scopeSpans, 2).map(spanOf),
      };
    });
  });
}

function spanOf(span: Message): ReceivedSpan {
  const [status] = messages(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    start: whole(span, 7),
    end: whole(span, 8),
    attributes: attributesAt(span, 9),
    events: messages(span, 11).map((event) => ({
      time: whole(event, 1),
      name: text(event, 2),
      attributes: attributesAt(event, 3),
    })),
    links: messages(span, 13).map((link) => ({
      traceId: hex(link, 1),
      spanId: hex(link, 2),
      traceState: text(link, 3),
    })),
    status: { code: status ? Number(whole(status, 3)) : 0, message: status ? text(status, 2) : '' },
  };
}

const nothing: Message = new Map();

const attributesAt = (message: Message, field: number): Attributes =>
  Object.fromEntries(messages(message, field).map((pair) => [text(pair, 1), valueOf(messages(pair, 2)[0] ?? nothing)]));

function valueOf(value: Message): unknown {
  if (value.has(1)) return text(value, 1);
  if (value.has(2)) return whole(value, 2) === 1n;
  if (value.has(3)) return Number(BigInt.asIntN(64, whole(value, 3)));
  if (value.has(4)) return doubleOf(whole(value, 4));
  const [array] = messages(value, 5);
  return array ? messages(array, 1).map(valueOf) : undefined;
}

function doubleOf(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
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
