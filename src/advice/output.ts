/** Output of this folder's commands: one document in the requested format, to stdout and to report files. */
import { render, type Views } from '../output/render.ts';
import type { Format, ReportFile } from '../output/formats.ts';
import { penOn, plainPen } from '../output/palette.ts';
import { wrapWords } from '../output/prose.ts';
import { writeReports } from '../output/report-files.ts';
import { backticksAround, forMarkdown } from '../output/safe-text.ts';
import type { Ports } from '../run/ports.ts';
import { worstCode } from '../verdict/policy.ts';

/** What such a document says. `summary`: also the last line of the text for people. */
interface Content {
  kind: string;
  summary: string;
  verdict: { exitCode: number };
}

interface Frame {
  apiVersion: 'podexit/v1';
  run: { command: string; version: string; context?: string };
}

export interface Envelope extends Content, Frame {}

export interface OutputOptions {
  format: Format;
  color: 'auto' | 'always' | 'never';
  ascii: boolean;
  reports: readonly ReportFile[];
}

/** Prints the document and writes the report files. Returns the verdict's exit code, or 1 if a file failed. */
export async function publish<C extends Content>(
  content: C,
  run: Omit<Frame['run'], 'version'>,
  own: Pick<Views<C & Frame>, 'text'> & Partial<Views<C & Frame>>,
  options: OutputOptions,
  ports: Ports,
): Promise<number> {
  const { stdout, version } = ports;
  const report = { apiVersion: 'podexit/v1', ...content, run: { ...run, version } } as const;
  const pen = penOn(options, ports);
  const columns = stdout.isTty ? stdout.columns() : 80;
  const markdown = async () => fenced(content.summary, (await own.text(report, plainPen, 80)).join('\n'));
  const others = { markdown, ...own.others };
  const views = { sentence: () => content.summary, ...own, others };
  stdout.write(await render(options.format, views, report, pen, columns));
  return worstCode([content.verdict.exitCode, await writeReports(views, report, options.reports, ports)]);
}

function fenced(summary: string, text: string): string {
  const fence = backticksAround(text, 3);
  return `**${forMarkdown(summary)}**\n\n${fence}\n${text}\n${fence}\n`;
}

/** A summary, a table and lines below it. The summary is plain text, all else must be Markdown already. */
export function markdownPage(
  summary: string,
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  below: readonly string[],
): string {
  const table = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [`**${forMarkdown(summary)}**`, '', ...table, '', ...below].join('\n').replace(/\n*$/, '\n');
}

/** `label` and `text`, wrapped at `columns` or 80 if that is less. Later lines are indented by the label's width. */
export function wrapped(label: string, text: string, columns = 80): string[] {
  const lines = wrapWords(text, Math.max(24, Math.min(80, columns) - label.length));
  return lines.map((line, at) => `${at === 0 ? label : ' '.repeat(label.length)}${line}`);
}
