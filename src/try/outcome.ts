/**
 * What the exits of both copies show, and whether the patch helps: only what is hardly chance is claimed; and the report
 * as people read it. Pure.
 */
import { lengthRow, closeOrRange, median, outcomeRow, shareRow, type ComparedRow } from '../advice/history/compare.ts';
import { middle, type ExitSample, type Seconds } from '../advice/history/reports.ts';
import { sumOf } from '../model/probe-numbers.ts';
import type { ProbeTally } from '../model/probe-observation.ts';
import { byFrequency, plural } from '../verdict/words.ts';
import { markdownPage, wrapped, type Envelope } from '../advice/output.ts';
import type { Pen } from '../output/palette.ts';
import type { Views } from '../output/render.ts';
import { forMarkdown, forTerminal } from '../output/safe-text.ts';
import { tableLines } from '../output/text/table.ts';

export interface TriedExit {
  readonly sample: ExitSample;
  /** From the deletion until the copy was ready and answered for a second without a failure. */
  readonly requests: ProbeTally;
  /** Those to the other copy meanwhile, of which no pod was deleted: what is lost there is lost without an exit. */
  readonly control: ProbeTally;
  /** How they failed, such as `refused` or `HTTP 500`. */
  readonly failures: readonly (readonly [how: string, count: number])[];
  /** Requests that no answer says anything about: the API server itself did not answer, or this machine stood still. */
  readonly notMeasured: number;
  /** Seconds in which the copy's Service had no ready endpoint. */
  readonly outage: Seconds;
}

/** The exits of one copy, summed up; lengths are medians, in seconds. */
type CopyResult = ReturnType<typeof resultOf>;

type PatchEffect = 'better' | 'worse' | 'mixed' | 'same';

export function resultOf(exits: readonly TriedExit[]) {
  const samples = exits.map(({ sample }) => sample);
  const lengthOf = (pick: (sample: ExitSample) => Seconds | undefined): Seconds | undefined =>
    median(samples.flatMap((sample) => pick(sample) ?? []));
  return {
    exits: exits.length,
    outcomes: samples.map(({ outcome }) => outcome),
    requests: sumOf(exits.map((one) => one.requests)),
    control: sumOf(exits.map((one) => one.control)),
    /** Lost in one exit, beyond what is lost without one: the mean, and where it is with 95 % confidence. */
    lostPerExit: lostPerExit(exits),
    failures: byFrequency(exits.flatMap(({ failures }) => failures)).map(([how, count]) => ({ how, count })),
    notMeasured: exits.reduce((sum, one) => sum + one.notMeasured, 0),
    exitsWithLoss: losing(exits),
    outage: median(exits.map(({ outage }) => outage)),
    hook: lengthOf(({ hook }) => hook),
    drain: lengthOf(({ drain }) => drain),
    total: lengthOf(({ total }) => total),
    /** From the start of the termination by the kubelet to the last exit. */
    graceUsed: lengthOf(({ used }) => used),
    graceSeconds: Math.max(0, ...samples.map(({ graceSeconds }) => graceSeconds)),
  };
}

/** 95 % of a normal distribution are within so many standard deviations. */
const z = 1.96;

/** Requests that the exit lost: more than were lost to the copy that had none. Below 0 by chance. */
const lossOf = ({ requests, control }: TriedExit): number => requests.failed - control.failed;

const losing = (exits: readonly TriedExit[]): number => exits.filter((one) => lossOf(one) > 0).length;

/** The score interval of a Poisson count, as much wider as the differences between the exits show. */
function lostPerExit(exits: readonly TriedExit[]): Seconds & { mean: number } {
  const { mean, error, together } = lossesOf(exits);
  const middle = mean + (z ** 2 * together) / (2 * exits.length);
  const half = z * Math.sqrt(error + ((z * together) / (2 * exits.length)) ** 2);
  return { mean: Math.max(0, mean), min: Math.max(0, middle - half), max: Math.max(0, middle + half) };
}

/**
 * Lost requests in one exit. `error`: the variance of the mean, at least that of Poisson's law. `together`: how many are
 * lost at once, since requests of one exit fail together.
 */
function lossesOf(exits: readonly TriedExit[]): { mean: number; error: number; together: number } {
  const meanOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / exits.length;
  const mean = meanOf(exits.map(lossOf));
  const variance = meanOf(exits.map(({ requests, control }) => requests.failed + control.failed));
  const spread = (meanOf(exits.map((one) => (lossOf(one) - mean) ** 2)) * exits.length) / Math.max(1, exits.length - 1);
  const together = Math.max(1, spread / Math.max(1e-9, variance));
  return { mean, error: (variance * together) / exits.length, together };
}

