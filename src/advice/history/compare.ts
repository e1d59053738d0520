/** The command `compare`: what changed between the exits of two sets of reports, in three lines and a table. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { tableLines } from '../../output/text/table.ts';
import type { Ports } from '../../run/ports.ts';
import { publish, wrapped, type OutputOptions } from '../output.ts';
import { readReports, sampleOf, type ReadRecording, totalRequests, type ExitSample, type Seconds } from './reports.ts';
import { outcomes, type Outcome } from '../../model/report.ts';
import { isProblem } from '../problem.ts';

/** Returns 0, or 5 for `--fail-on worse`. Throws `report.unreadable` and `compare.empty`. */
export async function compareFiles(
  options: OutputOptions & { before: string; after: string; failOnWorse: boolean; readRecording: ReadRecording },
  ports: Ports,
): Promise<number> {
  const samplesOf = async (name: string) => {
    const samples = (await readReports([name], options.readRecording)).map(sampleOf);
    if (samples.length > 0) return samples;
    throw new PodexitError('compare.empty', `${name} holds no exit`, 'Name a report, a rollout report or a recording.');
  };
  const found = compare(await samplesOf(options.before), await samplesOf(options.after));
  const exitCode = options.failOnWorse && ['worse', 'mixed'].includes(found.change) ? 5 : 0;
  const changes = [...found.worse, ...found.better].join('; ');
  const summary = found.change === 'same' ? 'no proven difference' : `${found.change}: ${changes}`;
  const content = { kind: 'CompareReport', summary, ...found, verdict: { exitCode } };
  return publish(content, { command: 'compare' }, { text: compareText }, options, ports);
}

function compareText(report: Comparison & { summary: string }, pen: Pen, columns: number): string[] {
  const { before, after, findings, warnings, summary, change } = report;
  const row = (label: string, text: string): string[] => wrapped(`  ${label.padEnd(9)} `, forTerminal(text), columns);
  const list = (codes: readonly string[]): string => (codes.length > 0 ? codes.join(', ') : 'none');
  return [
    pen.paint(change === 'better' ? 'good' : change === 'same' ? 'info' : 'bad', forTerminal(change)),
    ...row('exits', `${sideText(before)} → ${sideText(after)}`),
    ...row('findings', `fixed: ${list(findings.fixed)} · new: ${list(findings.new)} · left: ${list(findings.left)}`),
    ...warnings.flatMap((warning) => row('warning', warning)),
    '',
    ...tableLines(pen, [['', 'before', 'after'], ...figures(before, after)], columns),
    '',
    forTerminal(summary),
  ];
}

const sideText = ({ exits, outcome, killed, total, graceSeconds }: Side): string => {
  const gone = exits === 1 ? `${outcome}, gone after` : `${exits} exits, ${killed} killed, gone after a median of`;
  return `${gone} ${total ? closeOrRange(total) : 'an unknown time'} (grace period ${graceSeconds}s)`;
};

const figures = (before: Side, after: Side): string[][] =>
  Object.entries({ preStop: 'hook', 'after SIGTERM': 'drain', total: 'total' } as const).flatMap(([title, name]) => {
    const texts = [before[name], after[name]].map((range) => (range ? closeOrRange(range) : '-'));
    return before[name] || after[name] ? [[`  ${title}`, ...texts]] : [];
  });

type Comparison = ReturnType<typeof compare>;

type Side = ReturnType<typeof sideOf>;

