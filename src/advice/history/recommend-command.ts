/** The command `recommend`: grace periods from reports of many exits, as a card with a histogram, Markdown or HTML. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forMarkdown, forMarkup, forTerminal } from '../../output/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { plural } from '../../verdict/words.ts';
import { tableLines } from '../../output/text/table.ts';
import { markdownPage, publish, wrapped, type Envelope, type OutputOptions } from '../output.ts';
import { minExits, recommendationsFor, type Bucket, type Recommendation, type TooFew } from './recommend.ts';
import { readReports, sampleOf, type ReadRecording } from './reports.ts';

/** Values of `--fail-on`. */
export type RecommendFailOn = 'raise' | 'lower' | 'killed' | 'lost';

interface RecommendOptions extends OutputOptions {
  names: readonly string[];
  failOn: readonly RecommendFailOn[];
  readRecording: ReadRecording;
}

/** Returns 0, or 5 for --fail-on. Throws `recommend.few` if no workload has enough exits. */
export async function recommend(options: RecommendOptions, ports: Ports): Promise<number> {
  const samples = (await readReports(options.names, options.readRecording)).map(sampleOf);
  const { found, tooFew } = recommendationsFor(samples);
  const [few] = tooFew;
  if (found.length === 0)
    throw new PodexitError(
      'recommend.few',
      few ? `${few.workload}: ${tooFewText(few.exits)}` : 'these reports hold no exit that had a grace period',
      'Collect more, for example one report for each rollout: kubectl podexit rollout deployment/NAME -o json > reports/1.json',
    );
  const exitCode = options.failOn.some((word) => found.some(fails[word])) ? 5 : 0;
  const summary = found.map(({ workload, sentence }) => `${workload}: ${sentence}`).join('; ');
  const content = { kind: 'RecommendReport', summary, workloads: found, tooFew, verdict: { exitCode } } as const;
  const views = {
    text: recommendText,
    sentence: (report: RecommendReport) => report.summary,
    others: { markdown: recommendMarkdown, html: recommendHtml },
  };
  return publish<RecommendReport>(content, { command: 'recommend' }, views, options, ports);
}

const fails: Record<RecommendFailOn, (one: Recommendation) => boolean> = {
  raise: ({ grace }) => grace.direction === 'raise' || grace.direction === 'not-by-grace',
  lower: ({ grace }) => grace.direction === 'lower',
  killed: ({ killed }) => killed.count > 0,
  lost: ({ requests }) => (requests?.failed ?? 0) > 0,
};

interface RecommendReport extends Envelope {
  kind: 'RecommendReport';
  summary: string;
  workloads: Recommendation[];
  tooFew: TooFew[];
}

function recommendText({ workloads, tooFew, summary }: RecommendReport, pen: Pen, columns: number): string[] {
  const cards = workloads.flatMap((one) => [...card(one, pen, columns), '']);
  const few = tooFew.map(({ workload, exits }) => `${forTerminal(workload)}: ${tooFewText(exits)}`);
  return [...cards, ...few, forTerminal(summary)];
}

const tooFewText = (exits: number): string => `${plural(exits, 'exit')}; a recommendation needs ${minExits}`;

function card(one: Recommendation, pen: Pen, columns: number): string[] {
  const { killed, requests } = one;
  const lost = requests ? `, ${requests.failed} of ${requests.sent} requests lost` : '';
  return [
    `${pen.paint('strong', forTerminal(one.workload))}  ${one.exits} exits, ${killed.count} killed (${percent(killed.share)})${lost}`,
    ...wrapped('  ', forTerminal(one.sentence), columns),
    ...one.warnings.flatMap((warning) => wrapped(`  ${pen.symbol('warning')} `, forTerminal(warning), columns)),
    '',
    ...tableLines(pen, [['', ...figureNames], ...figuresOf(one)], columns - 2).map((line) => `  ${line}`),
    '',
    ...bars(one.histogram, pen),
  ];
}

const figureNames = ['p50', 'p90', 'p99', 'max'] as const;

/** A row for each measured length: its name and its quantiles. */
const figuresOf = (one: Recommendation): string[][] =>
  (['hook', 'drain', 'used', 'total'] as const).flatMap((name) => {
    const quantiles = one[name];
    return quantiles ? [[name, ...figureNames.map((figure) => `${quantiles[figure].toFixed(1)}s`)]] : [];
  });

const percent = (share: number): string => `${Math.round(share * 100)}%`;

/** A histogram of the seconds of the grace period that the exits used. */
function bars(buckets: readonly Bucket[], pen: Pen): string[] {
  const maxCount = Math.max(1, ...buckets.map(({ count }) => count));
  const labels = buckets.map(({ from, to }) => `${round(from)}–${round(to)}s`);
  const width = Math.max(...labels.map(({ length }) => length));
  return buckets.map(({ count }, at) => {
    const length = count === 0 ? 0 : Math.max(1, Math.round((count / maxCount) * 40));
    return `  ${(labels[at] ?? '').padStart(width)}  ${pen.symbol('full').repeat(length)} ${count}`;
  });
}

const round = (value: number): string => String(Number(value.toFixed(2)));

function recommendMarkdown({ workloads, tooFew, summary }: RecommendReport): string {
  const rows = workloads.map((one) => {
    const used = one.used ? `${one.used.p50.toFixed(1)}s / ${one.used.p99.toFixed(1)}s` : '–';
    return [forMarkdown(one.workload), one.exits, used, percent(one.killed.share), forMarkdown(one.sentence)];
  });
  const few = tooFew.map(({ workload, exits }) => `- ${forMarkdown(workload)}: ${tooFewText(exits)}`);
  return markdownPage(summary, ['workload', 'exits', 'used p50 / p99', 'killed', 'recommendation'], rows, few);
}

/** One page without scripts: a table and a histogram for each workload. */
function recommendHtml({ workloads, tooFew, summary }: RecommendReport): string {
  const sections = workloads.map((one) => {
    const maxCount = Math.max(1, ...one.histogram.map(({ count }) => count));
    const rows = one.histogram.map(
      ({ from, to, count }) =>
        `<tr><th>${round(from)}–${round(to)}s</th><td><div class="bar" style="width:${Math.round((count / maxCount) * 100)}%"></div></td><td>${count}</td></tr>`,
    );
    const figures = figuresOf(one).map(
      ([name, ...values]) => `<tr><th>${name}</th>${values.map((value) => `<td>${value}</td>`).join('')}</tr>`,
    );
    return `<section><h2>${forMarkup(one.workload)}</h2><p><strong>${forMarkup(one.sentence)}</strong></p>
<p>${one.exits} exits, ${one.killed.count} killed (${percent(one.killed.share)})</p>${one.warnings.map((warning) => `<p class="warning">${forMarkup(warning)}</p>`).join('')}
<table><tr>${['', ...figureNames].map((name) => `<th>${name}</th>`).join('')}</tr>${figures.join('')}</table>
<h3>Seconds of the grace period used</h3><table class="histogram">${rows.join('')}</table></section>`;
  });
  const few = tooFew.map(({ workload, exits }) => `<p>${forMarkup(workload)}: ${tooFewText(exits)}</p>`);
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${forMarkup(summary)}</title>
<style>body{font:15px system-ui;max-width:48em;margin:2em auto;padding:0 1em}table{border-collapse:collapse}th,td{padding:.2em .8em;text-align:right}.histogram td:nth-child(2){width:24em}.bar{background:#2a7;height:1em}.warning{color:#a50}</style>
<h1>${forMarkup(summary)}</h1>${sections.join('')}${few.join('')}</html>
`;
}
