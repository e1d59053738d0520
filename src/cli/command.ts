/** What the program and its commands give each other. */
import type { Command } from 'commander';
import type { ConnectOptions } from '../kube/connect-options.ts';
import type { Ports } from '../run/ports.ts';

/** The whole program: from a command line (without node and script) to an exit code. */
export type Main = (argv: readonly string[], ports: Ports) => Promise<number>;

export type TracePods = (command: Command, words: readonly string[], flags: Flags) => Promise<void>;

/** Adds a command to the program. It reports its exit code with `setExitCode`; `main` runs another command line. */
export type AddCommand = (
  program: Command,
  ports: Ports,
  setExitCode: (code: number) => void,
  runs: { main: Main; trace: TracePods },
) => void;

/** Starts a command of the program: its name and arguments, what it does, and examples of it. */
export const newCommand = (program: Command, words: string, about: string, examples: string): Command =>
  program.command(words).description(about).addHelpText('before', examples);

/** The flags of all commands, as commander parses them. A command reads only the flags that it has. */
export interface Flags extends Omit<ConnectOptions, 'requestTimeoutMs' | 'version'>, GateFlags {
  requestTimeout?: string;

  selector?: string;
  fieldSelector?: string;
  pick?: string;

  gracePeriod?: string;
  now?: boolean;
  force?: boolean;
  evict?: boolean;
  retryEvict?: boolean;
  ignoreNotFound?: boolean;
  dryRun?: string;
  yes?: boolean;
  interactive?: boolean;
  wait?: string;
  cascade?: string;

  asLive?: boolean;
  plain?: boolean;
  attach?: boolean;
  allTerminating?: boolean;
  timeout?: string;
  waitReplacement?: boolean;
  record?: string;
  v?: string;

  output?: string;
  report?: string[];
  color?: string;
  ascii?: boolean;
  /** --logs: true, --no-logs: false, neither: undefined. The same for other flags that have a `--no-` form. */
  logs?: boolean;
  timestamps?: string;

  probe?: string[];
  probeRate?: string;
  probeTimeout?: string;
  probeMethod?: string;
  probeHeader?: string[];
  probeExpect?: string;
  probeKeepalive?: boolean;
  probeCa?: string;
  probeInsecure?: boolean;

  github?: boolean;
  otlp?: string;
  /** --config FILE; --no-config: false. */
  config?: string | boolean;

  // Of `check`, `fix` and `why`.
  filename?: string[];
  recursive?: boolean;
  kustomize?: string;
  all?: boolean;
  inspect?: boolean;
  diff?: boolean;
  allow?: string;
  from?: string[];
  auditLog?: string[];

  // Of `try`, which also has `image`.
  patch?: string;
  runs?: string;
  rate?: string;
  path?: string;
  cleanup?: boolean;

  // Of `watch`.
  allNamespaces?: boolean;
  shard?: string;
  metrics?: string;
  recordDir?: string;
  recordMax?: string;
  emitEvents?: boolean;

  // Of `rollout` and `demo`.
  restart?: boolean;
  image?: string;
  list?: boolean;
  fixed?: boolean;
  serve?: boolean;
  port?: string;
  writeKubeconfig?: string;
}

/** The gates as texts; a config file has them too. */
export interface GateFlags {
  maxDuration?: string;
  maxGraceUsed?: string;
  minDrainLead?: string;
  /** The default is 0 if requests were sent. */
  maxLost?: string;
  /** Each word may contain several, separated by commas. */
  failOn?: string[];
  warnOnly?: boolean;
}
