/** Rewrites command lines for kubectl's parser (pflag) into those for commander. Pure. */
import type { Command, Option } from 'commander';
import { flagValues, usageError } from './usage.ts';

/** Flags whose value is optional, and the default that they then have: pflag's NoOptDefVal. */
export const withoutValue: Readonly<Record<string, string>> = {
  '--dry-run': 'client',
  '--wait': 'true',
  '--cascade': 'background',
  '--otlp': 'always',
};

/** Without `=`, kubectl's parser takes the value in `--otlp always` for a pod. Throws usageError `value`. */
function refuseBlank(flag: string, word = ''): void {
  const values: Readonly<Record<string, readonly string[]>> = flagValues;
  if (Object.hasOwn(withoutValue, flag) && values[flag]?.includes(word))
    throw usageError('value', `${flag} takes its value after "=": ${flag}=${word}`, `For a pod: pod/${word}`);
}

/**
 * Accepts `--flag=true|false` for switches, `-n=NAME` for short flags, and `--dry-run` without its value. Words after
 * `--` stay as they are. Drops a switch with `=false` if only the command line can turn it on.
 */
export function wordsForCommander(argv: readonly string[], program: Command): string[] {
  const end = argv.indexOf('--');
  const until = end === -1 ? argv.length : end;
  argv.slice(0, until).forEach((word, index) => refuseBlank(word, argv[index + 1]));
  // `-v` alone is level 1; a number after it is its value.
  const isBareV = (word: string, next = ''): boolean => ['-v', '--v'].includes(word) && !/^\d+$/.test(next);
  const flags = argv.slice(0, until).map((word, index) => (isBareV(word, argv[index + 1]) ? '-v1' : word));
  const rewriteFlags = (options: readonly Option[]) => flags.flatMap((word) => rewriteWord(word, options));
  const words = rewriteFlags(program.options);
  const command = commandIn(words, program)?.command;
  const rewritten = command ? rewriteFlags([...program.options, ...command.options]) : words;
  return [...rewritten, ...argv.slice(until)];
}

/** Moves a command's name ahead of its flags (`-n shop check`): commander would parse them as the program's own. */
export function commandFirst(words: readonly string[], program: Command): readonly string[] {
  const named = commandIn(words, program);
  return named ? [named.command.name(), ...words.slice(0, named.at), ...words.slice(named.at + 1)] : words;
}

/** The command that the words name, and where: the first word that is neither a flag of the program nor its value. */
function commandIn(words: readonly string[], program: Command): { command: Command; at: number } | undefined {
  let at = 0;
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    const option = optionOf(word, program.options);
    if (option === undefined) return undefined;
    const takesNext = option.required && (word === option.long || word === option.short);
    at += takesNext ? 2 : 1;
  }
  const command = program.commands.find((one) => one.name() === words[at]);
  return command && { command, at };
}

/** The option that a word sets: `--flag`, `--flag=VALUE`, `-f` or `-fVALUE`. */
const optionOf = (word: string, options: readonly Option[]): Option | undefined =>
  options.find(({ long, short }) => long === word.replace(/=[^]*$/, '') || short === word.slice(0, 2));

/** The flags that the command line sets, as words again. */
export const givenFlags = (command: Command): string[] =>
  command.options.flatMap((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const flag = option.long ?? option.short ?? '';
    if (command.getOptionValueSource(name) !== 'cli') return [];
    if (option.isBoolean() || option.negate) return value === !option.negate ? [flag] : [];
    // `--no-config` sets what `--config FILE` reads.
    if (typeof value === 'boolean') return [];
    return [value].flat().map((text) => `${flag}=${String(text)}`);
  });

/** Quoted for a POSIX shell or PowerShell if necessary. */
export const shellQuoted = (words: readonly string[]): string =>
  words.map((word) => (/^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');

function rewriteWord(word: string, options: readonly Option[]): string[] {
  // Switches that share a dash: `-yn shop`.
  if (/^-[^-=][^=]/.test(word) && optionOf(word, options)?.isBoolean())
    return [word.slice(0, 2), ...rewriteWord(`-${word.slice(2)}`, options)];
  const [, name = '', value] = /^(-[^-=]|--[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name in withoutValue && value === undefined) return [`${name}=${withoutValue[name]}`];
  if (value === undefined) return [word];
  const option = optionOf(word, options);
  if (option?.isBoolean()) return rewriteSwitch(word, name, value);
  if (option?.short !== name) return [word];
  // A bare `-n` would take the next word for its value.
  return value === '' ? [`${option.long ?? name}=`] : [`${name}${value}`];
}

function rewriteSwitch(word: string, name: string, value: string): string[] {
  if (/^(true|t|1)$/i.test(value)) return [name];
  if (!/^(false|f|0)$/i.test(value)) return [word];
  // The config file or the environment may have set these two.
  return ['--warn-only', '--github'].includes(name) ? [name.replace('--', '--no-')] : [];
}

/** Splits the words into those before `--`, and those after it: a command to run. */
export function splitAtDashes(program: Command, words: readonly string[]): [before: string[], after: string[]] {
  const { rawArgs = [] } = program as unknown as { rawArgs?: string[] };
  const dashes = rawArgs.indexOf('--');
  const after = dashes < 0 ? [] : rawArgs.slice(dashes + 1);
  return [words.slice(0, words.length - after.length), after];
}

/** Flags whose values are never secret; of all others only the name is printed. */
const printableFlags: ReadonlySet<string> = new Set([
  '--namespace',
  '--context',
  '--selector',
  '--field-selector',
  '--pick',
  '--grace-period',
  '--timeout',
  '--request-timeout',
  '--output',
  '--probe-rate',
  '--probe-timeout',
  '--max-duration',
  '--max-grace-used',
  '--min-drain-lead',
  '--max-lost',
  '--fail-on',
  '--v',
]);

/** `target`: words that were parsed as a target. Nothing after `--` is printed. */
export function shownCommand(command: Command, target: readonly string[]): string {
  const verb = command.parent ? [command.name()] : [];
  const flags = givenFlags(command).map((word) => {
    const [name = ''] = word.split('=', 1);
    return printableFlags.has(name) ? word : name;
  });
  return shellQuoted(['kubectl', 'podexit', ...verb, ...target, ...flags]);
}
