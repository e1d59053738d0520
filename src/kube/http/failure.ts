/**
 * A request that got no answer. `sent` says whether the server may have seen it: only where it is false is the request
 * provably not executed (no connection was made, or its TLS handshake did not finish).
 */
export class TransportFailure extends Error {
  override readonly name = 'TransportFailure';

  constructor(
    message: string,
    readonly sent: boolean,
    /** Node's code, e.g. ECONNREFUSED. */
    readonly code: string,
    /** The connection had been kept alive and the server closed it as we sent: a race that a new connection settles. */
    readonly stale: boolean,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Of what Node says of a request that got no answer. */
export function asFailure(
  error: NodeJS.ErrnoException,
  { sent, stale }: { sent: boolean; stale: boolean },
): TransportFailure {
  const first = firstOf(error);
  const code = error.code ?? first?.code ?? 'EUNKNOWN';
  return new TransportFailure(error.message || first?.message || code, sent, code, stale, error);
}

/** Trying both address families fails with one error that holds the two and says nothing itself. */
function firstOf(error: unknown): NodeJS.ErrnoException | undefined {
  return error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException | undefined) : undefined;
}

/** The server's certificate is not one that the kubeconfig trusts: trying again changes nothing. */
export function isUntrusted(failure: TransportFailure): boolean {
  return trustCodes.has(failure.code);
}

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
