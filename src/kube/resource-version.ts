import { asRecord, asText } from './status.ts';

/** The version that an object or a list carries; undefined where it has none (then nothing can resume from it). */
export function versionOf(object: unknown): string | undefined {
  const version = asText(asRecord(asRecord(object)['metadata'])['resourceVersion']);
  return version === '' || version === '0' ? undefined : version;
}

/**
 * Whether `a` is later than `b`, both of one resource. Kubernetes orders them as decimal numbers (KEP-5504); what is
 * no number is of no known order, and then nothing is later than anything.
 */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !decimal.test(a) || !decimal.test(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

/** The latest version among objects; undefined where none has one. */
export function newestOf(objects: readonly unknown[]): string | undefined {
  return objects
    .map(versionOf)
    .reduce((newest, one) => (newest === undefined || isNewer(one, newest) ? one : newest), undefined);
}

const decimal = /^[1-9]\d{0,38}$/;
