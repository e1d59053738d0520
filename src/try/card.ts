/** The report of a try, as people read it. */
import { markdownPage, wrapped, type Envelope } from '../advice/output.ts';
import type { Pen } from '../output/palette.ts';
import type { Views } from '../output/render.ts';
import { forMarkdown, forTerminal } from '../output/safe-text.ts';
import { tableLines } from '../output/text/table.ts';
import { byFrequency } from '../verdict/words.ts';
import { countText, graceUsedText, medianText, type PatchEffect, type CopyResult } from './outcome.ts';

export interface TryReport extends Envelope {
  kind: 'TryReport';
  summary: string;
  change: PatchEffect;
  workload: { kind: string; name: string; namespace: string };
  /** What the patch changes. */
  patch: string;
  /** Whether to apply it, as far as the exits show. */
  advice: string;
  better: readonly string[];
  worse: readonly string[];
  costs: readonly string[];
  before: CopyResult;
  after: CopyResult;
  ratePerSecond: number;
  via: 'service-proxy' | 'url';
  /** What these exits cannot show. */
  notShown: readonly string[];
}

export const tryViews: Views<TryReport> = {
  text: cardLines,
  sentence: ({ summary }) => summary,
  others: { markdown: cardMarkdown },
};

const columnTitles = ['', 'today', 'with the patch'];

function cardLines(report: TryReport, pen: Pen, columns: number): string[] {
  const { summary, workload, patch, advice, notShown, before } = report;
  const mark = ({ better: 'good', worse: 'bad', mixed: 'warning', same: 'none' } as const)[report.change];
  const row = (label: string, text: string): string[] => wrapped(label, forTerminal(text, 2000), columns);
  const labelled = (label: string, text: string): string[] => row(`  ${label.padEnd(9)} `, text);
  const how = report.via === 'url' ? 'from inside' : 'through the API server';
  const facts = [
    workload.namespace,
    `${workload.kind.toLowerCase()}/${workload.name}`,
    `${before.exits} exits of each copy`,
    `${report.ratePerSecond} requests/s ${how}`,
  ];
  return [
    ...row('', `${pen.symbol(mark)} ${summary}`).map((line) => pen.paint(mark === 'none' ? 'plain' : mark, line)),
    ...row('  ', facts.join(' · ')),
    '',
    ...tableLines(pen, [columnTitles, ...rowsOf(report)], columns),
    '',
    ...labelled('patch', patch),
    ...labelled('advice', advice),
    ...notShown.flatMap((text, at) => labelled(at === 0 ? 'not shown' : '', text)),
    '',
    // One line, for `tail -1`.
    forTerminal(summary, 2000),
  ];
}

const counted = (all: readonly (readonly [what: string, count: number])[]): string =>
  all.map(([what, count]) => `${count} × ${what}`).join(', ');

/** Label, before, after. */
function rowsOf({ before, after }: TryReport): string[][] {
  const row = (label: string, pick: (copy: CopyResult) => string): string[] => [label, pick(before), pick(after)];
  const isLostAnyway = before.control.failed + after.control.failed > 0;
  return [
    row('requests lost', ({ requests: own, control }) => `${Math.max(0, own.failed - control.failed)} of ${own.sent}`),
    ...(isLostAnyway ? [row('lost anyway', ({ control }) => `${control.failed} of ${control.sent}`)] : []),
    row('how', ({ failures }) => counted(failures.map(({ how, count }) => [how, count])) || '–'),
    row(
      'in one exit',
      ({ lostPerExit: { mean, min, max } }) => `${countText(mean)} (${countText(min)} to ${countText(max)})`,
    ),
    row('exits with a loss', ({ exitsWithLoss, exits }) => `${exitsWithLoss} of ${exits}`),
    row('no ready pod', ({ outage }) => medianText(outage)),
    row('result', ({ outcomes }) => counted(byFrequency(outcomes.map((outcome) => [outcome, 1] as const)))),
    row('drain', ({ drain }) => medianText(drain)),
    row('gone after', ({ total }) => medianText(total)),
    row('grace used', (copy) => graceUsedText(copy) ?? '–'),
  ];
}

function cardMarkdown(report: TryReport): string {
  const { summary, patch, advice, notShown } = report;
  const escaped = (texts: readonly string[]): string[] => texts.map((text) => forMarkdown(text));
  const below = [
    `Patch: ${patch}`,
    '',
    `Advice: ${advice}`,
    '',
    'Not shown:',
    '',
    ...notShown.map((one) => `- ${one}`),
  ];
  return markdownPage(summary, columnTitles, rowsOf(report).map(escaped), escaped(below));
}
