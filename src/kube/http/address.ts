import { PodexitError } from '../../errors.ts';

/** A URL writes an IPv6 address in brackets, a socket does not. */
export function socketHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

export function socketPort(url: URL): number {
  return url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
}

export function timeoutError(what: string, ms: number): NodeJS.ErrnoException {
  return Object.assign(new Error(`${what} within ${ms / 1000} s`), { code: 'ETIMEDOUT' });
}

/** Node refuses at once what no connection could carry: a key that is no PEM, a token with a line break in it. */
export function unusable(error: NodeJS.ErrnoException): PodexitError {
  return new PodexitError(
    'auth.unusable',
    `the credentials of the kubeconfig cannot be used (${error.code ?? 'unknown error'})`,
    'Check that its certificates and keys are PEM, belong together, and that its token is one line.',
  );
}
