import { dirname, resolve } from 'node:path';
import type { YAMLException } from 'js-yaml';
import { CORE_SCHEMA, floatCoreTag, intCoreTag, loadAll, mergeTag, NOT_RESOLVED } from 'js-yaml';
import { PodexitError } from '../../errors.ts';
import { asArray, asRecord, asText } from '../status.ts';
import type { ClusterEntry, ContextEntry, ExecEntry, Impersonation, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { emptyKubeconfig } from './kubeconfig.ts';

/**
 * Reads one kubeconfig file. Relative paths become absolute, against the file's own directory. An empty file is an
 * empty kubeconfig, as in kubectl. Throws PodexitError `kubeconfig.invalid`, which names the file and the place but
 * echoes nothing of it: it may hold credentials.
 */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  const root = readYaml(text, file);
  if (root === null || root === undefined) return emptyKubeconfig;
  if (typeof root !== 'object' || Array.isArray(root)) throw invalid(file, 'it is no mapping of keys to values');
  const raw = asRecord(root);
  const directory = dirname(resolve(file));
  const currentContext = asText(raw['current-context']);
  return {
    ...(currentContext === '' ? {} : { currentContext }),
    clusters: readNamed(raw, 'clusters', 'cluster', file, (entry) => readCluster(entry, directory, file)),
    users: readNamed(raw, 'users', 'user', file, (entry) => readUser(entry, directory, file)),
    contexts: readNamed(raw, 'contexts', 'context', file, readContext),
  };
}

/** A number only where it reads as it was written: 0123, 1e3 and what has twenty digits may well be somebody's password. */
const asWritten = (tag: typeof intCoreTag): typeof intCoreTag => ({
  ...tag,
  resolve: (source, ...more) => {
    const value = tag.resolve(source, ...more);
    return String(value) === source ? value : NOT_RESOLVED;
  },
});

/** With merge keys (`<<`), which kubectl's YAML has. */
const schema = CORE_SCHEMA.withTags(mergeTag, asWritten(intCoreTag), asWritten(floatCoreTag));

function readYaml(text: string, file: string): unknown {
  try {
    // Of several documents kubectl reads the first.
    const [document] = loadAll(text, { schema, maxAliases: 100 });
    return document;
  } catch (error) {
    const { mark } = error as YAMLException;
    throw invalid(file, `it is no YAML${mark === undefined ? '' : ` (line ${mark.line + 1})`}`);
  }
}

export function invalid(file: string, what: string): PodexitError {
  return new PodexitError(
    'kubeconfig.invalid',
    `the kubeconfig ${file} cannot be read: ${what}`,
    'Correct the file; `kubectl config view` shows what kubectl makes of it.',
  );
}

function readNamed<T>(
  raw: Record<string, unknown>,
  list: string,
  key: string,
  file: string,
  read: (entry: Record<string, unknown>) => T,
): Map<string, T> {
  const entries = raw[list] ?? [];
  if (!Array.isArray(entries)) throw invalid(file, `"${list}" is no list`);
  const named = new Map<string, T>();
  for (const [index, each] of entries.entries()) {
    const name = asRecord(each)['name'];
    if (typeof name !== 'string' && typeof name !== 'number') throw invalid(file, `"${list}[${index}]" has no name`);
    if (!named.has(String(name))) named.set(String(name), read(asRecord(asRecord(each)[key])));
  }
  return named;
}

function readCluster(raw: Record<string, unknown>, directory: string, file: string): ClusterEntry {
  const extensions = asArray(raw['extensions']).map(
    (each) => [asText(asRecord(each)['name']), asRecord(each)['extension']] as const,
  );
  return defined({
    server: text(raw['server']),
    certificateAuthority: path(raw['certificate-authority'], directory),
    certificateAuthorityData: text(raw['certificate-authority-data']),
    insecureSkipTlsVerify: flag(raw, 'insecure-skip-tls-verify', file),
    tlsServerName: text(raw['tls-server-name']),
    proxyUrl: text(raw['proxy-url']),
    disableCompression: flag(raw, 'disable-compression', file),
    extensions: extensions.length === 0 ? undefined : new Map(extensions),
  });
}

