/** What a test sees of the requests to the embedded server. */
import type { ServerHttp2Stream } from 'node:http2';
import type { DemoClock } from '../../../src/demo/clock.ts';
import { isDryRun, type KubeRequest } from '../../../src/demo/http/api-request.ts';
import type { Call } from '../../../src/demo/http/exchange.ts';

/** A request to the server, and how it was answered. */
export interface RequestLog {
  /** Arrival, in milliseconds of the server's clock. */
  at: number;
  method: string;
  /** With its query. */
  url: string;
  userAgent?: string;
  verb: KubeRequest['verb'];
  resource?: string;
  subresource?: string;
  body: string;
  /** Counts the requests of a connection, from 1; more than 1 if the connection was kept alive. */
  nthOnConnection: number;
  /** 0 until answered; it stays 0 if the connection is cut before that. */
  readonly status: number;
  /** Bytes of body sent. */
  sent: number;
  /** When the response ended or its connection was lost. */
  endedAt?: number;
  /** It deleted or evicted a pod: neither a dry run nor refused. */
  isAccepted?: boolean;
}

/** Requests so far of each connection. */
const served = new WeakMap<object, number>();

export function logOf({ request, response }: Call, clock: DemoClock): RequestLog {
  const { method, body, verb, kind, subresource, headers } = request;
  // HTTP/2 has a socket object for each of its streams.
  const { stream } = response as { stream?: ServerHttp2Stream };
  const connection = stream?.session ?? response.req.socket;
  const nthOnConnection = (served.get(connection) ?? 0) + 1;
  served.set(connection, nthOnConnection);
  const entry: RequestLog = {
    ...{ at: clock.now(), method, url: response.req.url ?? '/', body, verb, resource: kind?.plural, subresource },
    ...{ userAgent: headers['user-agent'] as string | undefined, nthOnConnection, sent: 0 },
    status: 0,
  };
  Object.defineProperty(entry, 'status', {
    enumerable: true,
    get: () => (response.headersSent ? response.statusCode : 0),
  });
  for (const name of ['write', 'end'] as const) {
    const send = response[name].bind(response) as (...parts: unknown[]) => never;
    response[name] = (...parts: unknown[]) => {
      const [bytes] = parts;
      if (typeof bytes === 'string' || Buffer.isBuffer(bytes)) entry.sent += Buffer.byteLength(bytes);
      return send(...parts);
    };
  }
  response.once('close', () => (entry.endedAt = clock.now()));
  return entry;
}

/** Whether a request that was served has deleted or evicted a pod. */
export const isDeletion = (request: KubeRequest): boolean =>
  request.kind?.plural === 'pods' &&
  (request.verb === 'delete' || request.subresource === 'eviction') &&
  !isDryRun(request);
