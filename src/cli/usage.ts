/** Parses values of flags, and describes invalid ones. */
import { PodexitError } from '../errors.ts';
import { picks } from '../run/choosing/target.ts';

/** The hint of an error that has no better one. */
export const seeHelp = 'See: kubectl podexit --help';

/** An invalid command line: exit 1, and the error names the legal values. */
export const usageError = (what: string, message: string, hint = seeHelp): PodexitError =>
  new PodexitError(`usage.${what}`, message, hint);

/** `reason`: what is wrong with a flag's value. */
export const badValue = (what: string, flag: string, value: string, reason: string, hint: string): PodexitError =>
  usageError(what, `${flag}: "${value.slice(0, 80)}" ${reason}`, hint);

/** `--max-duration` for `maxDuration`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function oneOf<T extends string>(text: string, values: readonly T[], flag: string): T {
  const found = values.find((value) => value === text);
  if (found === undefined)
    throw usageError('value', `${flag} must be one of ${values.join(', ')}, not "${text.slice(0, 80)}"`);
  return found;
}

/** The values of flags that have a few; completion offers them. */
export const flagValues = {
  '--color': ['auto', 'always', 'never'],
  '--timestamps': ['relative', 'local', 'utc'],
  '--pick': picks,
  '--dry-run': ['none', 'client', 'server'],
  '--wait': ['true', 'false'],
  '--otlp': ['always', 'auto', 'never'],
} as const;

/** The same for flags whose values differ by command. */
export const valuesByCommand = {
  'fix --output': ['strategic', 'json-patch', 'kustomize', 'yaml'],
  'why --fail-on': ['forced', 'oom', 'killed', 'failed', 'overran', 'stuck', 'unknown'],
  'compare --fail-on': ['worse'],
  'recommend --fail-on': ['raise', 'lower', 'killed', 'lost'],
  'try --fail-on': ['worse', 'lost'],
} as const;

export const valueOf = <F extends keyof typeof flagValues>(text: string, flag: F): (typeof flagValues)[F][number] =>
  oneOf(text, flagValues[flag], flag);

/** The values of a flag that may be repeated, and may contain several separated by commas. */
export const severalOf = <T extends string>(texts: readonly string[] = [], values: readonly T[], flag: string): T[] =>
  texts.flatMap((text) => text.split(',')).map((word) => oneOf(word, values, flag));

/** `unit`: what the number counts, unless the flag's name says it. */
export function wholeNumber(text: string | undefined, flag: string, unit = ''): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[+-]?\d{1,10}$/.test(text))
    throw usageError('number', `${flag} takes a whole number${unit && ` of ${unit}`}, not "${text.slice(0, 80)}"`);
  return Number(text);
}

const units: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A Go duration (`90s`, `1h30m`, `0`) in ms, rounded up for Node's timers. Throws `usage.duration`, also above 24 days. */
export function parseDuration(text: string, flag: string): number {
  if (/^[+-]?0$/.test(text)) return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h)/g)];
  const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ''] ?? 0), 0);
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text || !Number.isFinite(total))
    throw usageError('duration', `${flag}: "${text}" is not a duration`, 'Write it as Go does: 90s, 2m, 1h30m, 500ms.');
  // A timer of Node waits at most 2^31 - 1 ms, and fires at once for more.
  if (total > 576 * 3_600_000)
    throw usageError('duration', `${flag}: "${text}" is too long`, 'At most 576h (24 days); 0 means no limit.');
  return Math.ceil(total);
}
