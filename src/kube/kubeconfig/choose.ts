import { resolve } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { ConnectOptions } from '../connect-options.ts';
import type { Loaded } from './load.ts';
import {
  isOverTls,
  type ClusterEntry,
  type Impersonation,
  type Kubeconfig,
  type ServerEntry,
  type UserEntry,
} from './parse.ts';

/**
 * Chooses context, cluster and user as kubectl does; flags win over the kubeconfig. Throws PodexitError
 * `kubeconfig.unknown-context` (or -cluster, -user), `kubeconfig.no-context`, `kubeconfig.no-server`,
 * `kubeconfig.bad-namespace`, `kubeconfig.contradictory`, `kubeconfig.no-client-key`, `usage.impersonation`.
 */
export function choose({ kubeconfig, files, ownNamespace }: Loaded, options: ConnectOptions) {
  const contextName = options.context ?? kubeconfig.currentContext;
  // An error even if flags replace all of it: kubectl too refuses a current context that does not exist.
  const context = findEntry('context', kubeconfig.contexts, contextName, files.join(', '));
  const named = findEntry('cluster', kubeconfig.clusters, options.cluster ?? context.cluster);
  const cluster = withClusterFlags(named, options);
  if (cluster.server === undefined) throw noServer(kubeconfig, contextName, files);
  const user = withUserFlags(findEntry('user', kubeconfig.users, options.user ?? context.user), options);
  const server = withScheme(cluster.server, cluster, user);
  assertUsable({ ...cluster, server }, user);
  return {
    contextName,
    namespace: assertText(options.namespace || context.namespace || ownNamespace || 'default'),
    cluster: { ...cluster, server },
    user,
  };
}

/** YAML can contain half a surrogate pair, which cannot be in a URL path. */
function assertText(namespace: string): string {
  if (namespace.isWellFormed()) return namespace;
  throw new PodexitError(
    'kubeconfig.bad-namespace',
    `the namespace ${JSON.stringify(namespace)} is not valid: it is not valid Unicode`,
    'Correct the namespace of the context in the kubeconfig, or name another one with -n.',
  );
}

/** client-go DefaultServerURL: an address without a scheme is https if any TLS setting is given, else http. */
function withScheme(server: string, cluster: ClusterEntry, user: UserEntry): string {
  if (server.includes('://')) return server;
  const hints = [
    cluster.certificateAuthority,
    cluster.certificateAuthorityData,
    user.clientCertificate,
    user.clientCertificateData,
  ];
  const isTls = cluster.insecureSkipTlsVerify === true || hints.some(Boolean);
  return `${isTls ? 'https' : 'http'}://${server}`;
}

/** An undefined name chooses nothing; a name that does not exist is an error. */
function findEntry<T extends object>(
  kind: 'context' | 'cluster' | 'user',
  entries: ReadonlyMap<string, T>,
  name: string | undefined,
  place = 'the kubeconfig',
): Partial<T> {
  const entry = name === undefined ? {} : entries.get(name);
  if (entry !== undefined) return entry;
  throw new PodexitError(
    `kubeconfig.unknown-${kind}`,
    `the ${kind} "${name}" is not in ${place}`,
    namesHint(`${kind}s`, entries),
  );
}

function namesHint(what: string, entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].sort();
  return names.length === 0 ? `It has no ${what} at all.` : `Its ${what} are: ${names.join(', ')}.`;
}

/**
 * As client-go's getCluster: a flag about trust replaces all trust settings of the kubeconfig. --server replaces its
 * tls-server-name, which belongs to another address.
 */
function withClusterFlags(own: ClusterEntry, options: ConnectOptions): ClusterEntry {
  const { server, certificateAuthority, insecureSkipTlsVerify, tlsServerName } = options;
  const isTrustGiven = certificateAuthority !== undefined || insecureSkipTlsVerify === true;
  const trust = {
    certificateAuthority: certificateAuthority === undefined ? undefined : resolve(certificateAuthority),
    certificateAuthorityData: undefined,
    insecureSkipTlsVerify,
  };
  return {
    ...own,
    ...(isTrustGiven ? trust : {}),
    server: server ?? own.server,
    proxyUrl: options.proxyUrl ?? own.proxyUrl,
    tlsServerName: tlsServerName ?? (server === undefined ? own.tlsServerName : undefined),
  };
}

