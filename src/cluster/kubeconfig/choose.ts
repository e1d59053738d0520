import { resolve } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { ConnectOptions } from '../connect-options.ts';
import type { ClusterEntry, ContextEntry, Impersonation, Kubeconfig, UserEntry } from './kubeconfig.ts';
import type { Loaded } from './load.ts';

/** The one cluster and user that this run talks to. */
export interface Chosen {
  contextName?: string;
  namespace: string;
  cluster: ClusterEntry & { server: string };
  user: UserEntry;
}

/**
 * Context, cluster and user as kubectl picks them, with the flags over them. Throws PodexitError
 * `kubeconfig.unknown-context` (or -cluster, -user), `kubeconfig.no-context`, `kubeconfig.no-server`,
 * `kubeconfig.bad-namespace`, `usage.impersonation`.
 */
export function choose({ kubeconfig, files, ownNamespace }: Loaded, options: ConnectOptions): Chosen {
  const contextName = options.context ?? kubeconfig.currentContext;
  const context = contextName === undefined ? {} : chooseContext(kubeconfig, contextName, files, options);
  const cluster = {
    ...pick('cluster', kubeconfig.clusters, options.cluster ?? context.cluster),
    ...clusterFlags(options),
  };
  if (cluster.server === undefined) throw noServer(kubeconfig, contextName, files);
  const user = withFlags(pick('user', kubeconfig.users, options.user ?? context.user), options);
  return {
    ...(contextName === undefined ? {} : { contextName }),
    namespace: assertText(options.namespace || context.namespace || ownNamespace || 'default'),
    cluster: { ...cluster, server: withScheme(cluster.server, cluster, user) },
    user,
  };
}

/** Half a surrogate pair, which YAML can write, stands in no path. */
function assertText(namespace: string): string {
  if (namespace.isWellFormed()) return namespace;
  throw new PodexitError(
    'kubeconfig.bad-namespace',
    `the namespace ${JSON.stringify(namespace)} cannot be one: it is no valid Unicode text`,
    'Correct the namespace of the context in the kubeconfig, or name another one with -n.',
  );
}

/** client-go DefaultServerURL: an address without a scheme is https where anything speaks of TLS, else http. */
function withScheme(server: string, cluster: ClusterEntry, user: UserEntry): string {
  if (server.includes('://')) return server;
  const hints = [
    cluster.certificateAuthority,
    cluster.certificateAuthorityData,
    user.clientCertificate,
    user.clientCertificateData,
  ];
  const isTls = cluster.insecureSkipTlsVerify === true || hints.some((hint) => hint !== undefined && hint !== '');
  return `${isTls ? 'https' : 'http'}://${server}`;
}

function chooseContext(
  kubeconfig: Kubeconfig,
  name: string,
  files: readonly string[],
  options: ConnectOptions,
): ContextEntry {
  const context = kubeconfig.contexts.get(name);
  if (context !== undefined) return context;
  // kubectl goes on without a context where the flags say everything.
  if (options.context === undefined && (options.server !== undefined || options.cluster !== undefined)) return {};
  throw new PodexitError(
    'kubeconfig.unknown-context',
    `the context "${name}" is not in ${files.join(', ')}`,
    known('contexts', kubeconfig.contexts),
  );
}

/** Undefined names choose nothing; a name that does not exist is a mistake. */
function pick<T extends object>(
  kind: 'cluster' | 'user',
  entries: ReadonlyMap<string, T>,
  name: string | undefined,
): T | object {
  const entry = name === undefined ? {} : entries.get(name);
  if (entry !== undefined) return entry;
  throw new PodexitError(
    `kubeconfig.unknown-${kind}`,
    `the ${kind} "${name}" is not in the kubeconfig`,
    known(`${kind}s`, entries),
  );
}

function known(what: string, entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].sort();
  return names.length === 0 ? `It has no ${what} at all.` : `Its ${what} are: ${names.join(', ')}.`;
}

function clusterFlags(options: ConnectOptions): ClusterEntry {
  const { server, certificateAuthority, insecureSkipTlsVerify, tlsServerName } = options;
  return {
    ...(server === undefined ? {} : { server }),
    ...(certificateAuthority === undefined
      ? {}
      : { certificateAuthority: resolve(certificateAuthority), certificateAuthorityData: '' }),
    ...(insecureSkipTlsVerify ? { insecureSkipTlsVerify } : {}),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
  };
}

/**
 * A token or a password of a flag takes the place of every other proof in the kubeconfig but the client certificate, which
 * TLS shows beside it: so does kubectl.
 */
function withFlags(user: UserEntry, options: ConnectOptions): UserEntry {
  const { token, username, password, clientCertificate, clientKey } = options;
  const certificate = {
    ...(clientCertificate === undefined
      ? {}
      : { clientCertificate: resolve(clientCertificate), clientCertificateData: '' }),
    ...(clientKey === undefined ? {} : { clientKey: resolve(clientKey), clientKeyData: '' }),
  };
  const impersonate = impersonation(user.impersonate, options);
  const all = { ...user, ...certificate, ...(impersonate === undefined ? {} : { impersonate }) };
  if (token !== undefined) return { ...without(all), token };
  if (username === undefined && password === undefined) return all;
  return { ...without(all), username: username ?? user.username ?? '', password: password ?? user.password ?? '' };
}

const proofs = ['token', 'tokenFile', 'username', 'password', 'exec', 'authProvider'] as const;

function without(user: UserEntry): UserEntry {
  const rest = { ...user };
  for (const proof of proofs) delete rest[proof];
  return rest;
}

function impersonation(own: Impersonation | undefined, options: ConnectOptions): Impersonation | undefined {
  const { as, asUid, asGroup = [], asUserExtra = [] } = options;
  const isGiven = as !== undefined || asUid !== undefined || asGroup.length + asUserExtra.length > 0;
  const user = as ?? own?.user;
  const merged: Impersonation = {
    ...(user === undefined ? {} : { user }),
    ...(asUid !== undefined ? { uid: asUid } : own?.uid === undefined ? {} : { uid: own.uid }),
    groups: asGroup.length > 0 ? asGroup : (own?.groups ?? []),
    extra: asUserExtra.length > 0 ? asUserExtra.map(splitExtra) : (own?.extra ?? []),
  };
  if (!isGiven && own === undefined) return undefined;
  if (merged.user === undefined) {
    throw usage('--as-uid, --as-group and --as-user-extra need a user to impersonate', 'Add --as=USER.');
  }
  return merged;
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
      `the context "${contextName}" leads to no server address`,
      'Give its cluster a server in the kubeconfig, or use --server.',
    );
  }
  if (kubeconfig.contexts.size > 0) {
    return new PodexitError(
      'kubeconfig.no-context',
      'the kubeconfig has no current context',
      `Choose one with --context or \`kubectl config use-context\`. ${known('contexts', kubeconfig.contexts)}`,
    );
  }
  return new PodexitError(
    'kubeconfig.missing',
    `no kubeconfig was found (looked at ${files.join(', ')}), and podexit does not run inside a cluster`,
    'Set KUBECONFIG, use --kubeconfig, or try `kubectl podexit demo`, which needs no cluster.',
  );
}
