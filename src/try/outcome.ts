/**
 * What the exits of the two copies show: lost requests, lengths, and whether the patch helps. Only differences that are
 * hardly chance are claimed. Pure.
 */
import { lengthRow, lengthText, median, outcomeRow, type ComparedRow } from '../advice/history/compare.ts';
import { middle, type ExitSample, type Seconds } from '../advice/history/reports.ts';
import { sumOf } from '../model/probe-numbers.ts';
import type { ProbeTally } from '../model/probe-observation.ts';
import { byFrequency, plural } from '../verdict/words.ts';
import type { CopyName } from './copies.ts';

/** One exit of a copy's pod. */
export interface TriedExit {
  readonly copy: CopyName;
  readonly sample: ExitSample;
  /** From one second before the deletion until the copy answered for a second without a failure. */
  readonly requests: ProbeTally;
  /** How they failed, such as `refused` or `HTTP 500`; only those that were sent during the exit. */
  readonly failures: readonly (readonly [how: string, count: number])[];
  /** Seconds in which the copy's Service had no ready endpoint. */
  readonly outage: Seconds;
}

/** The exits of one copy, summed up; lengths are medians, in seconds. */
export type CopyResult = ReturnType<typeof resultOf>;

export type PatchEffect = 'better' | 'worse' | 'mixed' | 'same';

