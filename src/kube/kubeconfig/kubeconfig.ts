import { readFileSync } from 'node:fs';
import { PodexitError } from '../../errors.ts';

/** The contents of a kubeconfig, with entries by name; every path is absolute (parse.ts). */
export interface Kubeconfig {
  currentContext?: string;
  clusters: ReadonlyMap<string, ClusterEntry>;
  users: ReadonlyMap<string, UserEntry>;
  contexts: ReadonlyMap<string, ContextEntry>;
}

export interface ClusterEntry {
  server?: string;
  certificateAuthority?: string;
  /** Base64, as in the file. */
  certificateAuthorityData?: string;
  insecureSkipTlsVerify?: boolean;
  tlsServerName?: string;
  proxyUrl?: string;
  disableCompression?: boolean;
  /** By name; `client.authentication.k8s.io/exec` is passed to exec plugins. */
  extensions?: ReadonlyMap<string, unknown>;
}

export interface UserEntry {
  token?: string;
  tokenFile?: string;
  username?: string;
  password?: string;
  clientCertificate?: string;
  clientCertificateData?: string;
  clientKey?: string;
  clientKeyData?: string;
  exec?: ExecEntry;
  authProvider?: { name: string; config: Readonly<Record<string, unknown>> };
  impersonate?: Impersonation;
}

export interface ExecEntry {
  apiVersion: string;
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** The directory of the kubeconfig: a command with a slash is relative to it, as in kubectl. */
  directory: string;
}

export interface Impersonation {
  user?: string;
  uid?: string;
  groups: readonly string[];
  extra: readonly (readonly [key: string, value: string])[];
}

export interface ContextEntry {
  cluster?: string;
  user?: string;
  namespace?: string;
}

/**
 * Refuses contradictory settings, as client-go does before it sends anything: to choose one would be a guess. Throws
 * PodexitError `kubeconfig.contradictory` or `kubeconfig.no-client-key`.
 */
export function assertUsable(cluster: ClusterEntry & { server: string }, user: UserEntry): void {
  const isTls = isOverTls(cluster.server);
  assertTrust(cluster, isTls);
  assertOneCredential(user, isTls);
  assertCertificate(user);
}

/** Without TLS credentials are not sent, and no certificate is verified. */
export function isOverTls(server: string): boolean {
  return URL.canParse(server) && new URL(server).protocol === 'https:';
}

/** client-go validateClusterInfo, and with TLS TLSConfigFor. */
function assertTrust(cluster: ClusterEntry, isTls: boolean): void {
  const { certificateAuthority, certificateAuthorityData, insecureSkipTlsVerify } = cluster;
  if (certificateAuthority && certificateAuthorityData)
    throw contradictory('certificate-authority', 'certificate-authority-data');
  if (isTls && insecureSkipTlsVerify && (certificateAuthority || certificateAuthorityData))
    throw contradictory('a certificate-authority', 'insecure-skip-tls-verify');
}

/** client-go validateAuthInfo, and with TLS HTTPWrappersForConfig. */
function assertOneCredential(user: UserEntry, isTls: boolean): void {
  const isBasic = Boolean(user.username || user.password);
  if (user.token && isBasic) throw contradictory('a token', 'basic authentication (username, password)');
  if (isTls && user.tokenFile && user.username) throw contradictory('a tokenFile', 'basic authentication (username)');
  if (user.exec && user.authProvider) throw contradictory('an exec plugin', 'an auth-provider');
}

/** client-go validateAuthInfo, which checks a key only if there is a certificate. */
function assertCertificate(user: UserEntry): void {
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData } = user;
  if (!clientCertificate && !clientCertificateData) return;
  if (clientCertificate && clientCertificateData) throw contradictory('client-certificate', 'client-certificate-data');
  if (clientKey && clientKeyData) throw contradictory('client-key', 'client-key-data');
  if (clientKey || clientKeyData) return;
  throw new PodexitError(
    'kubeconfig.no-client-key',
    'the client certificate of the user has no key and is useless without one',
    'Give client-key or client-key-data in the kubeconfig, or --client-key.',
  );
}

function contradictory(first: string, second: string): PodexitError {
  return new PodexitError(
    'kubeconfig.contradictory',
    `${first} and ${second} cannot be used together`,
    'Keep one of them, in the kubeconfig and the flags taken together.',
  );
}

/** The text of a file that a kubeconfig names; undefined if the file cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
