import type { Kind } from './kube-object.ts';

/** A Kubernetes Status object: the body of every refusal. */
interface StatusBody {
  message?: string;
  code: number;
  [field: string]: unknown;
}

/** Thrown while a request is served; the HTTP layer responds with it. */
export class HttpError extends Error {
  constructor(
    readonly body: StatusBody,
    readonly headers: Record<string, string> = {},
  ) {
    super(body.message);
  }
}

const status = { kind: 'Status', apiVersion: 'v1', metadata: {} } as const;

export const success = (code: number, details?: object): StatusBody => ({
  ...status,
  status: 'Success',
  details,
  code,
});

/** The texts below are a real 1.36 server's, word for word. */
export const failure = (code: number, reason: string, message: string, details?: object): StatusBody => ({
  ...status,
  status: 'Failure',
  message,
  reason,
  details,
  code,
});

const refusal = (...failed: Parameters<typeof failure>): HttpError => new HttpError(failure(...failed));

export const notFound = (kind: Kind, name: string): HttpError =>
  refusal(404, 'NotFound', `${qualified(kind)} "${name}" not found`, {
    name,
    group: kind.group || undefined,
    kind: kind.plural,
  });

/** `pods`, `endpointslices.discovery.k8s.io`: how a server's messages name a resource. */
const qualified = (kind: Kind): string => (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);

export const noSuchPath = (): HttpError =>
  refusal(404, 'NotFound', 'the server could not find the requested resource', {});

export const badRequest = (message: string): HttpError => refusal(400, 'BadRequest', message);

export const methodNotAllowed = (): HttpError =>
  refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export function invalidOption(field: string, message: string): HttpError {
  const cause = `Forbidden: ${message}`;
  return refusal(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${cause}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueForbidden', message: cause, field }],
  });
}

export const conflict = (name: string, message: string): HttpError =>
  refusal(409, 'Conflict', `Operation cannot be fulfilled on Pod "${name}": ${message}`, { name, kind: 'Pod' });

export const tooOld = (asked: number, oldest: number): StatusBody =>
  failure(410, 'Expired', `too old resource version: ${asked} (${oldest})`);

export const listExpired = (): HttpError =>
  refusal(410, 'Expired', 'The resourceVersion for the provided list is too old.');

export const continueExpired = (): HttpError =>
  refusal(
    410,
    'Expired',
    'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
      'without the continue parameter.',
  );

export function tooFarAhead(asked: number, current: number): HttpError {
  const details = {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  };
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new HttpError(failure(504, 'Timeout', message, details), { 'Retry-After': '1' });
}

export function disruptionBudget(budget: string, needed: number, healthy: number): HttpError {
  const message = `The disruption budget ${budget} needs ${needed} healthy pods and has ${healthy} currently`;
  return refusal(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  });
}
