/** The command `recommend`: a grace period, longer or shorter, from many exits of a workload; none from too few exits. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { plural } from '../../verdict/words.ts';
import { tableLines } from '../../output/text/table.ts';
import { publish, wrapped, type OutputOptions } from '../output.ts';
import { readReports, sampleOf, type ReadRecording, middle, totalRequests, type ExitSample } from './reports.ts';
import type { Quantiles } from '../../verdict/rollout.ts';
import { graceSize } from '../sizes.ts';

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
    return quantiles ? [[name, ...figureNames.map((figure) => `≤${quantiles[figure].toFixed(1)}s`)]] : [];
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

/** With fewer exits, a slow exit that happens once in ten times may not be among them. */
const minExits = 10;

type Recommendation = ReturnType<typeof recommendationOf>;

function recommendationsFor(samples: readonly ExitSample[]) {
  const counted = samples.filter(({ outcome }) => /^(graceful|killed|failed|overran|oom)$/.test(outcome));
  const workloads = [...new Set(counted.map(({ workload }) => workload))].sort();
  const groups = workloads.map((name) => counted.filter(({ workload }) => workload === name));
  return {
    workloads: groups.filter(({ length }) => length >= minExits).map(recommendationOf),
    tooFew: groups
      .filter(({ length }) => length < minExits)
      .map((group) => ({ workload: group[0]?.workload ?? '', exits: group.length })),
  };
}

function recommendationOf(group: readonly ExitSample[]) {
  /** No number is too small if it is from the upper end of each measured interval. */
  const upperEnds = (pick: (sample: ExitSample) => ExitSample['hook']): number[] =>
    group.flatMap((sample) => pick(sample)?.max ?? []);
  const killed = group.filter((sample) => sample.killed);
  const distinct = <T>(values: readonly (T | undefined)[]): T[] => [...new Set(values.flatMap((one) => one ?? []))];
  const versions = distinct(group.map(({ version }) => version)).sort();
  const namespaces = distinct(group.map(({ namespace }) => namespace)).sort();
  const graces = distinct(group.map(({ graceSeconds }) => graceSeconds)).sort((a, b) => a - b);
  const used = upperEnds((sample) => (sample.killed ? undefined : sample.used));
  const unmeasured = group.length - used.length - killed.length;
  const warnings: [boolean, string][] = [
    [versions.length > 1, `a mixture of ${versions.length} versions: an older one may need another grace period`],
    [namespaces.length > 1, `the exits are from different namespaces: ${namespaces.join(', ')}`],
    [graces.length > 1, `the exits had different grace periods: ${graces.map((seconds) => `${seconds}s`).join(', ')}`],
    [unmeasured > 0, `the length of ${plural(unmeasured, 'exit')} is unknown`],
  ];
  return {
    workload: group[0]?.workload ?? '',
    exits: group.length,
    versions,
    hook: quantilesOf(upperEnds(({ hook }) => hook)),
    drain: quantilesOf(upperEnds(({ drain, killed: cut }) => (cut ? undefined : drain))),
    used: quantilesOf(used),
    total: quantilesOf(upperEnds(({ total }) => total)),
    histogram: histogramOf(used),
    /** Exits in which a container was killed; `share` is from 0 to 1. */
    killed: { count: killed.length, share: killed.length / group.length },
    requests: totalRequests(group),
    ...graceFrom(group, killed, used),
    warnings: warnings.flatMap(([applies, text]) => (applies ? [text] : [])),
  };
}

