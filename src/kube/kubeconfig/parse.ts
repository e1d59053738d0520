import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { asObject } from '../../model/observe/read.ts';
import { PodexitError } from '../../errors.ts';

/** The contents of a kubeconfig, with entries by name; every path is absolute. */
export interface Kubeconfig {
  currentContext?: string;
  clusters: ReadonlyMap<string, ClusterEntry>;
  users: ReadonlyMap<string, UserEntry>;
  contexts: ReadonlyMap<string, ContextEntry>;
}

export type ClusterEntry = Partial<ReturnType<typeof readCluster>>;
/** With an address. */
export type ServerEntry = ClusterEntry & { server: string };
export type UserEntry = Partial<ReturnType<typeof readUser>>;
export type ExecEntry = ReturnType<typeof readExec>;
type ContextEntry = Partial<ReturnType<typeof readContext>>;

export interface Impersonation {
  user?: string;
  uid?: string;
  groups: readonly string[];
  extra: readonly (readonly [key: string, value: string])[];
}

/**
 * Reads `document`, the YAML of one kubeconfig file. Relative paths are relative to the file's directory. An empty file
 * is an empty kubeconfig, as in kubectl. Throws PodexitError `kubeconfig.invalid`, which names the file and the place
 * but never a value, which may be a credential.
 */
export function parseKubeconfig(document: unknown, file: string): Kubeconfig {
  const root = readFields(document, file);
  return {
    currentContext: root.text('current-context'),
    clusters: readNamed(root, 'clusters', 'cluster', readCluster),
    users: readNamed(root, 'users', 'user', readUser),
    contexts: readNamed(root, 'contexts', 'context', readContext),
  };
}

function readNamed<T>(root: Fields, list: string, key: string, read: (entry: Fields) => T): Map<string, T> {
  const named = new Map<string, T>();
  for (const each of root.mappings(list)) {
    const name = each.text('name');
    if (name === undefined) throw each.wrong('has no name');
    // Ambiguous, so kubectl refuses such a file.
    if (named.has(name)) throw each.wrong('has the name of an earlier one');
    named.set(name, read(each.mapping(key) ?? readFields({}, '')));
  }
  return named;
}

function readCluster(raw: Fields) {
  const extensions = raw
    .mappings('extensions')
    .map((each) => [each.text('name') ?? '', each.raw('extension')] as const);
  return {
    server: raw.text('server'),
    certificateAuthority: raw.path('certificate-authority'),
    /** Base64, as in the file. */
    certificateAuthorityData: raw.data('certificate-authority-data'),
    insecureSkipTlsVerify: raw.flag('insecure-skip-tls-verify'),
    tlsServerName: raw.text('tls-server-name'),
    proxyUrl: raw.text('proxy-url'),
    disableCompression: raw.flag('disable-compression'),
    /** By name; `client.authentication.k8s.io/exec` is passed to exec plugins. */
    extensions: extensions.length === 0 ? undefined : new Map(extensions),
  };
}

function readUser(raw: Fields) {
  const exec = raw.mapping('exec');
  return {
    token: raw.text('token'),
    tokenFile: raw.path('tokenFile'),
    username: raw.text('username'),
    password: raw.text('password'),
    clientCertificate: raw.path('client-certificate'),
    clientCertificateData: raw.data('client-certificate-data'),
    clientKey: raw.path('client-key'),
    clientKeyData: raw.data('client-key-data'),
    exec: exec === undefined ? undefined : readExec(exec),
    authProvider: readProvider(raw.mapping('auth-provider')),
    impersonate: readImpersonation(raw),
  };
}

function readExec(raw: Fields) {
  const command = raw.text('command') ?? '';
  const isRelative = (command.includes('/') || command.includes(sep)) && !isAbsolute(command);
  const mode = raw.text('interactiveMode');
  return {
    apiVersion: raw.text('apiVersion') ?? '',
    /** A bare name is looked up in PATH. A relative path is relative to the kubeconfig, as in kubectl. */
    command: (isRelative && raw.path('command')) || command,
    args: raw.texts('args'),
    env: raw.mappings('env').map((each) => ({ name: each.text('name') ?? '', value: each.text('value') ?? '' })),
    provideClusterInfo: raw.flag('provideClusterInfo') ?? false,
    interactiveMode: mode === 'Never' || mode === 'Always' ? mode : 'IfAvailable',
    installHint: raw.text('installHint'),
  };
}

