/** From argv to an exit code: commander parses, the words become typed options, and a command runs. */
import { CommanderError, type Command } from 'commander';
import type { Ports } from '../run/ports.ts';
import { traceOnePod } from '../run/group/trace-pod.ts';
import type { AddCommand, TracePods } from './command.ts';
import type { Flags } from './flags.ts';
import { traceOptions } from './options.ts';
import { addOptions, programFor } from './program.ts';
import { oneOf } from './usage.ts';
import { commandFirst, wordsForCommander } from './words.ts';

export async function main(argv: readonly string[], ports: Ports): Promise<number> {
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    return complete(argv.slice(1), await buildProgram(ports, () => {}), ports);
  }
  try {
    return await runProgram(await ownWords(argv), ports);
  } catch (error) {
    const { reportError } = await import('../output/machine/json.ts');
    const { stdoutFormatOf, withoutGivenSecrets, withVerbHint } = await import('./command-line-errors.ts');
    return reportError(withoutGivenSecrets(withVerbHint(error, argv), argv), stdoutFormatOf(argv), ports);
  }
}

/** For kubectl's words `help`, `version`, `delete` … A pod of such a name is written `pod/help`. Throws usageError. */
async function ownWords(argv: readonly string[]): Promise<readonly string[]> {
  const [first, ...more] = argv;
  if (first === 'help') {
    const [word = 'help'] = more;
    if (!word.startsWith('-')) oneOf(word, [...commandNames, 'help', 'version'], 'help');
    return [...more, '--help'];
  }
  if (first === 'version' && more.every((word) => word === '--client' || word === '--client=true'))
    return ['--version'];
  if (first !== 'delete' && first !== 'evict' && first !== 'rollout') return argv;
  return (await import('./command-line-errors.ts')).withoutVerb(argv);
}

/** Runs a command line (without node and script). Throws PodexitError. */
async function runProgram(argv: readonly string[], ports: Ports): Promise<number> {
  let code = 0;
  const setExitCode = (result: number): void => void (code = result);
  const program = await buildProgram(ports, setExitCode, argv);
  try {
    await program.parseAsync(commandFirst(wordsForCommander(argv, program), program), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { withBestHint } = await import('./command-line-errors.ts');
    throw withBestHint(error, program, commandNames);
  }
}

/** Builds the whole tree, or only the commands that `argv` may use: the others would slow each start. */
export async function buildProgram(
  ports: Ports,
  setExitCode: (code: number) => void,
  argv?: readonly string[],
): Promise<Command> {
  const trace: TracePods = async (command, words, flags) => {
    const options = await traceOptions(command, words, flags, ports);
    if (options.pods !== 'all') return setExitCode(await traceOnePod(options, ports));
    setExitCode(await (await import('../run/group/trace-several.ts')).traceSeveral(options, ports));
  };
  // `-h` also after other switches that share its dash.
  const isHelp = (word: string): boolean => /^(help|options|--help|-\w*h)$/.test(word);
  const needsAll = argv === undefined || argv.length === 0 || argv.some(isHelp);
  const program = programFor(ports);
  program.action((words: string[], flags: Flags) => trace(program, words, flags));
  for (const [name, load] of Object.entries(commands))
    if (needsAll || argv.includes(name)) (await load())(program, ports, setExitCode, { main, trace });
  return program;
}

/** By name. A file is loaded only if a command line names the command or asks for help. */
const commands: Record<string, () => Promise<AddCommand>> = {
  check: async () => (await import('./check.ts')).addCheck,
  fix: async () => (await import('./check.ts')).addFix,
  try: async () => (await import('./check.ts')).addTry,
  why: async () => (await import('./explaining.ts')).addWhy,
  compare: async () => (await import('./explaining.ts')).addCompare,
  recommend: async () => (await import('./explaining.ts')).addRecommend,
  signals: async () => (await import('./explaining.ts')).addSignals,
  watch: async () => (await import('./watch.ts')).addWatch,
  rollout: async () => (await import('./trace-commands.ts')).addRollout,
  replay: async () => (await import('./explaining.ts')).addReplay,
  demo: async () => (await import('./trace-commands.ts')).addDemo,
  explain: async () => (await import('./explaining.ts')).addExplain,
  completion: async () => (await import('./complete.ts')).addCompletion,
  options: async () => addOptions,
};

const commandNames: readonly string[] = Object.keys(commands);
