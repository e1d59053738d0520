/** What one request came to: what the target did, or what this machine could not do. */
import type { NotMeasuredReason, ProbeFailureKind } from '../model/probe-observation.ts';

/** `said`: what the target answered, or Node said of it, in a few words. */
export type Result =
  | { kind: 'succeeded'; said: string }
  /** `isAnswer`: something came back, so it has a latency. */
  | { kind: 'failed'; failure: ProbeFailureKind; status?: number; isAnswer: boolean; said: string }
  | { kind: 'not-measured'; reason: NotMeasuredReason; said: string };

export const succeeded = (said: string): Result => ({ kind: 'succeeded', said });

/** Without an answer, where `more` does not say otherwise. */
export const failed = (
  failure: ProbeFailureKind,
  said: string = words[failure],
  more: { status?: number; isAnswer?: boolean } = {},
): Result => ({ kind: 'failed', failure, isAnswer: false, said, ...more });

/** An answer that was not expected. */
export const unexpected = (status: number, said: string): Result => failed('http', said, { status, isAnswer: true });

/** A request that got no answer in time. */
export const timedOut = (stage: 'dns' | undefined): Result => failed(stage ?? 'timeout');

/** This machine's own exhaustion is never counted as the target's failure. */
const ownTrouble: Readonly<Record<string, NotMeasuredReason>> = {
  EADDRNOTAVAIL: 'no-local-port',
  EADDRINUSE: 'no-local-port',
  EMFILE: 'no-file-handle',
  ENFILE: 'no-file-handle',
  ENOBUFS: 'no-file-handle',
  ENOMEM: 'no-file-handle',
  ENETUNREACH: 'no-network',
  ENETDOWN: 'no-network',
};

const kinds: Readonly<Record<string, ProbeFailureKind>> = {
  ECONNREFUSED: 'refused',
  // A firewall or a router refuses in the target's place.
  EHOSTUNREACH: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'dns',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  HOSTNAME_MISMATCH: 'tls',
};

const families: readonly [prefix: RegExp, kind: ProbeFailureKind][] = [
  [/^EAI_/, 'dns'],
  [/^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|INVALID_)/, 'tls'],
  // The parser of HTTP/1.1, and the session of HTTP/2: bytes came that mean nothing.
  [/^(?:HPE_|ERR_HTTP_|ERR_HTTP2_ERROR|ERR_STREAM_PREMATURE)/, 'http'],
];

const words: Readonly<Record<ProbeFailureKind, string>> = {
  refused: 'connection refused',
  reset: 'connection reset',
  timeout: 'timed out',
  dns: 'its name does not resolve',
  tls: 'TLS failed',
  http: 'no HTTP answer',
};

/** A request that ended in an error of Node's. */
export function resultOfError(error: NodeJS.ErrnoException): Result {
  const code = codeOf(error);
  const reason = ownTrouble[code];
  if (reason !== undefined) return { kind: 'not-measured', reason, said: code };
  const failure = kinds[code] ?? families.find(([prefix]) => prefix.test(code))?.[1] ?? 'reset';
  return failed(failure, code === '' ? undefined : `${words[failure]} (${code})`);
}

export const closedEarly = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the connection was closed before the answer came'), { code: 'ECONNRESET' });

/** Trying several addresses fails with one error that holds the others: this machine's trouble with one family says nothing of the target. */
function codeOf(error: NodeJS.ErrnoException): string {
  const each = error instanceof AggregateError ? (error.errors as NodeJS.ErrnoException[]) : [error];
  const codes = each.map(({ code }) => code ?? '');
  return codes.find((code) => code !== '' && !(code in ownTrouble)) ?? codes[0] ?? '';
}