export function resultOf(exits: readonly TriedExit[]) {
  const samples = exits.map(({ sample }) => sample);
  const lengthOf = (pick: (sample: ExitSample) => Seconds | undefined): Seconds | undefined =>
    median(samples.flatMap((sample) => pick(sample) ?? []));
  const requests = sumOf(exits.map((one) => one.requests));
  return {
    exits: exits.length,
    outcomes: samples.map(({ outcome }) => outcome),
    requests,
    /** Lost in one exit: the mean, and where it is with 95 % confidence. */
    lostPerExit: lostPerExit(exits.map((one) => one.requests)),
    failures: byFrequency(exits.flatMap(({ failures }) => failures)).map(([how, count]) => ({ how, count })),
    exitsWithLoss: exits.filter((one) => one.requests.failed > 0).length,
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

/**
 * Requests of one exit fail together, so fewer of them are independent than were sent: the interval is as wide as the
 * differences between the exits demand (Kish's design effect).
 */
function lostPerExit(exits: readonly ProbeTally[]): Seconds & { mean: number } {
  const { sent, failed } = sumOf(exits);
  const share = failed / Math.max(1, sent);
  const spread = exits.reduce((sum, one) => sum + (one.failed - share * one.sent) ** 2, 0);
  const betweenExits = exits.length > 1 ? (spread * exits.length) / (exits.length - 1) / sent ** 2 : 0;
  const alone = (share * (1 - share)) / Math.max(1, sent);
  const designEffect = alone > 0 ? Math.max(1, betweenExits / alone) : 1;
  const { min, max } = wilson(share, Math.max(1, sent) / designEffect);
  const perExit = sent / exits.length;
  return { mean: failed / exits.length, min: min * perExit, max: max * perExit };
}

/** Wilson's score interval for a share of `count` trials. */
function wilson(share: number, count: number): Seconds {
  const center = share + z ** 2 / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  const scale = 1 + z ** 2 / count;
  return { min: Math.max(0, (center - half) / scale), max: Math.min(1, (center + half) / scale) };
}

/** What the patch changes. A longer exit is a cost, and no harm by itself. */
export function judgePatch(before: readonly TriedExit[], after: readonly TriedExit[]) {
  const [was, is] = [before.map(({ sample }) => sample), after.map(({ sample }) => sample)];
  const rows = [
    ...outcomeRow(was, is),
    ...lostRow(before, after),
    ...lengthRow(
      'outage',
      before.map(({ outage }) => outage),
      after.map(({ outage }) => outage),
    ),
  ];
  const totals = (samples: readonly ExitSample[]): Seconds[] => samples.flatMap(({ total }) => total ?? []);
  const total = lengthRow('length of an exit', totals(was), totals(is));
  const textsOf = (all: readonly ComparedRow[], sign: number): string[] =>
    all.filter((row) => Math.sign(row.sign) === sign).map(({ text }) => text);
  const worse = textsOf(rows, 1);
  // A faster exit that loses more requests is no gain.
  const better = [...textsOf(rows, -1), ...(worse.length > 0 ? [] : textsOf(total, -1))];
  const change: PatchEffect =
    worse.length > 0 ? (better.length > 0 ? 'mixed' : 'worse') : better.length > 0 ? 'better' : 'same';
  return { change, better, worse, costs: textsOf(total, 1) };
}

/** The difference of the means is at least two standard errors; a count varies at least as Poisson's law says. */
function lostRow(before: readonly TriedExit[], after: readonly TriedExit[]): ComparedRow[] {
  const [was, is] = [before, after].map((exits) => meanOf(exits.map(({ requests }) => requests.failed)));
  if (!was || !is) return [];
  const difference = is.mean - was.mean;
  if (difference === 0 || Math.abs(difference) < 2 * Math.sqrt(was.error + is.error)) return [];
  return [{ sign: difference, text: `requests lost in an exit: ${countText(was.mean)} → ${countText(is.mean)}` }];
}

/** `error`: the variance of the mean. */
function meanOf(counts: readonly number[]): { mean: number; error: number } {
  const mean = counts.reduce((sum, one) => sum + one, 0) / counts.length;
  const spread = counts.reduce((sum, one) => sum + (one - mean) ** 2, 0) / Math.max(1, counts.length - 1);
  return { mean, error: Math.max(mean, spread) / counts.length };
}

/** `3.2`, `12`. */
export const countText = (count: number): string => (count >= 10 ? count.toFixed(0) : String(Number(count.toFixed(1))));

type Judged = ReturnType<typeof judgePatch>;

/** The answer in one sentence. */
export function patchSummary({ change, better, worse, costs }: Judged, after: CopyResult): string {
  const cost = costs.length > 0 ? `; it costs time: ${costs.join('; ')}` : '';
  switch (change) {
    case 'better':
      return `the patch helps: ${better.join('; ')}${cost}`;
    case 'worse':
      return `the patch harms: ${worse.join('; ')}${cost}`;
    case 'mixed':
      return `the patch helps and harms: ${better.join('; ')}, but ${worse.join('; ')}${cost}`;
    case 'same':
      return `no proven difference in ${plural(after.exits, 'exit')} of each copy${cost}`;
  }
}

/** Whether to apply the patch, as far as the sample shows it. */
export function adviceOf({ change, costs }: Judged, before: CopyResult, after: CopyResult): string {
  if (change === 'better') return 'apply it';
  if (change === 'worse') return 'do not apply it';
  if (change === 'mixed') return 'weigh what it gains against what it costs';
  if (before.exitsWithLoss + after.exitsWithLoss > 0)
    return `not proven: ${before.exitsWithLoss} of ${before.exits} exits lost requests without it and ${after.exitsWithLoss} of ${after.exits} with it; more exits show more (--runs)`;
  const price = costs.length > 0 ? ', and each exit takes longer' : '';
  return `nothing here speaks for it: no request was lost without it either${price}`;
}

/** The largest share of exits with a loss that so many exits without one leave possible, with 95 % confidence. */
export const unseenLossShare = (exits: number): number => 1 - 0.05 ** (1 / exits);

/** `42%`; undefined if a length or the grace period is unknown. */
export const graceUsedText = ({ graceUsed, graceSeconds }: CopyResult): string | undefined =>
  graceUsed && graceSeconds > 0
    ? `${Math.round((100 * middle(graceUsed)) / graceSeconds)}% of ${graceSeconds}s`
    : undefined;

export const medianText = (length: Seconds | undefined): string => (length ? lengthText(length) : '–');
