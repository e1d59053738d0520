/** Command lines as kubectl's parser (pflag) reads them, rewritten for ours. Pure. */
import type { Command, Option } from 'commander';

/** Flags whose value may be left out, and what that means: pflag's NoOptDefVal. */
const withoutValue: Record<string, string> = { '--dry-run': 'client', '--cascade': 'background', '--otlp': 'always' };

/**
 * `--flag=true|false` for switches, `-n=NAME` for short flags, and `--dry-run` without its value. What stands after
 * `--` is left alone. A switch that is `=false` is left out: no switch of ours is on by default but those with `--no-`.
 */
export function plainWords(argv: readonly string[], program: Command): string[] {
  const options = [program, ...program.commands].flatMap((command) => command.options);
  const end = argv.indexOf('--');
  const until = end === -1 ? argv.length : end;
  return [...argv.slice(0, until).flatMap((word) => plain(word, options)), ...argv.slice(until)];
}

function plain(word: string, options: readonly Option[]): string[] {
  const [, name = '', value] = /^(-[^-=]|--[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (name in withoutValue && value === undefined) return [`${name}=${withoutValue[name]}`];
  if (value === undefined) return [word];
  const option = options.find((one) => one.long === name || one.short === name);
  if (option?.isBoolean()) return switched(word, name, value);
  return option?.short === name ? [`${name}${value}`] : [word];
}

function switched(word: string, name: string, value: string): string[] {
  if (/^(true|t|1)$/i.test(value)) return [name];
  return /^(false|f|0)$/i.test(value) ? [] : [word];
}
