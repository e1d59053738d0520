/** kubectl's connection flags (cli-runtime config_flags.go), as one table: what they are called is what they mean there. */
import { Option, type Command } from 'commander';
import type { ConnectOptions } from '../kube/connect-options.ts';
import { parseDuration } from './usage.ts';

/** As commander hands them over. */
export interface ConnectionFlags extends Omit<ConnectOptions, 'requestTimeoutMs' | 'version'> {
  requestTimeout?: string;
}

interface Row {
  flags: string;
  about: string;
  /** `list` may be repeated; `ignored` is accepted, since kubectl users have it in aliases, and changes nothing here. */
  kind?: 'list' | 'ignored';
}

const rows: readonly Row[] = [
  { flags: '-n, --namespace <name>', about: "the pod's namespace" },
  { flags: '--context <name>', about: 'the kubeconfig context to use' },
  { flags: '--kubeconfig <file>', about: 'the kubeconfig file to use' },
  { flags: '--cluster <name>', about: 'the kubeconfig cluster to use' },
  { flags: '--user <name>', about: 'the kubeconfig user to use' },
  { flags: '-s, --server <url>', about: "the API server's address" },
  { flags: '--token <token>', about: 'bearer token for the API server' },
  { flags: '--username <name>', about: 'name for basic authentication' },
  { flags: '--password <word>', about: 'password for basic authentication' },
  { flags: '--as <user>', about: 'user to impersonate' },
  { flags: '--as-group <group>', about: 'group to impersonate; may be repeated', kind: 'list' },
  { flags: '--as-uid <uid>', about: 'uid to impersonate' },
  { flags: '--as-user-extra <key=value>', about: 'extra field to impersonate; may be repeated', kind: 'list' },
  { flags: '--certificate-authority <file>', about: 'certificate authority of the API server' },
  { flags: '--client-certificate <file>', about: 'client certificate for TLS' },
  { flags: '--client-key <file>', about: 'client key for TLS' },
  { flags: '--insecure-skip-tls-verify', about: "do not check the API server's certificate" },
  { flags: '--tls-server-name <name>', about: "name to check the API server's certificate against" },
  {
    flags: '--request-timeout <duration>',
    about: 'the longest that one request may take (1s, 2m; 0: no limit); never cuts a stream or a write',
  },
  {
    flags: '--cache-dir <folder>',
    about: 'accepted and ignored: nothing is discovered, so nothing is cached',
    kind: 'ignored',
  },
  { flags: '--disable-compression', about: 'accepted and ignored: no answer is compressed', kind: 'ignored' },
];

export function addConnectionFlags(command: Command): Command {
  command.optionsGroup('Connection, as in kubectl:');
  for (const { flags, about, kind } of rows)
    if (kind === 'list') command.option(flags, about, collect);
    else command.option(flags, about);
  return command;
}

export const collect = (value: string, before: string[] = []): string[] => [...before, value];

export function connectionOf(flags: ConnectionFlags, version: string): ConnectOptions {
  const { requestTimeout } = flags;
  // Empty is unset, as in kubectl: a variable of a script, most often.
  const given = Object.entries(flags).filter(([name, value]) => taken.has(name) && value !== undefined && value !== '');
  return {
    ...(Object.fromEntries(given) as Partial<ConnectOptions>),
    ...(requestTimeout === undefined || requestTimeout === '' ? {} : { requestTimeoutMs: timeoutOf(requestTimeout) }),
    version,
  };
}

/** The flags that are options of the same name. */
const taken: ReadonlySet<string> = new Set(
  rows
    .filter(({ kind, flags }) => kind !== 'ignored' && !flags.startsWith('--request-timeout'))
    .map(({ flags }) => new Option(flags).attributeName()),
);

/** A bare number is seconds there (client-go ParseTimeout). */
const timeoutOf = (text: string): number => parseDuration(/^\d+$/.test(text) ? `${text}s` : text, '--request-timeout');
