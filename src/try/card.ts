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

const marks = { better: 'good', worse: 'bad', mixed: 'warning', same: 'none' } as const;
const titles: Readonly<Record<PatchEffect, string>> = {
  better: 'Helps',
  worse: 'Harms',
  mixed: 'Helps and harms',
  same: 'No proven difference',
};

function cardLines(report: TryReport, pen: Pen, columns: number): string[] {
  const { change, summary, better, worse, workload, patch, advice, costs, notShown, before, ratePerSecond, via } =
    report;
  const mark = marks[change];
  const ink = mark === 'none' ? 'plain' : mark;
  const row = (label: string, text: string): string[] =>
    wrapped(`  ${label.padEnd(9)} `, forTerminal(text, 2000), columns);
  const differences = [...worse, ...better].join('; ') || `in ${before.exits} exits of each copy`;
  const answer = `${pen.symbol(mark)} ${titles[change]}${change === 'same' ? ' ' : ': '}${differences}`;
  const how = via === 'url' ? 'from inside' : 'through the API server';
  return [
    ...wrapped('', forTerminal(answer, 2000), columns).map((line) => pen.paint(ink, line)),
    ...wrapped(
      '  ',
      forTerminal(
        `${workload.namespace} · ${workload.kind.toLowerCase()}/${workload.name} · ${before.exits} exits of each copy · ${ratePerSecond} requests/s ${how}`,
      ),
      columns,
    ),
    '',
    ...tableLines(pen, [['', 'today', 'with the patch'], ...rowsOf(report)], columns),
    '',
    ...row('patch', patch),
    ...(costs.length > 0 ? row('costs', costs.join('; ')) : []),
    ...row('advice', advice),
    ...notShown.flatMap((text, at) => row(at === 0 ? 'not shown' : '', text)),
    '',
    // One line, for `tail -1`.
    forTerminal(summary, 2000),
  ];
}

/** Label, before, after. */
function rowsOf({ before, after }: TryReport): string[][] {
  const row = (label: string, pick: (copy: CopyResult) => string): string[] => [label, pick(before), pick(after)];
  return [
    row('requests lost', ({ requests }) => `${requests.failed} of ${requests.sent}`),
    row('how', ({ failures }) => failures.map(({ how, count }) => `${count} × ${how}`).join(', ') || '–'),
    row('in one exit', lostText),
    row('exits with a loss', ({ exitsWithLoss, exits }) => `${exitsWithLoss} of ${exits}`),
    row('outage', ({ outage }) => medianText(outage)),
    row('result', outcomesText),
    row('drain', ({ drain }) => medianText(drain)),
    row('gone after', ({ total }) => medianText(total)),
    row('grace used', (copy) => graceUsedText(copy) ?? '–'),
  ];
}

/** `3.2 (1.9 to 5.1)` */
const lostText = ({ lostPerExit: { mean, min, max } }: CopyResult): string =>
  `${countText(mean)} (${countText(min)} to ${countText(max)})`;

const outcomesText = ({ outcomes }: CopyResult): string =>
  byFrequency(outcomes.map((outcome) => [outcome, 1] as const))
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ');

function cardMarkdown(report: TryReport): string {
  const { summary, patch, advice, notShown } = report;
  const rows = rowsOf(report).map((cells) => cells.map((cell) => forMarkdown(cell)));
  const below = [
    `Patch: ${patch}`,
    '',
    `Advice: ${advice}`,
    '',
    'Not shown:',
    '',
    ...notShown.map((text) => `- ${text}`),
  ];
  return markdownPage(
    summary,
    ['', 'today', 'with the patch'],
    rows,
    below.map((text) => forMarkdown(text)),
  );
}