/** As client-go's getAuthInfo: each flag replaces what it names, and nothing else. Paths are relative to the working directory. */
function withUserFlags(own: UserEntry, options: ConnectOptions): UserEntry {
  const { token = own.token, username = own.username, password = own.password, clientCertificate, clientKey } = options;
  return {
    ...own,
    ...(clientCertificate !== undefined && {
      clientCertificate: resolve(clientCertificate),
      clientCertificateData: undefined,
    }),
    ...(clientKey !== undefined && { clientKey: resolve(clientKey), clientKeyData: undefined }),
    ...{ token, username, password },
    impersonate: impersonation(own.impersonate, options),
  };
}

function impersonation(own: Impersonation | undefined, options: ConnectOptions): Impersonation | undefined {
  const { as, asUid, asGroup = [], asUserExtra = [] } = options;
  const isGiven = as !== undefined || asUid !== undefined || asGroup.length + asUserExtra.length > 0;
  const extra = asUserExtra.length > 0 ? asUserExtra.map(splitExtra) : (own?.extra ?? []);
  if (!isGiven && own === undefined) return undefined;
  const user = as ?? own?.user;
  if (user === undefined)
    throw usage('--as-uid, --as-group and --as-user-extra need a user to impersonate', 'Add --as=USER.');
  return { user, uid: asUid ?? own?.uid, groups: asGroup.length > 0 ? asGroup : (own?.groups ?? []), extra };
}

function splitExtra(pair: string): readonly [string, string] {
  const at = pair.indexOf('=');
  if (at < 1)
    throw usage(
      `--as-user-extra takes KEY=VALUE, not a value without "="`,
      'For example --as-user-extra=reason=debugging.',
    );
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function usage(message: string, hint: string): PodexitError {
  return new PodexitError('usage.impersonation', message, hint);
}

function noServer(kubeconfig: Kubeconfig, contextName: string | undefined, files: readonly string[]): PodexitError {
  if (contextName !== undefined) {
    return new PodexitError(
      'kubeconfig.no-server',
      `the context "${contextName}" has no server address`,
      'Give its cluster a server in the kubeconfig, or use --server.',
    );
  }
  if (kubeconfig.contexts.size > 0) {
    return new PodexitError(
      'kubeconfig.no-context',
      'the kubeconfig has no current context',
      `Choose one with --context or \`kubectl config use-context\`. ${namesHint('contexts', kubeconfig.contexts)}`,
    );
  }
  return new PodexitError(
    'kubeconfig.missing',
    `no kubeconfig was found (looked at ${files.join(', ')}), and podexit does not run inside a cluster`,
    'Set KUBECONFIG, use --kubeconfig, or try `kubectl podexit demo`, which needs no cluster.',
  );
}

/**
 * Refuses contradictory settings, as client-go does before it sends anything (validateClusterInfo, validateAuthInfo, and
 * with TLS TLSConfigFor and HTTPWrappersForConfig): to choose one would be a guess. Throws PodexitError
 * `kubeconfig.contradictory` or `kubeconfig.no-client-key`.
 */
function assertUsable(cluster: ServerEntry, user: UserEntry): void {
  const isTls = isOverTls(cluster.server);
  const { certificateAuthority: ca, certificateAuthorityData: caData, insecureSkipTlsVerify } = cluster;
  const { clientCertificate, clientCertificateData, clientKey, clientKeyData, token, tokenFile, username } = user;
  // A key is checked only if there is a certificate.
  const hasCertificate = clientCertificate || clientCertificateData;
  const contradictions: [areGiven: unknown, first: string, second: string][] = [
    [ca && caData, 'certificate-authority', 'certificate-authority-data'],
    [isTls && insecureSkipTlsVerify && (ca || caData), 'a certificate-authority', 'insecure-skip-tls-verify'],
    [token && (username || user.password), 'a token', 'basic authentication (username, password)'],
    [isTls && tokenFile && username, 'a tokenFile', 'basic authentication (username)'],
    [user.exec && user.authProvider, 'an exec plugin', 'an auth-provider'],
    [clientCertificate && clientCertificateData, 'client-certificate', 'client-certificate-data'],
    [hasCertificate && clientKey && clientKeyData, 'client-key', 'client-key-data'],
  ];
  for (const [areGiven, first, second] of contradictions)
    if (areGiven)
      throw new PodexitError(
        'kubeconfig.contradictory',
        `${first} and ${second} cannot be used together`,
        'Keep one of them, in the kubeconfig and the flags taken together.',
      );
  if (!hasCertificate || clientKey || clientKeyData) return;
  throw new PodexitError(
    'kubeconfig.no-client-key',
    'the client certificate of the user has no key and is useless without one',
    'Give client-key or client-key-data in the kubeconfig, or --client-key.',
  );
}
