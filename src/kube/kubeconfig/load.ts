import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { PodexitError } from '../../errors.ts';
import type { ConnectOptions } from '../connect-options.ts';
import type { Variables } from '../env.ts';
import { invalid, parseKubeconfig, readIfThere, type Kubeconfig } from './parse.ts';

interface LoadOptions extends Pick<ConnectOptions, 'kubeconfig' | 'server' | 'token'> {
  variables: Variables;
  /** Where Kubernetes mounts the service account of a pod. */
  serviceAccount?: string;
}

export interface Loaded {
  kubeconfig: Kubeconfig;
  /** The files that were searched, for error texts. */
  files: readonly string[];
  /** Inside a pod: the namespace if nothing else names one. */
  ownNamespace?: string;
}

/**
 * The kubeconfig that kubectl would use: --kubeconfig alone (which must exist), else the files in KUBECONFIG (missing
 * and empty ones are skipped), else ~/.kube/config; if these and --server give nothing, the service account of the pod.
 * Throws PodexitError `kubeconfig.missing` or `kubeconfig.invalid`.
 */
export async function loadKubeconfig(options: LoadOptions): Promise<Loaded> {
  const { kubeconfig: file, variables, server, serviceAccount = serviceAccountDirectory } = options;
  const inside = inClusterKubeconfig(options);
  // kubectl's namespace inside a pod if no flag or context names one (client-go: inClusterClientConfig.Namespace).
  const inNamespace = () => readIfThere(`${serviceAccount}/namespace`)?.trim() || undefined;
  const ownNamespace = inside && (variables['POD_NAMESPACE'] || inNamespace());
  if (file !== undefined) {
    const kubeconfig = await readKubeconfig(file);
    if (kubeconfig === undefined)
      throw new PodexitError(
        'kubeconfig.missing',
        `the kubeconfig ${file} does not exist`,
        'Check the path given to --kubeconfig.',
      );
    return { kubeconfig, files: [file], ownNamespace };
  }
  const named = (variables['KUBECONFIG'] ?? '').split(delimiter).filter((name) => name !== '');
  const home = variables['HOME'] || variables['USERPROFILE'] || homedir();
  const files = named.length > 0 ? [...new Set(named)] : [join(home, '.kube', 'config')];
  const found = await Promise.all(files.map(readKubeconfig));
  const kubeconfig = mergeKubeconfigs(found.filter((each) => each !== undefined));
  // With --server the service account is not used (client-go ClientConfig).
  const isEmpty = kubeconfig.clusters.size + kubeconfig.contexts.size === 0 && server === undefined;
  return { kubeconfig: (isEmpty && inside) || kubeconfig, files, ownNamespace };
}

/** Undefined if the file does not exist. Synchronous: there is nothing else to do until it is read. */
async function readKubeconfig(file: string): Promise<Kubeconfig | undefined> {
  let text: string;
  try {
    const bytes = readFileSync(file);
    // PowerShell's `>` writes UTF-16 with a byte order mark.
    text = bytes.toString(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf16le' : 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw invalid(file, code);
  }
  return parseKubeconfig(readPlainYaml(text) ?? (await import('./yaml.ts')).readYaml(text, file), file);
}

/**
 * Merges files as kubectl does: the first entry of a name wins as a whole, and so does the first current-context
 * ("Organizing Cluster Access Using kubeconfig Files", Kubernetes documentation).
 */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  return {
    currentContext: files.find((file) => file.currentContext !== undefined)?.currentContext,
    clusters: firstWins(files.map((file) => file.clusters)),
    users: firstWins(files.map((file) => file.users)),
    contexts: firstWins(files.map((file) => file.contexts)),
  };
}

function firstWins<T>(maps: readonly ReadonlyMap<string, T>[]): Map<string, T> {
  return new Map([...maps].reverse().flatMap((map) => [...map]));
}