function readProvider(raw: Fields | undefined) {
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

function readContext(raw: Fields) {
  return { cluster: raw.text('cluster'), user: raw.text('user'), namespace: raw.text('namespace') };
}

/**
 * The fields of one mapping, each read as the type that kubectl expects. A wrong type is an error, as in kubectl: to
 * ignore the field could mean another user or another namespace. null counts as absent. All methods throw PodexitError
 * `kubeconfig.invalid`, which names the file and the field.
 */
interface Fields extends ReturnType<typeof readFields> {}

/** `place`: where the mapping is in the file, for error texts. */
function readFields(value: unknown, file: string, place = '') {
  if (value != null && (typeof value !== 'object' || Array.isArray(value)))
    throw invalid(file, place === '' ? 'it is not a mapping of keys to values' : notA(place, value, 'a mapping'));
  const raw = asObject(value);
  const at = (name: string) => (place === '' ? name : `${place}.${name}`);
  const list = (name: string): unknown[] => {
    const found = raw[name] ?? [];
    if (!Array.isArray(found)) throw invalid(file, notA(at(name), found, 'a list'));
    return found as unknown[];
  };
  /** Undefined if it is empty. */
  const text = (name: string): string | undefined => asText(raw[name], file, at(name)) || undefined;
  return {
    text,
    /** As an absolute path; a relative one starts at the file's directory. */
    path(name: string): string | undefined {
      const written = text(name);
      return written === undefined ? undefined : resolve(dirname(file), written);
    },
    /** Valid base64; undefined if it is empty. */
    data(name: string): string | undefined {
      const found = text(name);
      if (found !== undefined && !isBase64(found)) throw invalid(file, `"${at(name)}" is not valid base64`);
      return found;
    },
    /** Undefined if it is false. */
    flag(name: string): boolean | undefined {
      const found = raw[name] ?? false;
      if (typeof found !== 'boolean') throw invalid(file, `"${at(name)}" is neither true nor false`);
      return found || undefined;
    },
    texts: (name: string): string[] => list(name).map((each, index) => asText(each, file, `${at(name)}[${index}]`)),
    /** Undefined if it is absent. */
    mapping: (name: string): Fields | undefined =>
      raw[name] == null ? undefined : readFields(raw[name], file, at(name)),
    mappings: (name: string): Fields[] =>
      list(name).map((each, index) => readFields(each, file, `${at(name)}[${index}]`)),
    names: (): string[] => Object.keys(raw),
    /** The value, of any type. */
    raw: (name: string): unknown => raw[name],
    /** An error about the mapping itself. */
    wrong: (what: string): Error => invalid(file, `"${place}" ${what}`),
  };
}

function asText(value: unknown, file: string, place: string): string {
  if (value == null) return '';
  if (typeof value === 'string') return value;
  throw invalid(file, notA(place, value, 'text'));
}

/** As Go's encoding/base64, which ignores line breaks. */
function isBase64(text: string): boolean {
  const letters = text.replace(/[\r\n]+/g, '');
  return letters.length % 4 === 0 && /^[A-Za-z\d+/]*={0,2}$/.test(letters);
}

function notA(place: string, value: unknown, wanted: string): string {
  const quotes = wanted === 'text' && typeof value !== 'object' ? '; put it in quotes' : '';
  return `"${place}" is ${kindOf(value)}, not ${wanted}${quotes}`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a mapping';
  return { number: 'a number', boolean: 'true or false' }[typeof value as string] ?? 'text';
}

/** A kubeconfig that cannot be read. `what` repeats nothing of the file, which may contain credentials. */
export function invalid(file: string, what: string): PodexitError {
  return new PodexitError(
    'kubeconfig.invalid',
    `the kubeconfig ${file} cannot be read: ${what}`,
    'Correct the file; `kubectl config view` shows what kubectl makes of it.',
  );
}

/** Without TLS credentials are not sent, and no certificate is verified. */
export function isOverTls(server: string): boolean {
  return URL.canParse(server) && new URL(server).protocol === 'https:';
}

/** The text of a file that a kubeconfig names; undefined if the file cannot be read. */
export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
