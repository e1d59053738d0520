/** `-o`, `--report`, `--color` and `--ascii` of the commands that print one document (src/advice). */
import type { Command } from 'commander';
import type { OutputOptions } from '../advice/output.ts';
import { collect } from './connection-flags.ts';
import { oneOf } from './usage.ts';

interface OutputFlags {
  output?: string;
  report?: string[];
  color?: string;
  ascii?: boolean;
}

/** Formats of each of these commands beside table, json and yaml. */
export const otherFormats = {
  check: ['markdown', 'sarif', 'junit'],
  why: ['markdown'],
  compare: ['markdown'],
  recommend: ['markdown', 'html'],
} as const;

/** `others`: formats beside table, json and yaml. */
export const addOutputOf = (command: Command, others: readonly string[]): Command =>
  command
    .optionsGroup('Output:')
    .option('-o, --output <format>', `${['table', 'json', 'yaml', ...others].join(', ')}; default: table`)
    .option('--report <file>', 'also write a report; the format follows the file extension; may be repeated', collect)
    .option('--color <when>', 'auto, always or never')
    .option('--ascii', 'draw without Unicode');

/** Throws `usage.output`, `usage.report` and usageError for what is none of them. */
export async function outputOf(
  { output, report = [], color, ascii }: OutputFlags,
  others: readonly string[],
): Promise<OutputOptions> {
  // Loaded here: the flags of a command cost each start.
  const { assertFormat, reportFileOf } = await import('../advice/output.ts');
  assertFormat(output, others);
  return {
    format: output,
    color: oneOf(color ?? 'auto', ['auto', 'always', 'never'], '--color'),
    ascii: ascii ?? false,
    reports: report.map((file) => reportFileOf(file, others)),
  };
}
