/** A collector for tests. It accepts all requests, and answers as configured. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** What it decodes of an OTLP request in JSON (opentelemetry-proto, trace/v1/trace.proto). */
type Attributes = Record<string, unknown>;

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

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Of JSON; the SDK alone knows how it encodes protobuf. */
  traces: ReceivedTrace[];
}

export interface Receiver {
  url: string;
  received: Received[];
  close(): Promise<void>;
}

/** `silent` accepts the request and never answers. */
export async function startReceiver(answer: number | 'silent' = 200): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      const isJson = request.headers['content-type'] === 'application/json';
      const { url: path = '', headers } = request;
      received.push({ path, headers, body, traces: isJson ? decodeJson(body) : [] });
      if (answer !== 'silent') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface JsonValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string | number;
  doubleValue?: number;
  arrayValue?: { values: JsonValue[] };
}
type JsonAttributes = { key: string; value: JsonValue }[];
interface JsonSpan extends Pick<ReceivedSpan, 'traceId' | 'spanId' | 'name'> {
  parentSpanId?: string;
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

function decodeJson(body: Buffer): ReceivedTrace[] {
  const { resourceSpans } = JSON.parse(body.toString('utf8')) as JsonRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.map(({ scope, spans }) => ({
      resource: fromJson(resource.attributes),
      scope,
      spans: spans.map(({ startTimeUnixNano, endTimeUnixNano, ...span }) => ({
        ...span,
        parentSpanId: span.parentSpanId ?? '',
        start: nanos(startTimeUnixNano),
        end: nanos(endTimeUnixNano),
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
