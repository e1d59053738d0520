/** The command `recommend`: grace periods from reports of many exits, as a card with a histogram, Markdown or HTML. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { plural } from '../../verdict/words.ts';
import { tableLines } from '../../output/text/table.ts';
import { publish, wrapped, type OutputOptions } from '../output.ts';
import { minExits, recommendationsFor, type Bucket, type Recommendation } from './recommend.ts';
import { readReports, sampleOf, type ReadRecording } from './reports.ts';

type RecommendFailOn = 'raise' | 'lower' | 'killed' | 'lost';

/** Returns 0, or 5 for --fail-on. Throws `recommend.few` if no workload has enough exits. */
export async function recommend(
  options: OutputOptions & {
    names: readonly string[];
    failOn: readonly RecommendFailOn[];
    readRecording: ReadRecording;
  },
  ports: Ports,
): Promise<number> {
  const samples = (await readReports(options.names, options.readRecording)).map(sampleOf);
  const { workloads: found, tooFew } = recommendationsFor(samples);
  const [few] = tooFew;
  if (found.length === 0)
    throw new PodexitError(
      'recommend.few',
      few ? `${few.workload}: ${tooFewText(few.exits)}` : 'these reports hold no exit that had a grace period',
      'Collect more, for example one report for each rollout: kubectl podexit rollout deployment/NAME -o json > reports/1.json',
    );
  const exitCode = options.failOn.some((word) => found.some(fails[word])) ? 5 : 0;
  const summary = found.map(({ workload, sentence }) => `${workload}: ${sentence}`).join('; ');
  const content = { kind: 'RecommendReport', summary, workloads: found, tooFew, verdict: { exitCode } };
  return publish(content, { command: 'recommend' }, { text: recommendText }, options, ports);
}

const fails: Record<RecommendFailOn, (one: Recommendation) => boolean> = {
  raise: ({ grace }) => grace.direction === 'raise' || grace.direction === 'not-by-grace',
  lower: ({ grace }) => grace.direction === 'lower',
  killed: ({ killed }) => killed.count > 0,
  lost: ({ requests }) => (requests?.failed ?? 0) > 0,
};

type RecommendReport = ReturnType<typeof recommendationsFor> & { summary: string };

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
    `${pen.paint('strong', forTerminal(one.workload))}  ${one.exits} exits, ${killed.count} killed (${Math.round(killed.share * 100)}%)${lost}`,
    ...wrapped('  ', forTerminal(one.sentence), columns),
    ...one.warnings.flatMap((warning) => wrapped(`  ${pen.symbol('warning')} `, forTerminal(warning), columns)),
    '',
    ...tableLines(pen, [['', ...figureNames], ...figuresOf(one)], columns - 2).map((line) => `  ${line}`),
    '',
    ...bars(one.histogram, pen),
  ];
}

const figureNames = ['p50', 'p90', 'p99', 'max'] as const;

const figuresOf = (one: Recommendation): string[][] =>
  (['hook', 'drain', 'used', 'total'] as const).flatMap((name) => {
    const quantiles = one[name];
    return quantiles ? [[name, ...figureNames.map((figure) => `${quantiles[figure].toFixed(1)}s`)]] : [];
  });

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
