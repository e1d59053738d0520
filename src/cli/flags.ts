/** Flags as tables, from which commander's options and the types of their values follow, and those that commands share. */
import type { Command } from 'commander';
import { formatNames, reportExtensions, type Printed } from '../output/formats.ts';

/** By heading: each flag with what the help says of it. A flag without a text is accepted, and in no help. */
export type FlagTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The values of a table's flags, as commander gives them: `maxDuration?: string`. */
export type FlagsOf<Table> = { [Flag in WordsIn<Table> as NameOf<Flag>]?: ValueOf<Flag> };

type WordsIn<Table> = { [Heading in keyof Table]: keyof Table[Heading] & string }[keyof Table];

/** `-o, --output <format>` is `output`, `--no-logs` is `logs`. */
type NameOf<Flag> = Flag extends `${string}, ${infer Long}`
  ? NameOf<Long>
  : Flag extends `${infer Word} <${string}`
    ? NameOf<Word>
    : Flag extends `--no-${infer Words}` | `--${infer Words}`
      ? CamelCase<Words>
      : never;

type CamelCase<Words extends string> = Words extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Words;

type ValueOf<Flag> = Flag extends `${string}${(typeof repeated)[number]} <${string}`
  ? string[]
  : Flag extends `${string}<${string}`
    ? string
    : boolean;

/** Flags that may be repeated. */
const repeated = [
  '--as-group',
  '--as-user-extra',
  '--audit-log',
  '--fail-on',
  '--filename',
  '--from',
  '--probe',
  '--probe-header',
  '--report',
] as const;

/** Adds a table's flags to a command, in its order. */
export function addFlags(command: Command, table: FlagTable): Command {
  for (const [heading, flags] of Object.entries(table)) {
    command.optionsGroup(heading);
    for (const [words, about] of Object.entries(flags)) {
      const option = command.createOption(words, about).hideHelp(about === '');
      if (repeated.some((flag) => flag === option.long))
        option.argParser((value: string, before: string[] = []) => [...before, value]);
      command.addOption(option);
    }
  }
  return command;
}

export const targetFlags = {
  'Which pod:': {
    '-l, --selector <labels>': 'pods with these labels, as in kubectl get -l',
    '--field-selector <fields>': 'pods with these fields, as in kubectl get --field-selector',
    '--pick <which>': 'if several pods match: oldest, newest, random or not-ready',
  },
};

export const deletionFlags = {
  'Deletion, as in kubectl delete:': {
    '--grace-period <seconds>': 'seconds the pod gets to exit; negative: its own; 0 becomes 1 without --force',
    '--now': 'the same as --grace-period=1',
    '--force': 'remove the object at once (grace period 0), even if containers still run',
    '--evict': 'use the Eviction API, which respects PodDisruptionBudgets',
    '--retry-evict': 'with --evict: try again while a PodDisruptionBudget refuses',
    '--ignore-not-found': 'exit 0 without a report if the pod does not exist',
    '--dry-run <how>': 'none, client or server: print what would be deleted, delete nothing',
    '-y, --yes': 'do not ask before deleting at a terminal',
    '-i, --interactive': 'ask before deleting, also without a terminal; declining exits 0 without a report',
    '--wait <true|false>': 'false: delete and exit at once, without a trace',
    // Refused, with a reason: a pod has no dependents.
    '--cascade <how>': '',
  },
};

export const lookFlags = {
  '--color <when>': 'auto, always or never',
  '--ascii': 'draw without Unicode',
};

export const outputFlags = {
  'Output:': {
    '-o, --output <format>': `${formatNames('trace', '…').join(', ')}; default: live at a terminal, else lines`,
    '--report <file>': `also write a report; the format follows the file extension (${reportExtensions('trace').join(' ')}); may be repeated`,
    '--logs': "show (and record) the containers' log lines",
    '--no-logs': "do not follow the containers' logs at all",
    ...lookFlags,
    '--plain': 'for screen readers: lines, without animation, bars or boxes',
    '--timestamps <kind>': 'relative, local or utc (the default)',
  },
};

export const pipelineFlags = {
  'Pipelines:': {
    '--max-duration <duration>': 'gate: at most this long from the request until the pod is gone',
    '--max-grace-used <percent>': 'gate: no container used more of its grace period than this: 80%',
    '--min-drain-lead <duration>': 'gate: SIGTERM came at least this long after removal from the Services',
    '--fail-on <code,…>':
      'gate: none of these findings (kubectl podexit explain findings); error, warning or any: all of that severity',
    '--warn-only': 'exit 0 where it would be 2 or 5',
    '--no-warn-only': 'override warn-only from a config file',
    '--config <file>': 'read gates from this file; default: .podexit.yaml, if it exists',
    '--no-config': 'read no config file',
    '--github': 'annotations and a step summary for GitHub Actions; default where GITHUB_ACTIONS is true',
    '--no-github': 'disable GitHub annotations and the step summary',
    '--otlp <when>': 'send an OpenTelemetry trace: always, never, or auto (if OTEL_EXPORTER_OTLP_ENDPOINT is set)',
  },
};

