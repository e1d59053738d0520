/** Output of this folder's commands: one document in the requested format, to stdout and to report files. */
import { penFor, plainStyle, styleOf, type Pen } from '../output/palette.ts';
import { wrapWords } from '../output/prose.ts';
import { forJson, forMarkdown } from '../output/safe-text.ts';
import { unknownExtension, unknownFormat } from '../output/formats.ts';
import type { Ports } from '../run/ports.ts';

/** Fields that every document of these commands has. */
export interface Envelope {
  apiVersion: 'podexit/v1';
  kind: string;
  verdict: { exitCode: number };
  run: { command: string; version: string; context?: string };
}

/** Renderers of a document; only the requested ones run. */
export interface Views<R> {
  /** Lines for people; `columns` is the terminal's width. */
  text(report: R, pen: Pen, columns: number): string[];
  /** By their names for `-o`. */
  others?: Readonly<Record<string, (report: R) => string>>;
  /** What JSON and YAML show; absent: the report itself. */
  document?(report: R): object;
}

export interface OutputOptions {
  /** Undefined: text for people. */
  format?: string;
  color: 'auto' | 'always' | 'never';
  ascii: boolean;
  /** Files to write as well. */
  reports: readonly { file: string; format: string }[];
}

/** Names for `-o` that mean the text for people. */
const textFormats: readonly string[] = ['table', 'lines', 'wide', 'text'];

const formatsOf = (others: readonly string[]): string[] => ['table', 'json', 'yaml', ...others];

/** Throws `usage.output` for a format that the command does not support. */
export function assertFormat(format: string | undefined, others: readonly string[]): void {
  if (format === undefined || textFormats.includes(format) || formatsOf(others).includes(format)) return;
  throw unknownFormat(format, formatsOf(others));
}

/** Prints the document and writes the report files. Returns the verdict's exit code, or 1 if a file failed. */
export async function publish<R extends Envelope>(
  content: Omit<R, 'apiVersion' | 'run'>,
  run: Omit<Envelope['run'], 'version'>,
  views: Views<R>,
  options: OutputOptions,
  ports: Ports,
): Promise<number> {
  const { stdout, stderr, env, platform, version } = ports;
  const report = { apiVersion: 'podexit/v1', ...content, run: { ...run, version } } as unknown as R;
  const pen = penFor(styleOf(options, { env, isTty: stdout.isTty, platform }));
  stdout.write(await contentOf(report, views, options.format, pen, stdout.isTty ? stdout.columns() : 80));
  const plain = penFor(plainStyle);
  let { exitCode } = report.verdict;
  for (const { file, format } of options.reports) {
    const content = await contentOf(report, views, format, plain, 80);
    const { writeFile } = await import('node:fs/promises');
    await writeFile(file, content).catch((error: NodeJS.ErrnoException) => {
      exitCode = 1;
      stderr.write(`podexit: the report ${file} could not be written (${error.code ?? error.message})\n`);
    });
  }
  return exitCode;
}

async function contentOf<R>(
  report: R,
  { text, others = {}, document = (same: R) => same as object }: Views<R>,
  format: string | undefined,
  pen: Pen,
  columns: number,
): Promise<string> {
  if (format === 'json') return `${forJson(JSON.stringify(document(report), null, 2))}\n`;
  if (format === 'yaml') {
    const { yamlText } = await import('../output/machine/yaml.ts');
    // JSON drops undefined fields.
    return yamlText(JSON.parse(JSON.stringify(document(report))));
  }
  return others[format ?? '']?.(report) ?? `${pen.letters(text(report, pen, columns).join('\n'))}\n`;
}

/** Formats by the extension of `--report FILE`. An extension comes before those that it ends with. */
const formatExtensions: readonly (readonly [string, string])[] = [
  ['.junit.xml', 'junit'],
  ['.xml', 'junit'],
  ['.sarif.json', 'sarif'],
  ['.sarif', 'sarif'],
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.md', 'markdown'],
  ['.html', 'html'],
  ['.txt', 'table'],
];

/** Throws `usage.report` if no format of the command has the file's extension. */
export function reportFileOf(file: string, others: readonly string[]): { file: string; format: string } {
  const [, format] = formatExtensions.find(([extension]) => file.toLowerCase().endsWith(extension)) ?? [];
  if (format !== undefined && formatsOf(others).includes(format)) return { file, format };
  const known = formatExtensions.filter(([, one]) => formatsOf(others).includes(one)).map(([extension]) => extension);
  throw unknownExtension(file, known);
}

/** A summary, an intro, a table and lines below it. The summary is plain text, all else must be Markdown already. */
export function markdownPage(
  summary: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  below: readonly string[],
  intro: readonly string[] = [],
): string {
  const table = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [`**${forMarkdown(summary)}**`, '', ...intro, ...table, '', ...below].join('\n').replace(/\n*$/, '\n');
}

/** `label` and `text`, wrapped at `columns` or 80 if that is less. Later lines are indented by the label's width. */
export function wrapped(label: string, text: string, columns = 80): string[] {
  const lines = wrapWords(text, Math.max(24, Math.min(80, columns) - label.length));
  return lines.map((line, at) => `${at === 0 ? label : ' '.repeat(label.length)}${line}`);
}