/** Exits of each copy. With two, all of one copy and none of the other is chance in 1 of 6 tries; with three, in 1 of 20. */
const fewestExits = 3;

/** What the patch changes. A longer exit is a cost, and no harm by itself. */
export function judgePatch(before: readonly TriedExit[], after: readonly TriedExit[]) {
  const [was, is] = [before.map(({ sample }) => sample), after.map(({ sample }) => sample)];
  const outages = (exits: readonly TriedExit[]): Seconds[] => exits.map(({ outage }) => outage);
  const rows = [
    ...(before.length < fewestExits ? [] : outcomeRow(was, is)),
    ...lostRow(before, after),
    ...lengthRow('outage', outages(before), outages(after)),
  ];
  const totals = (samples: readonly ExitSample[]): Seconds[] => samples.flatMap(({ total }) => total ?? []);
  const total = lengthRow('length of an exit', totals(was), totals(is));
  const textsOf = (all: readonly ComparedRow[], sign: number): string[] =>
    all.filter((row) => Math.sign(row.sign) === sign).map(({ text }) => text);
  const worse = textsOf(rows, 1);
  // A faster exit that loses more requests is no gain, and neither is an earlier kill.
  const isGain = worse.length === 0 && is.every(({ killed }) => !killed);
  const better = [...textsOf(rows, -1), ...(isGain ? textsOf(total, -1) : [])];
  const change: PatchEffect =
    worse.length > 0 ? (better.length > 0 ? 'mixed' : 'worse') : better.length > 0 ? 'better' : 'same';
  return { change, better, worse, costs: textsOf(total, 1) };
}

/** The difference of the means is at least two standard errors; else whether an exit loses anything may still differ. */
function lostRow(before: readonly TriedExit[], after: readonly TriedExit[]): ComparedRow[] {
  const [was, is] = [lossesOf(before), lossesOf(after)];
  const sign = is.mean - was.mean;
  if (sign === 0 || Math.abs(sign) < 2 * Math.sqrt(was.error + is.error))
    return before.length < fewestExits
      ? []
      : shareRow('exits that lose requests', [losing(before), before.length], [losing(after), after.length]);
  return [{ sign, text: `requests lost in an exit: ${countText(was.mean)} → ${countText(is.mean)}` }];
}

/** `3.2`, `12`. */
const countText = (count: number): string => (count >= 10 ? count.toFixed(0) : String(Number(count.toFixed(1))));

type Judged = ReturnType<typeof judgePatch>;

export function patchSummary({ change, better, worse, costs }: Judged, after: CopyResult): string {
  const [gains, harms] = [better.join('; '), worse.join('; ')];
  const answers: Readonly<Record<PatchEffect, string>> = {
    better: `the patch helps: ${gains}`,
    worse: `the patch harms: ${harms}`,
    mixed: `the patch helps and harms: ${gains}, but ${harms}`,
    same: `no gain shown in ${plural(after.exits, 'exit')} of each copy`,
  };
  return `${answers[change]}${costs.length > 0 ? `; it costs time: ${costs.join('; ')}` : ''}`;
}

export function adviceOf({ change, costs }: Judged, before: CopyResult, after: CopyResult): string {
  if (change === 'better') return 'apply it';
  if (change === 'worse') return 'do not apply it';
  if (change === 'mixed') return 'weigh what it gains against what it costs';
  const counts = `${before.exitsWithLoss} of ${before.exits} exits lost requests without it and ${after.exitsWithLoss} of ${after.exits} with it`;
  if (after.exitsWithLoss < before.exitsWithLoss) return `not proven: ${counts}; more exits show more (--runs)`;
  if (before.exits < fewestExits) return 'not proven: so few exits show little (--runs)';
  const kills = after.outcomes.every((outcome) => outcome === 'killed') ? ', its pods are killed as before' : '';
  const price = costs.length > 0 ? ', and each exit takes longer' : '';
  const losses = after.exitsWithLoss > 0 ? counts : 'no request was lost without it either';
  return `nothing here speaks for it: ${losses}${kills}${price}`;
}

/** `42%`; undefined if a length or the grace period is unknown. */
const graceUsedText = ({ graceUsed, graceSeconds }: CopyResult): string | undefined =>
  graceUsed && graceSeconds > 0
    ? `${Math.round((100 * middle(graceUsed)) / graceSeconds)}% of ${graceSeconds}s`
    : undefined;

const medianText = (length: Seconds | undefined): string => (length ? closeOrRange(length) : '–');

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
    `${plural(before.exits, 'exit')} of each copy`,
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