/** Claims only differences that the intervals prove and that are hardly chance. */
export function compare(before: readonly ExitSample[], after: readonly ExitSample[]) {
  const [was, is] = [sideOf(before), sideOf(after)];
  const withCode = (wanted: string): [Share, Share] =>
    sharesOf(before, after, ({ findings }) => findings.some((one) => one.code === wanted && isProblem(one)));
  const areProbed = was.requests !== undefined && is.requests !== undefined;
  const isSure = (code: string): boolean => isProven(...withCode(code)) && (areProbed || code !== 'requests-lost');
  const disappeared = was.codes.filter((code) => !is.codes.includes(code));
  const appeared = is.codes.filter((code) => !was.codes.includes(code));
  const findings = {
    fixed: disappeared.filter(isSure),
    new: appeared.filter(isSure),
    left: is.codes.filter((code) => was.codes.includes(code)),
  };
  const unsure = [...disappeared, ...appeared].filter((code) => !isSure(code));
  const lengths = Object.entries({ 'after SIGTERM': 'drain', total: 'total' } as const).flatMap(([title, name]) => {
    const allOf = (samples: readonly ExitSample[]): Seconds[] => samples.flatMap((one) => one[name] ?? []);
    return lengthRow(title, allOf(before), allOf(after));
  });
  const rows = [...outcomeRow(before, after), ...lengths, ...lossRow(was, is)];
  const better = [...rows.filter(({ sign }) => sign < 0).map(({ text }) => text), ...listed(findings.fixed, 'fixed')];
  const worse = [...rows.filter(({ sign }) => sign > 0).map(({ text }) => text), ...listed(findings.new, 'new')];
  const change: 'better' | 'worse' | 'same' | 'mixed' =
    worse.length > 0 ? (better.length > 0 ? 'mixed' : 'worse') : better.length > 0 ? 'better' : 'same';
  const perhaps = unsure.map((code) => shareText(code, ...withCode(code)));
  const workloads = new Set([...before, ...after].map(({ workload }) => workload));
  const warnings = warningsOf(was, is, perhaps, workloads);
  return { change, before: was, after: is, findings, better, worse, warnings };
}

const listed = (codes: readonly string[], word: string): string[] =>
  codes.length > 0 ? [`${word}: ${codes.join(', ')}`] : [];

/** Lengths are medians over the exits. */
const sideOf = (samples: readonly ExitSample[]) => ({
  exits: samples.length,
  outcome: worstOutcome(samples),
  killed: samples.filter(({ killed }) => killed).length,
  hook: median(samples.flatMap(({ hook }) => hook ?? [])),
  drain: median(samples.flatMap(({ drain }) => drain ?? [])),
  total: median(samples.flatMap(({ total }) => total ?? [])),
  graceSeconds: Math.max(0, ...samples.map(({ graceSeconds }) => graceSeconds)),
  requests: totalRequests(samples),
  codes: [...new Set(samples.flatMap(({ findings }) => findings.filter(isProblem)).map(({ code }) => code))].sort(),
  versions: [...new Set(samples.flatMap(({ version }) => version ?? []))].sort(),
});

const worstOutcome = (samples: readonly ExitSample[]): Outcome =>
  outcomes.find((one) => samples.some(({ outcome }) => outcome === one)) ?? 'unknown';

/** `ranks`: how far from the middle the two ends are taken. */
export function median(ranges: readonly Seconds[], ranks = 0): Seconds | undefined {
  if (ranges.length === 0) return undefined;
  const at = (end: keyof Seconds, rank: number): number => {
    const sorted = ranges.map((one) => one[end]).sort((a, b) => a - b);
    return sorted[Math.min(sorted.length, Math.max(1, Math.ceil(rank))) - 1] ?? 0;
  };
  const half = ranges.length / 2;
  return { min: at('min', half - ranks), max: at('max', half + ranks) };
}

/** Where the median of more exits would be, with 95 %: 0.7 √n ranks to each side. A single one must be outside of all others. */
const likelyMedian = (ranges: readonly Seconds[], others: readonly Seconds[]): Seconds | undefined =>
  median(ranges, others.length === 1 ? ranges.length : 0.7 * Math.sqrt(ranges.length));

/** `sign`: negative is better, positive is worse. */
export interface ComparedRow {
  sign: number;
  text: string;
}

/** From good to bad. Outcomes that are not listed are not compared. */
const grades: Outcome[][] = [['graceful', 'removed'], ['overran'], ['failed'], ['killed', 'oom', 'forced'], ['stuck']];
const badness = (outcome: Outcome): number => grades.findIndex((one) => one.includes(outcome));

