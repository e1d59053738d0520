import { dirname, resolve } from 'node:path';
import { readFields, type Fields } from './fields.ts';
import type { ClusterEntry, ContextEntry, ExecEntry, Impersonation, Kubeconfig, UserEntry } from './kubeconfig.ts';

/**
 * Reads one kubeconfig file, whose YAML is `document`. Relative paths become absolute, against the file's own directory. An empty file is an
 * empty kubeconfig, as in kubectl. Throws PodexitError `kubeconfig.invalid`, which names the file and the place but
 * echoes nothing of it: it may hold credentials.
 */
export function parseKubeconfig(document: unknown, file: string): Kubeconfig {
  const root = readFields(document, file);
  const directory = dirname(resolve(file));
  return {
    currentContext: root.text('current-context'),
    clusters: readNamed(root, 'clusters', 'cluster', (entry) => readCluster(entry, directory)),
    users: readNamed(root, 'users', 'user', (entry) => readUser(entry, directory)),
    contexts: readNamed(root, 'contexts', 'context', readContext),
  };
}

function readNamed<T>(root: Fields, list: string, key: string, read: (entry: Fields) => T): Map<string, T> {
  const named = new Map<string, T>();
  for (const each of root.mappings(list)) {
    const name = each.text('name');
    if (name === undefined) throw each.wrong('has no name');
    // kubectl loads no such file: which of the two is meant?
    if (named.has(name)) throw each.wrong('has the name of an earlier one');
    named.set(name, read(each.mapping(key) ?? nothing));
  }
  return named;
}

const nothing = readFields({}, '');

function readCluster(raw: Fields, directory: string): ClusterEntry {
  const extensions = raw
    .mappings('extensions')
    .map((each) => [each.text('name') ?? '', each.raw('extension')] as const);
  return {
    server: raw.text('server'),
    certificateAuthority: path(raw, 'certificate-authority', directory),
    certificateAuthorityData: raw.data('certificate-authority-data'),
    insecureSkipTlsVerify: raw.flag('insecure-skip-tls-verify'),
    tlsServerName: raw.text('tls-server-name'),
    proxyUrl: raw.text('proxy-url'),
    disableCompression: raw.flag('disable-compression'),
    extensions: extensions.length === 0 ? undefined : new Map(extensions),
  };
}

function readUser(raw: Fields, directory: string): UserEntry {
  const exec = raw.mapping('exec');
  return {
    token: raw.text('token'),
    tokenFile: path(raw, 'tokenFile', directory),
    username: raw.text('username'),
    password: raw.text('password'),
    clientCertificate: path(raw, 'client-certificate', directory),
    clientCertificateData: raw.data('client-certificate-data'),
    clientKey: path(raw, 'client-key', directory),
    clientKeyData: raw.data('client-key-data'),
    exec: exec === undefined ? undefined : readExec(exec, directory),
    authProvider: readProvider(raw.mapping('auth-provider')),
    impersonate: readImpersonation(raw),
  };
}

function readExec(raw: Fields, directory: string): ExecEntry {
  const mode = raw.text('interactiveMode');
  const installHint = raw.text('installHint');
  return {
    apiVersion: raw.text('apiVersion') ?? '',
    command: raw.text('command') ?? '',
    args: raw.texts('args'),
    env: raw.mappings('env').map((each) => ({ name: each.text('name') ?? '', value: each.text('value') ?? '' })),
    provideClusterInfo: raw.flag('provideClusterInfo') ?? false,
    interactiveMode: mode === 'Never' || mode === 'Always' ? mode : 'IfAvailable',
    directory,
    installHint,
  };
}

function readProvider(raw: Fields | undefined): UserEntry['authProvider'] {
  const config = raw?.mapping('config');
  const settings = (config?.names() ?? []).map((name) => [name, config?.text(name) ?? ''] as const);
  const name = raw?.text('name');
  return name === undefined ? undefined : { name, config: Object.fromEntries(settings) };
}

function readImpersonation(raw: Fields): Impersonation | undefined {
  const more = raw.mapping('as-user-extra');
  const groups = raw.texts('as-groups');
  const extra = (more?.names() ?? []).flatMap((key) => (more?.texts(key) ?? []).map((value) => [key, value] as const));
  const [user, uid] = [raw.text('as'), raw.text('as-uid')];
  const isGiven = user !== undefined || uid !== undefined || groups.length + extra.length > 0;
  return isGiven ? { user, uid, groups, extra } : undefined;
}

function readContext(raw: Fields): ContextEntry {
  return { cluster: raw.text('cluster'), user: raw.text('user'), namespace: raw.text('namespace') };
}

function path(raw: Fields, name: string, directory: string): string | undefined {
  const written = raw.text(name);
  return written === undefined ? undefined : resolve(directory, written);
}
