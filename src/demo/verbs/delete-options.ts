import { isRecord, valueAt, type KubeObject } from '../data/kube-object.ts';
import { badRequest, conflict } from '../data/status.ts';
import type { KubeRequest } from '../http/api-request.ts';

export interface DeleteOptions {
  graceSeconds?: number;
  uid?: string;
  resourceVersion?: string;
  isDryRun: boolean;
}

/** DeleteOptions in the body of a DELETE, or in its query if there is no body (SIGNALS.md §1). Throws a 400. */
export const readDeleteOptions = ({ body, query }: KubeRequest): DeleteOptions =>
  body === '' ? fromQuery(query) : deleteOptionsOf(parseBody(body));

/** DeleteOptions from an object, as in an Eviction. Throws a 400 for a grace period that is not an integer. */
export function deleteOptionsOf(options: unknown): DeleteOptions {
  const grace = valueAt(options, 'gracePeriodSeconds');
  const uid = valueAt(options, 'preconditions.uid');
  const resourceVersion = valueAt(options, 'preconditions.resourceVersion');
  const dryRun = valueAt(options, 'dryRun');
  if (grace !== undefined && grace !== null && !Number.isInteger(grace)) throw badGrace(grace);
  return {
    graceSeconds: typeof grace !== 'number' ? undefined : grace < 0 ? 1 : grace,
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    isDryRun: isDry(Array.isArray(dryRun) ? dryRun : []),
  };
}

/** Parses a body that must be a JSON object. Throws a 400. */
export function parseBody(body: string): Record<string, unknown> {
  const value = jsonIn(body);
  if (isRecord(value)) return value;
  throw badRequest('the object provided is unrecognized (must be of type Object)');
}

/** Undefined if it is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Throws a 409 if a precondition does not hold. */
export function checkPreconditions({ metadata }: KubeObject, { uid, resourceVersion }: DeleteOptions): void {
  const preconditions = [
    ['UID', uid, metadata.uid, 'deleted and then recreated'],
    ['ResourceVersion', resourceVersion, metadata.resourceVersion, 'modified'],
  ];
  for (const [field, wanted, recorded, otherwise] of preconditions) {
    if (wanted === undefined || wanted === recorded) continue;
    throw conflict(
      { name: metadata.name },
      `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${recorded}). ` +
        `The object might have been ${otherwise}`,
    );
  }
}

function fromQuery(query: URLSearchParams): DeleteOptions {
  const grace = query.get('gracePeriodSeconds');
  if (grace !== null && !/^-?\d+$/.test(grace)) throw badGrace(grace);
  return deleteOptionsOf({
    gracePeriodSeconds: grace === null ? undefined : Number(grace),
    preconditions: { uid: query.get('uid'), resourceVersion: query.get('resourceVersion') },
    dryRun: query.getAll('dryRun'),
  });
}

function isDry(dryRun: unknown[]): boolean {
  if (dryRun.length === 0) return false;
  if (dryRun.every((value) => value === 'All')) return true;
  throw badRequest(`Invalid value: ${JSON.stringify(dryRun)}: dryRun: supported values: "All"`);
}

function badGrace(grace: unknown): Error {
  const type = typeof grace === 'number' ? `number ${grace}` : typeof grace;
  const field = 'Go struct field DeleteOptions.gracePeriodSeconds of type int64';
  return badRequest(`json: cannot unmarshal ${type} into ${field}`);
}