export function outcomeRow(before: readonly ExitSample[], after: readonly ExitSample[]): ComparedRow[] {
  const killed = shareRow('killed', ...sharesOf(before, after, (one) => one.killed));
  if (killed.length > 0) return killed;
  const [was, is] = [worstOutcome(before), worstOutcome(after)];
  const [wasBad, isBad] = [badness(was), badness(is)];
  if (wasBad < 0 || isBad < 0 || wasBad === isBad) return [];
  const shares = sharesOf(before, after, ({ outcome }) => badness(outcome) === Math.max(wasBad, isBad));
  return isProven(...shares) ? [{ sign: isBad - wasBad, text: `outcome: ${was} → ${is}` }] : [];
}

/** A smaller difference is noise, whatever the intervals prove; the larger of the two limits counts. */
const minDifference = { seconds: 1, share: 0.2 };

export function lengthRow(name: string, wasAll: readonly Seconds[], isAll: readonly Seconds[]): ComparedRow[] {
  const [was, is] = [median(wasAll), median(isAll)];
  const [wasLikely, isLikely] = [likelyMedian(wasAll, isAll), likelyMedian(isAll, wasAll)];
  if (!was || !is || !wasLikely || !isLikely) return [];
  const longer = is.min - was.max;
  const minSeconds = Math.max(minDifference.seconds, minDifference.share * was.max);
  const mayBeChance = wasLikely.min <= isLikely.max && isLikely.min <= wasLikely.max;
  if (mayBeChance || Math.max(longer, was.min - is.max) < minSeconds) return [];
  return [{ sign: longer > 0 ? 1 : -1, text: `${name}: ${closeOrRange(was)} → ${closeOrRange(is)}` }];
}

/** `3.1s`, or both ends if they are not close: `2.0–3.4s`. */
export const closeOrRange = ({ min, max }: Seconds): string =>
  max - min < 0.3 ? `${((min + max) / 2).toFixed(1)}s` : `${min.toFixed(1)}–${max.toFixed(1)}s`;

function lossRow({ requests: was }: Side, { requests: is }: Side): ComparedRow[] {
  if (!was || !is || was.sent === 0 || is.sent === 0) return [];
  // Requests of a run fail together: of two numbers above 0, chance alone makes one far larger.
  if (was.failed > 0 && is.failed > 0) return [];
  return shareRow('requests lost', [was.failed, was.sent], [is.failed, is.sent]);
}

type Share = readonly [part: number, whole: number];

const sharesOf = (before: readonly ExitSample[], after: readonly ExitSample[], has: (sample: ExitSample) => boolean) =>
  [before, after].map((all): Share => [all.filter(has).length, all.length]) as [Share, Share];

/** Single exits differ, whatever others would do. Else it is at least two standard errors: chance in less than 5 % of comparisons. */
function isProven(was: Share, is: Share): boolean {
  const difference = Math.abs(is[0] / is[1] - was[0] / was[1]);
  if (was[1] === 1 && is[1] === 1) return difference > 0;
  const pooled = (was[0] + is[0]) / (was[1] + is[1]);
  return difference > 0 && difference >= 2 * Math.sqrt(pooled * (1 - pooled) * (1 / was[1] + 1 / is[1])) - 1e-9;
}

const shareText = (name: string, was: Share, is: Share): string => `${name}: ${was.join(' of ')} → ${is.join(' of ')}`;

export const shareRow = (name: string, was: Share, is: Share): ComparedRow[] =>
  isProven(was, is) ? [{ sign: is[0] / is[1] - was[0] / was[1], text: shareText(name, was, is) }] : [];

const warningsOf = (was: Side, is: Side, unsure: readonly string[], workloads: ReadonlySet<string>): string[] => [
  ...(workloads.size > 1 ? [`these are different workloads: ${[...workloads].join(', ')}`] : []),
  ...(was.versions.length > 1 || is.versions.length > 1 ? ['a mixture of versions on one side'] : []),
  ...(was.exits === 1 && is.exits === 1 ? ['one exit on each side: the difference may be chance'] : []),
  ...(unsure.length > 0 ? [`findings of one side only, which may be chance: ${unsure.join('; ')}`] : []),
  ...(was.requests && !is.requests ? ['requests were measured before, but not after'] : []),
];
