/** kubectl's connection flags (cli-runtime config_flags.go), as one table: same names, same meanings. */
import { Option, type Command } from 'commander';
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Flags } from './command.ts';
import { parseDuration, wholeNumber } from './usage.ts';

/** `list`: may be repeated. `ignored`: accepted, since kubectl users have it in aliases, but without an effect. */
type Row = readonly [flags: string, about: string, kind?: 'list' | 'ignored'];

const flagRows: readonly Row[] = [
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
  ['--proxy-url <url>', "proxy for requests to the API server, instead of the kubeconfig's"],
  ['--kuberc <file>', "kubectl's settings file, of which the policy for credential plugins counts"],
  [
    '--request-timeout <duration>',
    'the longest that one request may take (1s, 2m; 0: no limit); never cuts a stream or a write',
  ],
  ['--cache-dir <folder>', 'accepted and ignored: nothing is discovered, so nothing is cached', 'ignored'],
  ['--disable-compression', 'accepted and ignored: no answer is compressed', 'ignored'],
];

export function addConnectionFlags(command: Command): Command {
  command.optionsGroup('Connection, as in kubectl:');
  for (const [flags, about, kind] of flagRows)
    if (kind === 'list') command.option(flags, about, collect);
    else command.option(flags, about);
  return command;
}

/** Of the commands that ask a cluster without a trace, or watch it. */
export const addClusterFlags = (command: Command): Command =>
  addConnectionFlags(command.option('-v, --v <level>', 'log requests and decisions to stderr, from 1 to 9'));

export const clusterOptions = (flags: Flags, version: string) => ({
  connection: connectionOf(flags, version),
  verbosity: verbosityOf(flags),
});

export const verbosityOf = ({ v }: Flags): number => wholeNumber(v, '-v') ?? 0;

export const collect = (value: string, before: string[] = []): string[] => [...before, value];

export function connectionOf(flags: Flags, version: string): ConnectOptions {
  const { requestTimeout } = flags;
  // Empty means unset, as in kubectl: usually it comes from an unset variable in a script.
  const given = Object.entries(flags).filter(([name, value]) => connectOptionNames.has(name) && (value ?? '') !== '');
  return {
    ...(Object.fromEntries(given) as Partial<ConnectOptions>),
    // A bare number means seconds (client-go ParseTimeout).
    requestTimeoutMs: requestTimeout
      ? parseDuration(requestTimeout.replace(/^\d+$/, '$&s'), '--request-timeout')
      : undefined,
    version,
  };
}

/** The flags that become options of the same name. */
const connectOptionNames: ReadonlySet<string> = new Set(
  flagRows
    .filter(([flags, , kind]) => kind !== 'ignored' && !flags.startsWith('--request-timeout'))
    .map(([flags]) => new Option(flags).attributeName()),
);
