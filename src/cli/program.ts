/** The command tree. Commander parses; the result becomes typed options and a call into the run. */
import { Command, CommanderError, type Option } from 'commander';
import type { Ports } from '../run/ports.ts';
import { traceOnePod } from '../run/group/trace-pod.ts';
import { traceOptions, addTraceFlags } from './options.ts';
import { addConnectionFlags } from './connection-flags.ts';
import { addDeleteFlags, addTargetFlags } from './delete-flags.ts';
import { firstPage, moreFlags } from './help.ts';
import type { AddCommand, Flags, Main, TracePods } from './command.ts';
import { commandFirst, wordsForCommander } from './words.ts';

/** Runs a command line (without node and script). Throws PodexitError. `main`, for the demo, prints errors too. */
export async function runProgram(argv: readonly string[], ports: Ports, main: Main = runProgram): Promise<number> {
  let code = 0;
  const setExitCode = (result: number): void => void (code = result);
  const program = await buildProgram(ports, setExitCode, { argv, main });
  try {
    await program.parseAsync(commandFirst(wordsForCommander(argv, program), program), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { withBestHint } = await import('./command-line-errors.ts');
    const wholeProgram = (): Promise<Command> => buildProgram(ports, setExitCode, { main });
    throw await withBestHint(error, program, commandNames, wholeProgram);
  }
}

/** Builds the whole tree, or only the flags and commands that `argv` may use: the others would slow each start. */
export async function buildProgram(
  ports: Ports,
  setExitCode: (code: number) => void,
  { argv, main = runProgram }: { argv?: readonly string[]; main?: Main } = {},
): Promise<Command> {
  const { stdout, version } = ports;
  const trace: TracePods = async (command, words, flags) => {
    const options = await traceOptions(command, words, flags, ports);
    if (options.pods !== 'all') return setExitCode(await traceOnePod(options, ports));
    setExitCode(await (await import('../run/group/trace-several.ts')).traceSeveral(options, ports));
  };
  // `-h` also after other switches that share its dash.
  const isHelp = (word: string): boolean => /^(help|options|--help|-\w*h)$/.test(word);
  const needsAll = argv === undefined || argv.length === 0 || argv.some(isHelp);
  const program = new CommandWithNeededFlags(commandName(ports.env), needsAll ? undefined : argv)
    .configureHelp(firstPage)
    .description(
      'Shows live how a pod shuts down, why it took that long, whether clients lost requests, and what to change.',
    )
    .usage('TARGET [flags]')
    .argument(
      '[target...]',
      'POD…, TYPE/NAME or TYPE NAME; TYPE: pod, deployment, statefulset, daemonset, replicaset, job, service, node',
    )
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('before', examples(commandName(ports.env)))
    .addHelpText('after', exitCodes)
    .addHelpText('afterAll', ({ command }) => moreFlags(command))
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: () => {} })
    .enablePositionalOptions();
  addConnectionFlags(addTraceFlags(addDeleteFlags(addTargetFlags(program)))).action((words: string[], flags: Flags) =>
    trace(program, words, flags),
  );
  for (const [name, load] of Object.entries(commands))
    if (needsAll || argv.includes(name)) (await load())(program, ports, setExitCode, { main, trace });
  return program;
}

/** A command with only those of its flags that a command line may set: all 75 together slow each start. */
class CommandWithNeededFlags extends Command {
  readonly #words: readonly string[] | undefined;

  /** `words`: of the command line; undefined: the command gets all its flags. */
  constructor(name: string, words: readonly string[] | undefined) {
    super(name);
    this.#words = words;
  }

  override createCommand(name = ''): Command {
    return new CommandWithNeededFlags(name, this.#words);
  }

  override addOption(option: Option): this {
    return this.#words?.some((word) => maySet(word, option)) === false ? this : super.addOption(option);
  }
}

/** `--flag`, `--no-flag`, `--flag=VALUE`, or any switches and short flags that share a dash: `-yn shop`. */
function maySet(word: string, { long, short }: Option): boolean {
  if (!word.startsWith('--')) return short !== undefined && word.startsWith('-') && word.includes(short.slice(1));
  return nameOf(word) === nameOf(long ?? '');
}

const nameOf = (flag: string): string => flag.replace(/^--(?:no-)?/, '').replace(/=[^]*$/, '');

/** Two columns that fit a terminal of 80 with the longer of the two names. */
const examples = (name: string): string =>
  `Examples:\n${exampleLines.map(([words, what]) => `  ${`${name} ${words}`.padEnd(49)}  ${what}\n`).join('')}`;

const exampleLines = [
  ['deployment/checkout', 'delete one of its pods'],
  ['web-0 --attach', 'wait for its deletion'],
  ['rollout deployment/checkout', 'follow a whole rollout'],
  ['web-0 --probe service/web', 'count the requests it loses'],
  ['node/n1 -- kubectl drain n1 …', 'follow the pods it evicts'],
  ['check deployment/checkout', 'predict, delete nothing'],
  ['why web-0', 'explain a past exit'],
  ['watch -A', 'every exit, all day'],
  ['web-0 -o json > exit.json', 'for programs'],
  ['demo', 'try it without a cluster'],
] as const;

/** Docs and help repeat the table of verdict/exit-code.ts; tests compare them. */
const exitCodes = `
A pod named like a command is written pod/NAME.

Exit codes:
  0    graceful, or nothing was running
  1    could not do the work, or wrong usage
  2    not graceful: killed, oom, failed, overran, forced
  3    stuck at --timeout, or not started
  4    unknown: not observed to its end
  5    graceful, but a gate failed or requests were lost
  128+ ended by a signal: 128 + its number`;

/**
 * Krew's advice: show `kubectl podexit` if kubectl started us. Newer kubectls say so themselves. With older ones the
 * shell's `_` still names kubectl, since kubectl replaces itself with us.
 */
export const commandName = (env: Ports['env']): string =>
  env['KUBECTL_PATH'] !== undefined || /(^|[\\/])kubectl(\.exe)?$/.test(env['_'] ?? '')
    ? 'kubectl podexit'
    : 'kubectl-podexit';

/** By name. Its file is loaded only if a command line names the command or asks for help. */
const commands: Record<string, () => Promise<AddCommand>> = {
  check: async () => (await import('./check.ts')).addCheck,
  fix: async () => (await import('./check.ts')).addFix,
  try: async () => (await import('./try.ts')).addTry,
  why: async () => (await import('./why.ts')).addWhy,
  compare: async () => (await import('./offline.ts')).addCompare,
  recommend: async () => (await import('./offline.ts')).addRecommend,
  signals: async () => (await import('./offline.ts')).addSignals,
  watch: async () => (await import('./watch.ts')).addWatch,
  rollout: async () => (await import('./trace-commands.ts')).addRollout,
  replay: async () => (await import('./offline.ts')).addReplay,
  demo: async () => (await import('./trace-commands.ts')).addDemo,
  explain: async () => (await import('./offline.ts')).addExplain,
  completion: async () => (await import('./complete/scripts.ts')).addCompletion,
  options: async () => (await import('./help.ts')).addOptions,
};

export const commandNames: readonly string[] = Object.keys(commands);
