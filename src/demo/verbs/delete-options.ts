import { isRecord, valueAt, type KubeObject } from '../data/kube-object.ts';
import { badRequest, conflict } from '../data/status.ts';

export interface DeleteOptions {
  graceSeconds?: number;
  uid?: string;
  isDryRun: boolean;
}

/** DeleteOptions in the body of a DELETE, which may be empty. Throws a 400. */
export const readDeleteOptions = ({ body }: { body: string }): DeleteOptions =>
  deleteOptionsOf(body === '' ? {} : parseBody(body));

/** DeleteOptions from an object, as in an Eviction. A negative grace period counts as 1 (SIGNALS.md §1). */
export function deleteOptionsOf(options: unknown): DeleteOptions {
  const grace = valueAt(options, 'gracePeriodSeconds');
  const uid = valueAt(options, 'preconditions.uid');
  const dryRun = valueAt(options, 'dryRun');
  return {
    graceSeconds: typeof grace !== 'number' ? undefined : grace < 0 ? 1 : grace,
    uid: typeof uid === 'string' ? uid : undefined,
    isDryRun: Array.isArray(dryRun) && dryRun.includes('All'),
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

/** Throws a 409 if the object has another uid. */
export function checkPreconditions({ metadata: { name, uid } }: KubeObject, { uid: wanted }: DeleteOptions): void {
  if (wanted === undefined || wanted === uid) return;
  const what = `the UID in the precondition (${wanted}) does not match the UID in record (${uid})`;
  throw conflict({ name }, `${what}. The object might have been deleted and then recreated`);
}
