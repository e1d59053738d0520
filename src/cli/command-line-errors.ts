/** Errors about the words of a command line, with the command or the flag that was probably meant. */
import { Command, CommanderError } from 'commander';
import { PodexitError } from '../errors.ts';
import { seeHelp, usageError } from './usage.ts';

/** All that the command line could have named, of which `program` has only what it may use. */
interface Whole {
  commands: readonly string[];
  /** Only its flags are read: it parses nothing. */
  wholeProgram: () => Promise<Command>;
}

/** What `program` threw, with the best hint. */
export async function withBestHint(error: unknown, program: Command, whole: Whole): Promise<unknown> {
  const known = error instanceof CommanderError ? flagError(error, program, await whole.wholeProgram()) : error;
  if (!(known instanceof PodexitError)) return known;
  const { code, message, exitCode, cause } = known;
  return new PodexitError(code, message, bestHint(known, program, whole.commands), { exitCode, cause });
}

function bestHint({ code, hint }: PodexitError, program: Command, commands: readonly string[]): string {
  const command = namedCommand(program);
  // The program's own help has the flags of another command.
  if (command) return hint === seeHelp ? `See: kubectl podexit ${command.name()} --help` : hint;
  const [word] = program.args;
  // A mistyped command looks like the name of a pod.
  if (word === undefined || !['usage.target', 'pod.not-found'].includes(code)) return hint;
  const asked = silentCommand();
  for (const name of commands) asked.command(name);
  const meant = /\(Did you mean (?:one of )?([a-z]+)/.exec(complaintAbout(word, asked) ?? '')?.[1];
  return meant === undefined ? hint : `Did you mean the command "${meant}"? ${hint}`;
}

/** Names only the flag, since its value may be a credential. */
function flagError({ code, message }: CommanderError, program: Command, whole: Command): PodexitError {
  if (code !== 'commander.unknownOption') return usageError('flags', plain(message));
  const word = /unknown option '([^]*)'/.exec(message)?.[1] ?? '';
  const name = word.startsWith('--') ? word.replace(/=[^]*$/, '') : word.slice(0, 2);
  const asked = silentCommand();
  const command = whole.commands.find((one) => one.name() === namedCommand(program)?.name());
  for (const option of (command ?? whole).options) asked.addOption(option);
  const complaint = complaintAbout(name, asked);
  const hint = Object.hasOwn(flagHints, name) ? flagHints[name] : undefined;
  return usageError('flags', complaint ? plain(complaint) : `option '${name}' takes no value but true or false`, hint);
}

const oneNamespace = 'Name one namespace with -n. Exits of all of them: kubectl podexit watch -A';
const aboutLogs = 'podexit follows the logs of the pod by itself; to read them: kubectl logs POD';

/** What to do instead, for flags that other commands of kubectl and stern have. */
const flagHints: Readonly<Record<string, string>> = {
  '-A': oneNamespace,
  '--all-namespaces': oneNamespace,
  '--all': 'Name the pods, their workload as TYPE/NAME, or -l SELECTOR.',
  '-f': 'What is in a file is predicted by: kubectl podexit check -f FILE',
  '--filename': 'What is in a file is predicted by: kubectl podexit check -f FILE',
  '--tail': aboutLogs,
  '--since': aboutLogs,
  '--previous': aboutLogs,
  '--for': 'To wait for a deletion: kubectl podexit POD --attach',
};

const namedCommand = ({ args: [first], commands }: Command): Command | undefined =>
  commands.find((command) => command.name() === first);

const silentCommand = (): Command =>
  new Command()
    .exitOverride()
    .helpOption(false)
    .configureOutput({ writeErr: () => {} });

/** Commander's own words about this word, with what was probably meant; undefined if `asked` accepts it. */
function complaintAbout(word: string, asked: Command): string | undefined {
  try {
    asked.parse([word], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.message;
  }
}

/** Commander's message without its prefix, in one line. */
const plain = (message: string): string => message.replace(/^error: /, '').replace(/\n/g, ' ');
