import type { IncomingHttpHeaders } from 'node:http';
import { asArray, asNumber, asObject, metadataOf } from '../model/observe/read.ts';

/** A Kubernetes `Status`, read from an untrusted body. */
export interface Refusal {
  status: number;
  /** No Status came, so a proxy answered (`isProxyPage`). */
  isPage?: boolean;
  message: string;
  causes: { reason: string; message: string }[];
  retryAfterMs?: number;
}

/** Reads the Status in an unsuccessful answer. If the body is not a Status, only the HTTP status is known. */
export function readRefusal(status: number, body: unknown, headers: IncomingHttpHeaders = {}): Refusal {
  const received = asObject(body);
  const details = asObject(received['details']);
  // Only seconds: the API server never sends a date there.
  const [header] = /^\d{1,15}$/.exec(headers['retry-after'] ?? '') ?? [];
  const seconds = asNumber(details['retryAfterSeconds']) ?? Number(header ?? 0);
  return {
    status,
    isPage: isProxyPage({ status, body }),
    message: wholeText(received['message']) || `the server answered ${status}`,
    causes: asArray(details['causes']).map((cause) => ({
      reason: wholeText(asObject(cause)['reason']),
      message: wholeText(asObject(cause)['message']),
    })),
    // 0 does not mean endless immediate retries: our own backoff applies. More than 30 s comes from a broken proxy.
    retryAfterMs: seconds <= 0 ? undefined : Math.min(Math.max(seconds, 1), 30) * 1000,
  };
}

/** A refusal that is no `Status` comes from a proxy, and says nothing about the object. */
export const isProxyPage = ({ status, body }: { status: number; body: unknown }): boolean =>
  status >= 400 && status < 500 && status !== 429 && asObject(body)['kind'] !== 'Status';

/** The token of the next page of a list; empty after the last page. */
export const continueOf = (list: unknown): string => wholeText(metadataOf(list)['continue']);

export const wholeText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The resourceVersion of an object or a list; undefined if it has none, and then nothing can resume from it. */
export function versionOf(object: unknown): string | undefined {
  const version = wholeText(metadataOf(object)['resourceVersion']);
  return version === '' || version === '0' ? undefined : version;
}

/**
 * Whether `a` is later than `b`, both versions of one resource. Kubernetes orders them as decimal numbers (KEP-5504). A
 * version that is not a number has no known order: the result is false.
 */
export function isNewer(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || !decimal.test(a) || !decimal.test(b)) return false;
  return a.length === b.length ? a > b : a.length > b.length;
}

export function newestVersion(objects: readonly unknown[]): string | undefined {
  return objects
    .map(versionOf)
    .reduce((newest, version) => (newest === undefined || isNewer(version, newest) ? version : newest), undefined);
}

const decimal = /^[1-9]\d{0,38}$/;
