/** What is said of a flag that does not exist: its name alone, since what stands behind it may be a credential. */
import { Command, CommanderError } from 'commander';
import { usageError } from './usage.ts';

/** Of commander's error. `program` knows the flags that might have been meant. */
export function unknownFlag({ message }: CommanderError, program: Command): Error {
  const word = /unknown option '([^]*)'/.exec(message)?.[1] ?? '';
  const name = word.startsWith('--') ? word.replace(/=[^]*$/, '') : word.slice(0, 2);
  return usageError('flags', complaintAbout(name, program) ?? `option '${name}' takes no value but true or false`);
}

/** Commander's own words, with the flag that was probably meant; undefined for a switch that exists. */
function complaintAbout(name: string, program: Command): string | undefined {
  const asked = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  const named = program.commands.find((command) => command.name() === program.args[0]);
  for (const option of (named ?? program).options) asked.addOption(option);
  try {
    asked.parse([name], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return plainMessage(error);
  }
}

/** Commander's message as one of ours: without its prefix, in one line. */
export const plainMessage = ({ message }: CommanderError): string =>
  message.replace(/^error: /, '').replace(/\n/g, ' ');
