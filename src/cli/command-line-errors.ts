/** Errors about the words of a command line, with the command or the flag that was probably meant. */
import { Command, CommanderError } from 'commander';
import { PodexitError } from '../errors.ts';
import { seeHelp, usageError } from './usage.ts';

/** What `program` threw, with the best hint. `commands`: the names of all commands. */
export function withBestHint(error: unknown, program: Command, commands: readonly string[]): unknown {
  const known = error instanceof CommanderError ? flagError(error, program) : error;
  if (!(known instanceof PodexitError)) return known;
  const { code, message, exitCode, cause } = known;
  return new PodexitError(code, message, bestHint(known, program, commands), { exitCode, cause });
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
function flagError({ code, message }: CommanderError, program: Command): PodexitError {
  if (code !== 'commander.unknownOption') return usageError('flags', plain(message));
  const word = /unknown option '([^]*)'/.exec(message)?.[1] ?? '';
  const name = word.startsWith('--') ? word.replace(/=[^]*$/, '') : word.slice(0, 2);
  const asked = silentCommand();
  for (const option of (namedCommand(program) ?? program).options) asked.addOption(option);
  const complaint = complaintAbout(name, asked);
  return usageError('flags', complaint ? plain(complaint) : `option '${name}' takes no value but true or false`);
}

const namedCommand = ({ args: [first], commands }: Command): Command | undefined =>
  commands.find((command) => command.name() === first);

const silentCommand = (): Command => new Command().exitOverride().configureOutput({ writeErr: () => {} });

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