const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/** What a process inside a pod uses instead of a kubeconfig; undefined if we do not run in a pod. */
export function inClusterKubeconfig(options: LoadOptions): Kubeconfig | undefined {
  const { variables, token, serviceAccount: directory = serviceAccountDirectory } = options;
  const host = variables['KUBERNETES_SERVICE_HOST'];
  const port = variables['KUBERNETES_SERVICE_PORT'];
  if (!host || !port || readIfThere(`${directory}/token`) === undefined) return undefined;
  const name = 'in-cluster';
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    currentContext: name,
    clusters: new Map([[name, { server, certificateAuthority: `${directory}/ca.crt` }]]),
    // A file, not its content: the kubelet renews it every hour. Unlike the token file of a kubeconfig, it does not win
    // over --token (client-go inClusterClientConfig).
    users: new Map([[name, token === undefined ? { tokenFile: `${directory}/token` } : { token }]]),
    contexts: new Map([[name, { cluster: name, user: name }]]),
  };
}

/**
 * Reads YAML as kubectl and the tools of cloud providers write a kubeconfig: block mappings and lists whose values are
 * plain words or quoted without escapes. Undefined for everything else, which is left to the YAML library: this saves 22
 * of 265 ms of a first start, and 4 of 207 later. The result is the library's (test/kube/plain-yaml.test.ts).
 */
export function readPlainYaml(text: string): unknown {
  const lines = text.replace(/\n+$/, '').split('\n').map(readLine);
  if (!lines.every((line) => line !== undefined)) return undefined;
  try {
    const [value, end] = readBlock(lines, 0, 0);
    return end === lines.length ? value : undefined;
  } catch (error) {
    if (error === notPlain) return undefined;
    throw error;
  }
}

interface Line {
  indent: number;
  /** Without its indentation: `key:`, `key: value`, or either after `- `. */
  rest: string;
}

/** Thrown if a text is not plain YAML; never leaves this file. */
const notPlain = new Error('not plain YAML');

function readLine(line: string): Line | undefined {
  const match = /^( *)([ -~]*[!-~])$/.exec(line);
  return match ? { indent: (match[1] ?? '').length, rest: match[2] ?? '' } : undefined;
}

/** The value that begins at line `at` with this indent, and the index of the line after it. */
function readBlock(lines: readonly Line[], at: number, indent: number): [unknown, number] {
  return lines[at]?.rest.startsWith('- ') ? readList(lines, at, indent) : readMapping(lines, at, indent);
}

function readList(lines: readonly Line[], at: number, indent: number): [unknown[], number] {
  const items: unknown[] = [];
  for (let line = lines[at]; line?.indent === indent && line.rest.startsWith('- '); line = lines[at]) {
    const rest = line.rest.slice(2);
    if (keyed.test(rest)) {
      const inner = lines.with(at, { indent: indent + 2, rest });
      const [item, next] = readMapping(inner, at, indent + 2);
      items.push(item);
      at = next;
    } else {
      items.push(readScalar(rest));
      at += 1;
    }
  }
  return [items, at];
}

const keyed = /^([A-Za-z][\w.-]*):(?: (.*))?$/;

function readMapping(lines: readonly Line[], at: number, indent: number): [Record<string, unknown>, number] {
  const found: Record<string, unknown> = {};
  for (let line = lines[at]; line?.indent === indent && !line.rest.startsWith('- '); line = lines[at]) {
    const [, key = '', value] = keyed.exec(line.rest) ?? [];
    if (key === '' || isReserved(key) || Object.hasOwn(found, key)) throw notPlain;
    const next = lines[at + 1];
    const isNested = next && (next.indent > indent || (next.indent === indent && next.rest.startsWith('- ')));
    if (value === undefined) [found[key], at] = isNested ? readBlock(lines, at + 1, next.indent) : [null, at + 1];
    else [found[key], at] = [readScalar(value), at + 1];
  }
  // A deeper line continues the value above it, or is wrong.
  if ((lines[at]?.indent ?? 0) > indent) throw notPlain;
  return [found, at];
}

function readScalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === '{}') return {};
  if (text === '[]') return [];
  const quoted = /^(?:"([^"\\]*)"|'([^']*)')$/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? '';
  if (!/^[A-Za-z/][\w./:@+=-]*$/.test(text) || text.endsWith(':') || isReserved(text)) throw notPlain;
  return text;
}

/** Words that some version of YAML does not read as text. */
const isReserved = (word: string): boolean => /^(?:y|n|yes|no|on|off|true|false|null|inf|nan)$/i.test(word);
