/** A mistyped command looks like the name of a pod: the error then suggests the command that was probably meant. */
import { Command, CommanderError } from 'commander';
import { PodexitError } from '../errors.ts';

/** The errors for a word that is neither a pod nor a command. */
const codes = ['usage.target', 'pod.not-found'];

/** `word`: the first word of the command line that is not a flag. `commands`: the names of all commands. */
export function withSuggestion(error: unknown, word: string | undefined, commands: readonly string[]): unknown {
  if (!(error instanceof PodexitError) || !codes.includes(error.code) || word === undefined) return error;
  const meant = commandLike(word, commands);
  if (meant === undefined) return error;
  const { code, message, hint, exitCode, cause } = error;
  return new PodexitError(code, message, `Did you mean the command "${meant}"? ${hint}`, { exitCode, cause });
}

/** The most similar command, by commander's own measure; undefined if none is similar. */
function commandLike(word: string, commands: readonly string[]): string | undefined {
  const asked = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  for (const name of commands) asked.command(name);
  try {
    asked.parse([word], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return /\(Did you mean (?:one of )?([a-z]+)/.exec(error.message)?.[1];
  }
}