function readUser(raw: Record<string, unknown>, directory: string, file: string): UserEntry {
  const provider = asRecord(raw['auth-provider']);
  return defined({
    token: text(raw['token']),
    tokenFile: path(raw['tokenFile'], directory),
    username: text(raw['username']),
    password: text(raw['password']),
    clientCertificate: path(raw['client-certificate'], directory),
    clientCertificateData: text(raw['client-certificate-data']),
    clientKey: path(raw['client-key'], directory),
    clientKeyData: text(raw['client-key-data']),
    exec: raw['exec'] ? readExec(asRecord(raw['exec']), directory, file) : undefined,
    authProvider:
      asText(provider['name']) === ''
        ? undefined
        : { name: asText(provider['name']), config: asRecord(provider['config']) },
    impersonate: readImpersonation(raw, file),
  });
}

function readExec(raw: Record<string, unknown>, directory: string, file: string): ExecEntry {
  const mode = raw['interactiveMode'];
  return {
    apiVersion: asText(raw['apiVersion']),
    command: asText(raw['command']),
    args: texts(raw['args'], 'args', file),
    env: asArray(raw['env']).map((each) => ({
      name: asText(asRecord(each)['name']),
      value: text(asRecord(each)['value']) ?? '',
    })),
    provideClusterInfo: flag(raw, 'provideClusterInfo', file) ?? false,
    interactiveMode: mode === 'Never' || mode === 'Always' ? mode : 'IfAvailable',
    directory,
    ...(asText(raw['installHint']) === '' ? {} : { installHint: asText(raw['installHint']) }),
  };
}

function readImpersonation(raw: Record<string, unknown>, file: string): Impersonation | undefined {
  const groups = texts(raw['as-groups'], 'as-groups', file);
  const extra = Object.entries(asRecord(raw['as-user-extra'])).flatMap(([key, values]) =>
    texts(values, 'as-user-extra', file).map((value) => [key, value] as const),
  );
  const named = defined({ user: text(raw['as']), uid: text(raw['as-uid']) });
  return Object.keys(named).length + groups.length + extra.length === 0 ? undefined : { ...named, groups, extra };
}

function readContext(raw: Record<string, unknown>): ContextEntry {
  return defined({ cluster: text(raw['cluster']), user: text(raw['user']), namespace: text(raw['namespace']) });
}

/** YAML reads an unquoted 12345 as a number, and it may well be somebody's password. */
function text(value: unknown): string | undefined {
  const told = typeof value === 'number' ? String(value) : asText(value);
  return told === '' ? undefined : told;
}

/** Of scalars alone: a list in it may, by its aliases, hold any number of others. */
function texts(value: unknown, name: string, file: string): string[] {
  return asArray(value).map((one) => {
    if (!['string', 'number', 'boolean'].includes(typeof one)) throw invalid(file, `"${name}" holds what is no text`);
    return String(one);
  });
}

/** Undefined where it is off. kubectl's YAML is 1.1, where `yes` and `on` are true; what is neither it refuses, and so do we. */
function flag(raw: Record<string, unknown>, name: string, file: string): true | undefined {
  const value = raw[name] ?? false;
  const word = typeof value === 'boolean' ? String(value) : asText(value).toLowerCase();
  if (['true', 'yes', 'on', 'y'].includes(word)) return true;
  if (['false', 'no', 'off', 'n'].includes(word)) return undefined;
  throw invalid(file, `"${name}" is neither true nor false`);
}

function path(value: unknown, directory: string): string | undefined {
  return text(value) === undefined ? undefined : resolve(directory, asText(value));
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function defined<T extends object>(entry: T): Defined<T> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Defined<T>;
}
