/** Any Kubernetes object; only fields that this server uses are typed. */
export interface KubeObject {
  kind?: string;
  apiVersion?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  [field: string]: unknown;
}

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The value at a path such as `status.phase`; undefined if any part of the path is missing. */
export const valueAt = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), object);

/** The objects in the list at a path; empty without a list. */
export function recordsAt(object: unknown, path: string): Record<string, unknown>[] {
  const list = valueAt(object, path);
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

export function textAt(object: unknown, path: string): string {
  const value = valueAt(object, path);
  return typeof value === 'string' ? value : '';
}

export function numberAt(object: unknown, path: string): number {
  const value = valueAt(object, path);
  return typeof value === 'number' ? value : 0;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
