import { PodexitError } from '../errors.ts';

const help = 'See: kubectl podexit --help';

/** Wrong words on the command line: exit 1, and the legal values named. */
export const usageError = (what: string, message: string, hint = help): PodexitError =>
  new PodexitError(`usage.${what}`, message, hint);

/** The same error, with the help of the command that was meant: the program's own has another command's flags. */
export function withHelpOf(command: string | undefined, error: unknown): unknown {
  if (command === undefined || !(error instanceof PodexitError) || error.hint !== help) return error;
  const { code, message, exitCode, cause } = error;
  return new PodexitError(code, message, `See: kubectl podexit ${command} --help`, { exitCode, cause });
}
