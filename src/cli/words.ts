/** Command lines as kubectl's parser (pflag) reads them, rewritten for ours. Pure. */
import type { Command, Option } from 'commander';

/** Flags whose value may be left out, and what that means: pflag's NoOptDefVal. */
const withoutValue: Record<string, string> = {
  '--dry-run': 'client',
  '--wait': 'true',
  '--cascade': 'background',
  '--otlp': 'always',
};

/**
 * `--flag=true|false` for switches, `-n=NAME` for short flags, and `--dry-run` without its value. What stands after
 * `--` is left alone. A switch that is `=false` is left out, where nothing but the command line can turn it on.
 */
export function plainWords(argv: readonly string[], program: Command): string[] {
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const end = argv.indexOf('--');
  const until = end === -1 ? argv.length : end;
  const flags = argv.slice(0, until).map((word, index) => (isBareV(word, argv[index + 1]) ? '-v1' : word));
  return [...flags.flatMap((word) => plain(word, options)), ...argv.slice(until)];
}

/** `-v` alone is level 1; a number behind it is its value. */
const isBareV = (word: string, next: string | undefined): boolean =>
  (word === '-v' || word === '--v') && !/^\d+$/.test(next ?? '');

/** The flags that stood on a command's line, as words again. */
export const givenFlags = (command: Command): string[] =>
  command.options.flatMap((option) => {
    const name = option.attributeName();
    const value: unknown = command.getOptionValue(name);
    const flag = option.long ?? option.short ?? '';
    if (command.getOptionValueSource(name) !== 'cli') return [];
    if (option.isBoolean() || option.negate) return value === !option.negate ? [flag] : [];
    // `--no-config` sets what `--config FILE` reads.
    if (typeof value === 'boolean') return [];
    return [value].flat().map((one) => `${flag}=${String(one)}`);
  });

/** As a POSIX shell or PowerShell takes them. */
export const typed = (words: readonly string[]): string =>
  words.map((word) => (/^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');

function plain(word: string, options: readonly Option[]): string[] {
  const [, name = '', value] = /^(-[^-=]|--[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name in withoutValue && value === undefined) return [`${name}=${withoutValue[name]}`];
  if (value === undefined) return [word];
  const option = options.find((one) => one.long === name || one.short === name);
  if (option?.isBoolean()) return switched(word, name, value);
  if (option?.short !== name) return [word];
  // A bare `-n` would take the next word for its value.
  return value === '' ? [`${option.long ?? name}=`] : [`${name}${value}`];
}

/** Switches that something else may have set: the config file, the environment. */
const settled = new Set(['--warn-only', '--github']);

function switched(word: string, name: string, value: string): string[] {
  if (/^(true|t|1)$/i.test(value)) return [name];
  if (!/^(false|f|0)$/i.test(value)) return [word];
  return settled.has(name) ? [name.replace('--', '--no-')] : [];
}

/** The words after `--`: a command to run. */
export function behindDashes(program: Command): string[] {
  const { rawArgs = [] } = program as unknown as { rawArgs?: string[] };
  const dashes = rawArgs.indexOf('--');
  return dashes < 0 ? [] : rawArgs.slice(dashes + 1);
}

/** Flags whose values are never secret; of all others only the name is printed. */
const shown: ReadonlySet<string> = new Set([
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
    return shown.has(name) ? word : name;
  });
  return typed(['kubectl', 'podexit', ...verb, ...target, ...flags]);
}
