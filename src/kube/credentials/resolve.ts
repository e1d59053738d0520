import type { OutgoingHttpHeaders } from 'node:http';
import { isOverTls, readIfThere, type Impersonation, type ServerEntry, type UserEntry } from '../kubeconfig/parse.ts';
import type { Identify, Credential, ResolveOptions, CredentialSource, TlsOptions } from './credentials.ts';
import { PodexitError } from '../../errors.ts';
import type { Redactor } from '../redact.ts';

/**
 * The credentials of a run. If several are configured, client-go's order decides: token file, token, basic, client
 * certificate, exec plugin, auth-provider. The last two are loaded only if needed. Without TLS no credentials are sent
 * (client-go ClientConfig), only the user to impersonate, which is no secret. Throws PodexitError `kubeconfig.bad-file`
 * for an unreadable file, and later the errors of exec plugins.
 */
export async function resolveCredentials(options: ResolveOptions): Promise<Identify> {
  const { cluster, user, redactor } = options;
  const tls = readTls(cluster, user, redactor);
  const source = await chooseSource(options);
  const impersonation = impersonationHeaders(user.impersonate);
  let renewals = 0;
  return async () => {
    const before = renewals;
    const { authorization, cert, key } = await source.getCredential();
    [authorization?.replace(/^\S+ /, ''), key].forEach((secret) => redactor.hide(secret));
    return {
      headers: { ...(authorization === undefined ? {} : { authorization }), ...impersonation },
      tls: cert === undefined || key === undefined ? tls : { ...tls, cert, key },
      renew() {
        if (renewals === before && source.forget()) renewals++;
        return renewals !== before;
      },
    };
  };
}

async function chooseSource(options: ResolveOptions): Promise<CredentialSource> {
  const { cluster, user, redactor } = options;
  [user.token, user.password].forEach((secret) => redactor.hide(secret));
  // Without TLS anybody on the network could read credentials.
  if (!isOverTls(cluster.server)) return fixedSource({});
  if (user.tokenFile !== undefined || user.token !== undefined) return tokenSource(user);
  if (user.username) {
    const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
    return fixedSource({ authorization: `Basic ${pair}` });
  }
  // With a client certificate no plugin runs (client-go exec.UpdateTransportConfig).
  if (user.exec !== undefined && !user.clientCertificate && !user.clientCertificateData) {
    const { assertPluginAllowed, execSource } = await import('./exec-plugin.ts');
    await assertPluginAllowed(user.exec.command, options.env);
    return execSource(user.exec, options);
  }
  if (user.authProvider !== undefined)
    return (await import('./auth-provider.ts')).providerSource(user.authProvider, options);
  return fixedSource({});
}

function fixedSource(credential: Credential): CredentialSource {
  return { getCredential: async () => credential, forget: () => false };
}

/** A token file is read for every request, since its owner renews it (client-go caches it for a minute). */
function tokenSource({ token, tokenFile }: UserEntry): CredentialSource {
  let last = token;
  return {
    async getCredential() {
      if (tokenFile !== undefined) last = readIfThere(tokenFile)?.trim() || last;
      if (last === undefined) throw unreadableFile('tokenFile', tokenFile ?? '');
      return { authorization: `Bearer ${last}` };
    },
    // The file may contain a new token by now.
    forget: () => tokenFile !== undefined,
  };
}

/** The headers of "User impersonation" (Kubernetes documentation); each group is a separate header. */
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

/** client-go headerKeyEscape: `%`, and what a header name cannot contain, becomes %XX of its UTF-8 bytes. */
function escapeKey(key: string): string {
  const escaped = (byte: string): string => `%${Buffer.from(byte, 'latin1').toString('hex').toUpperCase()}`;
  return Buffer.from(key)
    .toString('latin1')
    .replace(/[^!#$&'*+\-.^_`|~0-9A-Za-z]/g, escaped);
}

/** How certificates are verified, and ours. Throws `kubeconfig.bad-file`, and with TLS `kubeconfig.no-authority`. */
function readTls(cluster: ServerEntry, user: UserEntry, redactor: Redactor): TlsOptions {
  const ca = readPem('certificate-authority', cluster.certificateAuthorityData, cluster.certificateAuthority);
  const cert = readPem('client-certificate', user.clientCertificateData, user.clientCertificate);
  // kubectl does not even read a key without a certificate.
  const key = cert === undefined ? undefined : readPem('client-key', user.clientKeyData, user.clientKey);
  redactor.hide(user.clientKeyData);
  redactor.hide(key);
  if (ca !== undefined && isOverTls(cluster.server)) assertAuthority(ca);
  return {
    ca,
    cert,
    key,
    // Always set: if it were left out, NODE_TLS_REJECT_UNAUTHORIZED=0 would decide instead of the kubeconfig.
    rejectUnauthorized: cluster.insecureSkipTlsVerify !== true,
    servername: cluster.tlsServerName,
  };
}

/** Node would treat an empty authority as none, and trust its built-in public authorities instead. */
function assertAuthority(ca: string): void {
  if (ca.includes('-----BEGIN CERTIFICATE-----')) return;
  throw new PodexitError(
    'kubeconfig.no-authority',
    'the certificate-authority of the cluster holds no certificate, so that no server could be trusted',
    'Correct certificate-authority or its data in the kubeconfig, or --certificate-authority: PEM is wanted.',
  );
}

/** Data wins over a file, as in client-go. */
function readPem(what: string, data: string | undefined, file: string | undefined): string | undefined {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (file === undefined) return undefined;
  const text = readIfThere(file);
  if (text === undefined) throw unreadableFile(what, file);
  return text;
}

function unreadableFile(what: string, file: string): PodexitError {
  return new PodexitError(
    'kubeconfig.bad-file',
    `the ${what} file ${file} cannot be read, or is empty`,
    'Correct its path in the kubeconfig (relative paths start at the kubeconfig itself), or its permissions.',
  );
}
