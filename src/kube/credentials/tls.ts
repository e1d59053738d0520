import { readFileSync } from 'node:fs';
import { PodexitError } from '../../errors.ts';
import type { ClusterEntry, UserEntry } from '../kubeconfig/kubeconfig.ts';
import { isOverTls } from '../kubeconfig/usable.ts';
import type { Redactor } from '../redact.ts';
import type { TlsOptions } from './credentials.ts';

/**
 * How the server is trusted, and the certificate that we show it. Throws PodexitError `kubeconfig.bad-file`, and over TLS
 * `kubeconfig.no-authority`.
 */
export function readTls(cluster: ClusterEntry & { server: string }, user: UserEntry, redactor: Redactor): TlsOptions {
  const ca = readPem('certificate-authority', cluster.certificateAuthorityData, cluster.certificateAuthority);
  const cert = readPem('client-certificate', user.clientCertificateData, user.clientCertificate);
  // A key alone is for nothing, and kubectl does not even read it.
  const key = cert === undefined ? undefined : readPem('client-key', user.clientKeyData, user.clientKey);
  redactor.hide(user.clientKeyData);
  redactor.hide(key);
  if (ca !== undefined && isOverTls(cluster.server)) assertAuthority(ca);
  return {
    ca,
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    // Always said: where it is left out, NODE_TLS_REJECT_UNAUTHORIZED=0 would decide instead of the kubeconfig.
    rejectUnauthorized: cluster.insecureSkipTlsVerify !== true,
    ...(cluster.tlsServerName === undefined ? {} : { servername: cluster.tlsServerName }),
  };
}

/** Node would take an empty text for none, and trust all the world's authorities instead. */
function assertAuthority(ca: string): void {
  if (ca.includes('-----BEGIN CERTIFICATE-----')) return;
  throw new PodexitError(
    'kubeconfig.no-authority',
    'the certificate-authority of the cluster holds no certificate, so that no server could be trusted',
    'Correct certificate-authority or its data in the kubeconfig, or --certificate-authority: PEM is wanted.',
  );
}

/** Data before file, as client-go has it. */
function readPem(what: string, data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw badFile(what, file);
  }
}

export function badFile(what: string, file: string): PodexitError {
  return new PodexitError(
    'kubeconfig.bad-file',
    `the ${what} file ${file} cannot be read`,
    'Correct its path in the kubeconfig (relative paths start at the kubeconfig itself), or its permissions.',
  );
}
