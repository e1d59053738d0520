import type { Playback } from '../../../src/demo/cluster.ts';
import { failure, HttpError } from '../../../src/demo/data/status.ts';
import type { KubeRequest } from '../../../src/demo/http/api-request.ts';
import type { Call } from '../../../src/demo/http/exchange.ts';
import { executeDelete, readDeleteOptions } from '../../../src/demo/verbs/delete.ts';
import type { FaultKind, FaultOf } from './fault.ts';

type Answer<K extends FaultKind['kind']> = (
  fault: FaultOf<K>,
  exchange: Call,
  serve: () => Promise<void>,
  cluster: Playback,
) => void | Promise<void>;

/** Faults that take the place of an answer. */
export const onRequest: { [K in FaultKind['kind']]?: Answer<K> } = {
  status: (fault, { request }) => {
    throw statusRefusal(fault, request);
  },
  hang: () => {},
  'delete-accepted-then-cut': async (_, exchange, serve) => {
    exchange.json = () => {};
    await serve();
    exchange.cut();
  },
  'delete-lost': (_, exchange) => exchange.cut(),
  'delete-ignored': async ({ thenMs }, exchange, _, cluster) => {
    const { namespace, name = '' } = exchange.request;
    const pod = cluster.get('pods', namespace, name);
    exchange.json(200, pod ?? {});
    if (thenMs === undefined || pod === undefined) return;
    await cluster.sleep(thenMs);
    await executeDelete(cluster, pod, readDeleteOptions(exchange.request));
  },
  'delete-denied': () => {
    const message = 'admission webhook "guard.example.com" denied the request: this pod is protected';
    throw new HttpError(failure(403, 'Forbidden', message));
  },
  'keepalive-race': (_, exchange) => exchange.cut(),
};

/** The reason and message of a real server for each failure. */
const defaultAnswers: Record<number, { reason: string; message: string }> = {
  401: { reason: 'Unauthorized', message: 'Unauthorized' },
  404: { reason: 'NotFound', message: 'the server could not find the requested resource' },
  410: { reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' },
  429: { reason: 'TooManyRequests', message: 'The server has received too many requests, please try again later.' },
  500: { reason: 'InternalError', message: 'Internal error occurred: etcdserver: leader changed' },
  503: { reason: 'ServiceUnavailable', message: 'apiserver not ready' },
  504: { reason: 'Timeout', message: 'request did not complete within requested timeout' },
};

/** What the authorizer of a real server says (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go). */
function denied({ verb, kind, name, subresource }: KubeRequest) {
  const resource = [kind?.plural, subresource].filter((part) => part !== undefined).join('/');
  const what = name === undefined ? kind?.plural : `${kind?.plural} "${name}"`;
  return {
    reason: 'Forbidden',
    message: `${what} is forbidden: User "dev" cannot ${verb} resource "${resource}" in API group "${kind?.group}"`,
  };
}

function statusRefusal(
  { code, reason, message, retryAfterSeconds }: FaultOf<'status'>,
  request: KubeRequest,
): HttpError {
  const known = (code === 403 ? denied(request) : defaultAnswers[code]) ?? {
    reason: 'Unknown',
    message: `the server answers ${code}`,
  };
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const body = failure(code, reason ?? known.reason, message ?? known.message, details);
  return new HttpError(body, retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) });
}
