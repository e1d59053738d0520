import { PodexitError } from '../errors.ts';

/** Wrong words on the command line: exit 1, and the legal values named. */
export const usageError = (what: string, message: string, hint = 'See: kubectl podexit --help'): PodexitError =>
  new PodexitError(`usage.${what}`, message, hint);
