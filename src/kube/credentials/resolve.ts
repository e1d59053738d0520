import { readFileSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { isOverTls, type Impersonation, type UserEntry, type ClusterEntry } from '../kubeconfig/kubeconfig.ts';
import type { Credentials, Identity, Proof, ResolveOptions, Source, TlsOptions } from './credentials.ts';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';

/**
 * The identity of a run. Tokens, files, basic authentication and certificates are handled here; an exec plugin or a
 * legacy auth-provider is loaded only where the kubeconfig asks for one. Where there are several, the order is
 * client-go's: token file, token, basic, client certificate, exec, auth-provider. Without TLS none of them is sent (client-go ClientConfig), only whom
 * to impersonate, which is no secret. Throws PodexitError `kubeconfig.bad-file` for a file that cannot be
 * read, and later the errors of exec plugins.
 */
export async function resolveCredentials(options: ResolveOptions): Promise<Credentials> {
  const { cluster, user, redactor } = options;
  const tls = readTls(cluster, user, redactor);
  const source = await chooseSource(options);
  const impersonation = impersonationHeaders(user.impersonate);
  let generation = 0;

  return {
    async identify(): Promise<Identity> {
      const at = generation;
      const proof = await source.prove();
      [proof.token, proof.authorization?.split(' ')[1], proof.key].forEach((secret) => redactor.hide(secret));
      return {
        headers: { ...authorization(proof), ...impersonation },
        tls: withCertificate(tls, proof),
        generation: at,
      };
    },
    async renew(used) {
      if (used !== generation) return true;
      if (!source.forget()) return false;
      generation++;
      return true;
    },
  };
}

function authorization({ token, authorization: whole }: Proof): OutgoingHttpHeaders {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  return whole === undefined ? {} : { authorization: whole };
}

function withCertificate(tls: TlsOptions, { cert, key }: Proof): TlsOptions {
  return cert === undefined || key === undefined ? tls : { ...tls, cert, key };
}

async function chooseSource(options: ResolveOptions): Promise<Source> {
  const { cluster, user, redactor } = options;
  [user.token, user.password].forEach((secret) => redactor.hide(secret));
  // Anybody on the way could read them.
  if (!isOverTls(cluster.server)) return fixed({});
  if (user.tokenFile !== undefined || user.token !== undefined) return tokenSource(user);
  if (user.username) return fixed({ authorization: basic(user.username, user.password ?? '') });
  // With a client certificate no plugin runs (client-go exec.UpdateTransportConfig).
  if (user.exec !== undefined && !user.clientCertificate && !user.clientCertificateData)
    return (await import('./exec-plugin.ts')).execSource(user.exec, options);
  if (user.authProvider !== undefined)
    return (await import('./auth-provider.ts')).providerSource(user.authProvider, options);
  return fixed({});
}

function fixed(proof: Proof): Source {
  return { prove: async () => proof, forget: () => false };
}

function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** A token file is read for every request, since its owner renews it (client-go caches it for a minute). */
function tokenSource({ token, tokenFile }: UserEntry): Source {
  let last = token;
  return {
    async prove() {
      if (tokenFile !== undefined) last = readIfThere(tokenFile)?.trim() || last;
      if (last === undefined) throw badFile('tokenFile', tokenFile ?? '');
      return { token: last };
    },
    // A file may hold a new token by now.
    forget: () => tokenFile !== undefined,
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** The headers of "User impersonation" (Kubernetes documentation); a group is a header of its own each time. */
export function impersonationHeaders(as: Impersonation | undefined): OutgoingHttpHeaders {
  if (as?.user === undefined) return {};
  const headers: OutgoingHttpHeaders = { 'Impersonate-User': as.user };
  if (as.uid !== undefined) headers['Impersonate-Uid'] = as.uid;
  if (as.groups.length > 0) headers['Impersonate-Group'] = [...as.groups];
  for (const [key, value] of as.extra) {
    const name = `Impersonate-Extra-${escapeKey(key)}`;
    headers[name] = [...((headers[name] as string[] | undefined) ?? []), value];
  }
  return headers;
}

/** client-go headerKeyEscape: whatever a header's name cannot hold, and `%`, becomes %XX of its UTF-8 bytes. */
function escapeKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const letter = String.fromCharCode(byte);
      return /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(letter)
        ? letter
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/**
 * How the server is trusted, and the certificate that we show it. Throws PodexitError `kubeconfig.bad-file`, and over TLS
 * `kubeconfig.no-authority`.
 */
function readTls(cluster: ClusterEntry & { server: string }, user: UserEntry, redactor: Redactor): TlsOptions {
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
    // Always set: if it were left out, NODE_TLS_REJECT_UNAUTHORIZED=0 would decide instead of the kubeconfig.
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

function badFile(what: string, file: string): PodexitError {
  return new PodexitError(
    'kubeconfig.bad-file',
    `the ${what} file ${file} cannot be read`,
    'Correct its path in the kubeconfig (relative paths start at the kubeconfig itself), or its permissions.',
  );
}