export const traceFlags = {
  'Trace:': {
    '--attach': 'delete nothing, wait until something else deletes the pod',
    '--all-terminating': 'with -l or a workload: trace every terminating pod until the rollout is done',
    '--timeout <duration>':
      'give up after this time (90s, 2m; 0: never); default: never at a terminal, else grace period + 120s',
    '--wait-replacement': 'also wait until the replacement is ready',
    '--record <file>': 'write what is observed to this file, for replay',
    '-v, --v <level>': 'show evidence, phases and assumptions; 2: count the requests on stderr; 6: log each of them',
    // A habit from kubectl get: podexit always watches.
    '-w, --watch': '',
  },
  ...outputFlags,
  'Requests:': {
    '--probe <target>':
      'send requests meanwhile and count those that fail; http(s)://…, tcp://HOST:PORT, grpc://HOST:PORT[/SERVICE], service/NAME[:PORT][/PATH] or pod[:PORT][/PATH] through the API server; may be repeated',
    '--probe-rate <n>': 'requests per second, at most 500; default: 20, through the API server 5',
    '--probe-timeout <duration>': 'a request without an answer fails after this time; default: 1s',
    '--probe-method <method>': 'HTTP method; default: GET',
    '--probe-header <header>':
      'a header, `Name: value`; @FILE reads them from a file, one a line, as does PODEXIT_PROBE_HEADERS; may be repeated',
    '--probe-expect <statuses>': 'HTTP statuses that count as success; default: 200-399',
    '--probe-keepalive': 'send every second request over one kept connection (the default)',
    '--no-probe-keepalive': 'make a new connection for each request',
    '--probe-ca <file>': 'trust the certificate authorities in this PEM file',
    '--probe-insecure': 'do not verify the server certificate',
    '--max-lost <n>':
      'gate: at most this many requests, or this share of them, failed: 3, 0.1%; default with --probe: 0; 100% switches it off',
  },
  ...pipelineFlags,
};

/** kubectl's connection flags (cli-runtime config_flags.go): same names, same meanings. They become options of the same name. */
export const connectOptionFlags = {
  '-n, --namespace <name>': "the pod's namespace",
  '--context <name>': 'the kubeconfig context to use',
  '--kubeconfig <file>': 'the kubeconfig file to use',
  '--cluster <name>': 'the kubeconfig cluster to use',
  '--user <name>': 'the kubeconfig user to use',
  '-s, --server <url>': "the API server's address",
  '--token <token>': 'bearer token for the API server',
  '--username <name>': 'name for basic authentication',
  '--password <word>': 'password for basic authentication',
  '--as <user>': 'user to impersonate',
  '--as-group <group>': 'group to impersonate; may be repeated',
  '--as-uid <uid>': 'uid to impersonate',
  '--as-user-extra <key=value>': 'extra field to impersonate; may be repeated',
  '--certificate-authority <file>': 'certificate authority of the API server',
  '--client-certificate <file>': 'client certificate for TLS',
  '--client-key <file>': 'client key for TLS',
  '--insecure-skip-tls-verify': "do not check the API server's certificate",
  '--tls-server-name <name>': "name to check the API server's certificate against",
  '--proxy-url <url>': "proxy for requests to the API server, instead of the kubeconfig's",
  '--kuberc <file>': "kubectl's settings file, of which the policy for credential plugins counts",
};

const ofConnection = {
  ...connectOptionFlags,
  '--request-timeout <duration>':
    'the longest that one request may take (1s, 2m; 0: no limit); never cuts a stream or a write',
  // kubectl users have these in aliases.
  '--cache-dir <folder>': 'accepted and ignored: nothing is discovered, so nothing is cached',
  '--disable-compression': 'accepted and ignored: no answer is compressed',
};

export const connectionFlags = { 'Connection, as in kubectl:': ofConnection };

/** Of the commands that ask a cluster without a trace, or watch it. */
export const clusterFlags = {
  'Connection, as in kubectl:': {
    '-v, --v <level>': 'log requests and decisions to stderr, from 1 to 9',
    ...ofConnection,
  },
};

/** Of the commands that print a document of their own. */
export const documentFlags = (subject: Printed) => ({
  'Output:': {
    '-o, --output <format>': `${formatNames(subject, '…').join(', ')}; default: table`,
    '--report <file>': 'also write a report; the format follows the file extension; may be repeated',
    ...lookFlags,
  },
});

export const programFlags = { ...targetFlags, ...deletionFlags, ...traceFlags, ...connectionFlags };

/** The flags that commands share. A command reads only those that it has. */
export type Flags = FlagsOf<typeof programFlags>;
