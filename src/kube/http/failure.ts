import { PodexitError } from '../../errors.ts';

/**
 * A request without an answer. `sent` says whether the server may have seen it. If false, the request provably was not
 * executed: no connection was made, or its TLS handshake did not finish.
 */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';

  readonly sent: boolean;
  /** Node's code, e.g. ECONNREFUSED. */
  readonly code: string;
  /** The server closed a kept-alive connection while we sent: a race that a new connection avoids. */
  readonly stale: boolean;

  constructor(message: string, options: { sent: boolean; code: string; stale?: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.sent = options.sent;
    this.code = options.code;
    this.stale = options.stale ?? false;
  }
}

/** Converts Node's error for a request without an answer. */
export function asFailure(
  error: NodeJS.ErrnoException,
  { sent, stale }: { sent: boolean; stale: boolean },
): TransportFailure {
  // If both address families fail, Node's error contains both errors and has no message of its own.
  const first = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException | undefined) : undefined;
  const code = error.code ?? first?.code ?? 'EUNKNOWN';
  const message = tlsReason(error) ?? (error.message || first?.message || code);
  return new TransportFailure(message, { sent, code, stale, cause: error });
}

/** The kubeconfig does not trust the server's certificate: a retry changes nothing. */
export const isUntrusted = ({ code }: TransportFailure): boolean => trustCodes.has(code);

const trustCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'CERT_REVOKED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** An OpenSSL error in one sentence; undefined if it is not from OpenSSL. Its alerts are those of RFC 8446 §6.2. */
function tlsReason({ code = '', message }: NodeJS.ErrnoException): string | undefined {
  if (!/^(?:ERR_SSL_|EPROTO$)/.test(code) || !message.includes(':SSL routines:')) return undefined;
  const reason = /:SSL routines:[^:]*:([^:]+)/.exec(message)?.[1]?.toLowerCase() ?? '';
  const alert = /alert (.+)/.exec(reason)?.[1] ?? '';
  if (certificateAlert.test(alert)) return `it does not accept the client certificate (TLS alert "${alert}")`;
  return tlsReasons[alert || reason] ?? `the TLS handshake failed (${reason || code})`;
}

const certificateAlert =
  /^(?:(?:bad|unsupported|revoked|expired) certificate|certificate (?:revoked|expired|unknown)|unknown ca|access denied)$/;

const tlsReasons: Readonly<Record<string, string>> = {
  'certificate required': 'it wants a client certificate, and none was shown',
  'handshake failure':
    'it refused the TLS handshake: it may want a client certificate, or a cipher that is not offered',
  'protocol version': 'it speaks no version of TLS that this Node offers',
  'unrecognized name': 'it does not know itself by the host name that it was addressed with',
  'wrong version number': 'what answers there does not speak TLS; the address may have to begin with http://',
};

/** A URL puts an IPv6 address in brackets, a socket does not. */
export function socketHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function socketPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

/** `before`: what had not happened yet. */
export function closedBefore(before: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`the connection was closed before ${before}`), { code: 'ECONNRESET' });
}

export function timeoutError(what: string, ms: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what} within ${ms / 1000} s`), { code: 'ETIMEDOUT' });
}

/** Throws `auth.unusable` if Node refuses the credentials at once: a key that is not PEM, a token with a line break. */
export function withUsable<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new PodexitError(
      'auth.unusable',
      `the credentials of the kubeconfig cannot be used (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
      'Check that its certificates and keys are PEM without a passphrase, belong together, and that its token is one line.',
    );
  }
}