/** `used`: seconds of the grace period that the exits without a kill used. */
function graceFrom(group: readonly ExitSample[], killed: readonly ExitSample[], used: readonly number[]) {
  const now = Math.max(...group.map(({ graceSeconds }) => graceSeconds));
  const safeFor = (seconds: number): number => used.filter((one) => one <= seconds).length;
  const answer = (direction: 'lower' | 'raise' | 'keep' | 'not-by-grace', next: number, sentence: string) => {
    return { grace: { currentSeconds: now, recommendedSeconds: next, direction, safeFor: safeFor(next) }, sentence };
  };
  const silent = killed.filter(has(/^no-signal-handl(ing|er)$/)).length;
  // At least half of the killed exits: more time does not help them.
  if (killed.length > 0 && silent * 2 >= killed.length) {
    const help = 'showed no reaction to their stop signal; a longer grace period does not help those';
    return answer('not-by-grace', now, `${silent} of ${killed.length} killed exits ${help}`);
  }
  const field = 'terminationGracePeriodSeconds';
  // What the fix of an exit proposes, a preStop hook above all, counts too: each field has one number.
  const [proposed] = group.flatMap(({ fix }) => fix ?? []).sort((a, b) => b.graceSeconds - a.graceSeconds);
  if (proposed && proposed.graceSeconds > now) {
    const count = group.filter(({ fix }) => fix).length;
    const hook = proposed.hasHook ? 'with the preStop hook that it needs, ' : '';
    const next = proposed.graceSeconds;
    const why = `${count} of ${group.length} exits propose ${proposed.reason}`;
    return answer('raise', next, `${hook}${field} ${now} → ${next}: ${why}`);
  }
  if (group.some(has(/^prestop-cut-off$/)))
    return answer('not-by-grace', now, 'a preStop hook was cut off, and these exits do not show how long it needs');
  if (used.length === 0) return answer('not-by-grace', now, 'the reports do not show how long the exits need');
  // How long a killed container needs is unknown: it used the whole grace period.
  const hooks = killed.map(({ hook }) => (hook ? middle(hook) : 0));
  const drains = killed.length > 0 ? killed.map(({ graceSeconds }) => graceSeconds) : used;
  const need = { hookSeconds: Math.max(0, ...hooks), drainSeconds: Math.max(...drains) };
  const { seconds: rounded = now } = graceSize([{ ...need, drainWords: 'drain' }]) ?? {};
  const seconds = killed.length === 0 && Math.max(...used) * 1.25 <= now ? Math.min(rounded, now) : rounded;
  // A hook that is proposed without a longer grace period needs all that there is today.
  const next = killed.length > 0 || proposed?.hasHook ? Math.max(now, seconds) : seconds;
  const [exits, p99] = [`${safeFor(next)} of ${group.length} exits`, ` (p99 ${quantilesOf(used)?.p99.toFixed(1)}s)`];
  const raced = group.some(has(/^(drain-race|requests-lost|endpoint-not-removed)$/));
  if (next !== now && killed.length === 0 && !proposed && raced)
    return answer('keep', now, `${field} ${now} stays: clients may need a preStop hook too, and its time with it`);
  if (next < now) return answer('lower', next, `${field} ${now} → ${next} is safe for ${exits}${p99}`);
  if (next === now) return answer('keep', next, `${field} ${now} is right: ${exits} ended in time${p99}`);
  const why =
    killed.length > 0
      ? `: ${killed.length} of ${group.length} exits were killed, and how long they need is not known`
      : ` leaves the slowest exit a quarter more${p99}`;
  return answer('raise', next, `${field} ${now} → ${next}${why}`);
}

const has =
  (code: RegExp) =>
  ({ findings }: ExitSample): boolean =>
    findings.some((one) => code.test(one.code));

/** By nearest rank, so each quantile is a measured value. Undefined without values. */
export function quantilesOf(values: readonly number[]): Quantiles<number> | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return undefined;
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

type Bucket = ReturnType<typeof histogramOf>[number];

/** Equal buckets of a round width from 0 to the largest value. The last bucket includes its upper end. */
export function histogramOf(values: readonly number[], maxBuckets = 12) {
  const max = Math.max(0, ...values);
  // The smallest 1, 2 or 5 times a power of ten that gives no more buckets.
  const power = 10 ** Math.floor(Math.log10(Math.max(max / maxBuckets, 0.01)));
  const factor = [1, 2, 5].find((one) => one * power >= max / maxBuckets - 1e-9) ?? 10;
  const width = Number((factor * power).toPrecision(3));
  const count = values.length === 0 ? 0 : Math.max(1, Math.ceil(max / width + 1e-9));
  const counts = new Array<number>(count).fill(0);
  for (const value of values) {
    const at = Math.min(count - 1, Math.floor(value / width));
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts.map((each, at) => ({ from: at * width, to: (at + 1) * width, count: each }));
}
