/** kubectl's connection flags (cli-runtime config_flags.go), as one table: what they are called is what they mean there. */
import { Option, type Command } from 'commander';
import type { ConnectOptions } from '../kube/connect-options.ts';
import { parseDuration } from './usage.ts';

/** As commander hands them over. */
export interface ConnectionFlags extends Omit<ConnectOptions, 'requestTimeoutMs' | 'version'> {
  requestTimeout?: string;
}

/** `list` may be repeated; `ignored` is accepted, since kubectl users have it in aliases, and changes nothing here. */
type Row = readonly [flags: string, about: string, kind?: 'list' | 'ignored'];

const rows: readonly Row[] = [
  ['-n, --namespace <name>', "the pod's namespace"],
  ['--context <name>', 'the kubeconfig context to use'],
  ['--kubeconfig <file>', 'the kubeconfig file to use'],
  ['--cluster <name>', 'the kubeconfig cluster to use'],
  ['--user <name>', 'the kubeconfig user to use'],
  ['-s, --server <url>', "the API server's address"],
  ['--token <token>', 'bearer token for the API server'],
  ['--username <name>', 'name for basic authentication'],
  ['--password <word>', 'password for basic authentication'],
  ['--as <user>', 'user to impersonate'],
  ['--as-group <group>', 'group to impersonate; may be repeated', 'list'],
  ['--as-uid <uid>', 'uid to impersonate'],
  ['--as-user-extra <key=value>', 'extra field to impersonate; may be repeated', 'list'],
  ['--certificate-authority <file>', 'certificate authority of the API server'],
  ['--client-certificate <file>', 'client certificate for TLS'],
  ['--client-key <file>', 'client key for TLS'],
  ['--insecure-skip-tls-verify', "do not check the API server's certificate"],
  ['--tls-server-name <name>', "name to check the API server's certificate against"],
  [
    '--request-timeout <duration>',
    'the longest that one request may take (1s, 2m; 0: no limit); never cuts a stream or a write',
  ],
  ['--cache-dir <folder>', 'accepted and ignored: nothing is discovered, so nothing is cached', 'ignored'],
  ['--disable-compression', 'accepted and ignored: no answer is compressed', 'ignored'],
];

export function addConnectionFlags(command: Command): Command {
  command.optionsGroup('Connection, as in kubectl:');
  for (const [flags, about, kind] of rows)
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
    .filter(([flags, , kind]) => kind !== 'ignored' && !flags.startsWith('--request-timeout'))
    .map(([flags]) => new Option(flags).attributeName()),
);

/** A bare number is seconds there (client-go ParseTimeout). */
const timeoutOf = (text: string): number => parseDuration(/^\d+$/.test(text) ? `${text}s` : text, '--request-timeout');
