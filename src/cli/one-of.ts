import { usageError } from './usage.ts';

/** The value of a flag that has a few legal ones. */
export function oneOf<T extends string>(text: string, values: readonly T[], flag: string): T {
  const found = values.find((value) => value === text);
  if (found === undefined)
    throw usageError('value', `${flag} must be one of ${values.join(', ')}, not "${text.slice(0, 80)}"`);
  return found;
}
