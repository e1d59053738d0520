/** The command `compare`: what changed between two sets of reports, in three lines and a chart. */
import { PodexitError } from '../../errors.ts';
import { outcomes, type Outcome } from '../../model/report.ts';
import type { Pen } from '../../render/palette.ts';
import { forMarkdown, forTerminal } from '../../render/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { publish, wrapped, type Envelope, type OutputOptions } from '../output.ts';
import {
  middle,
  readReports,
  sampleOf,
  totalRequests,
  type ExitSample,
  type ReplayText,
  type Seconds,
} from './reports.ts';

export interface CompareOptions extends OutputOptions {
  before: string;
  after: string;
  failOnWorse: boolean;
  replay: ReplayText;
}

interface CompareReport extends Envelope, Comparison {
  kind: 'CompareReport';
  summary: string;
}

/** Returns 0, or 5 for `--fail-on worse`. Throws `report.unreadable` and `compare.empty`. */
export async function compareFiles(options: CompareOptions, ports: Ports): Promise<number> {
  const samplesOf = async (name: string) => {
    const samples = (await readReports([name], options.replay)).map(sampleOf);
    if (samples.length > 0) return samples;
    throw new PodexitError('compare.empty', `${name} holds no exit`, 'Name a report, a rollout report or a recording.');
  };
  const found = compare(await samplesOf(options.before), await samplesOf(options.after));
  const isWorse = found.change === 'worse' || found.change === 'mixed';
  const exitCode = options.failOnWorse && isWorse ? 5 : 0;
  const content = { kind: 'CompareReport', summary: summaryOf(found), ...found, verdict: { exitCode } } as const;
  const views = { text: compareText, others: { markdown: compareMarkdown } };
  return publish<CompareReport>(content, { command: 'compare' }, views, options, ports);
}

function summaryOf({ change, better, worse }: Comparison): string {
  if (change === 'same') return 'no difference that the measurements prove';
  return `${change}: ${[...worse, ...better].join('; ')}`;
}

function compareText(report: CompareReport, pen: Pen, columns: number): string[] {
  const { before, after, findings, warnings, summary, change } = report;
  const ink = change === 'better' ? 'good' : change === 'same' ? 'info' : 'bad';
  const label = (text: string): string => `  ${text.padEnd(9)} `;
  const list = (codes: readonly string[]): string => (codes.length > 0 ? codes.join(', ') : 'none');
  return [
    pen.paint(ink, forTerminal(change)),
    ...wrapped(label('exits'), forTerminal(`${sideText(before)} → ${sideText(after)}`), columns),
    ...wrapped(
      label('findings'),
      forTerminal(`fixed: ${list(findings.fixed)} · new: ${list(findings.new)} · left: ${list(findings.left)}`),
      columns,
    ),
    ...warnings.flatMap((warning) => wrapped(label('warning'), forTerminal(warning), columns)),
    '',
    ...chart(before, after, pen, columns),
    '',
    forTerminal(summary),
  ];
}

const sideText = ({ exits, outcome, killed, total, graceSeconds }: Side): string => {
  const length = total ? `, ${lengthText(total)} of ${graceSeconds}s grace period` : '';
  return exits === 1 ? `${outcome}${length}` : `${exits} exits, ${killed} killed, median${length.slice(1)}`;
};

/** Hook, drain and clean-up of both sides, on the time axis of the longer side. */
function chart(before: Side, after: Side, pen: Pen, columns: number): string[] {
  const width = Math.max(20, Math.min(80, columns) - 24);
  const secondsOf = (range: Side['total']): number => (range ? middle(range) : 0);
  const longestSeconds = Math.max(0.1, ...[before, after].map(({ total }) => secondsOf(total)));
  const [hook, drain, rest] = (['perhaps', 'full', 'rest'] as const).map((name) => pen.symbol(name));
  const lane = (name: string, side: Side): string => {
    const ends = [secondsOf(side.hook), secondsOf(side.hook) + secondsOf(side.drain)];
    const [hookEnd = 0, drainEnd = 0, end = 0] = [...ends, Math.max(secondsOf(side.total), ...ends)].map((seconds) =>
      Math.min(width, Math.round((seconds / longestSeconds) * width)),
    );
    const bar = `${hook?.repeat(hookEnd)}${drain?.repeat(drainEnd - hookEnd)}${rest?.repeat(end - drainEnd)}`;
    return `  ${name.padEnd(8)} ${bar} ${side.total ? lengthText(side.total) : 'length unknown'}`;
  };
  const legend = `           ${hook} preStop  ${drain} after SIGTERM  ${rest} clean-up`;
  return [lane('before', before), lane('after', after), pen.paint('dim', legend)];
}

function compareMarkdown({ before, after, findings, warnings, summary }: CompareReport): string {
  const row = (name: string, pick: (side: Side) => string): string =>
    `| ${name} | ${forMarkdown(pick(before))} | ${forMarkdown(pick(after))} |`;
  const length = (name: 'hook' | 'drain' | 'total') => (side: Side) => {
    const found = side[name];
    return found ? lengthText(found) : '–';
  };
  const codes = (list: readonly string[]): string =>
    list.length > 0 ? list.map((code) => forMarkdown(code)).join(', ') : 'none';
  return `**${forMarkdown(summary)}**

| | before | after |
| --- | --- | --- |
${row('exits', ({ exits }) => String(exits))}
${row('worst outcome', ({ outcome }) => outcome)}
${row('killed', ({ killed }) => String(killed))}
${row('preStop', length('hook'))}
${row('after SIGTERM', length('drain'))}
${row('total', length('total'))}
${row('grace period', ({ graceSeconds }) => `${graceSeconds}s`)}

Findings fixed: ${codes(findings.fixed)} · new: ${codes(findings.new)} · left: ${codes(findings.left)}
${warnings.map((warning) => `\n> ${forMarkdown(warning)}\n`).join('')}`;
}

type Change = 'better' | 'worse' | 'same' | 'mixed';

type Side = ReturnType<typeof sideOf>;

interface Comparison {
  change: Change;
  before: Side;
  after: Side;
  findings: { fixed: string[]; new: string[]; left: string[] };
  /** What became better and what became worse, each in a few words. */
  better: string[];
  worse: string[];
  warnings: string[];
}

/** Claims only differences that the intervals prove. */
function compare(before: readonly ExitSample[], after: readonly ExitSample[]): Comparison {
  const [was, is] = [sideOf(before), sideOf(after)];
  const findings = {
    fixed: was.codes.filter((code) => !is.codes.includes(code)),
    new: is.codes.filter((code) => !was.codes.includes(code)),
    left: is.codes.filter((code) => was.codes.includes(code)),
  };
  const rows = [...outcomeRow(was, is), ...lengthRows(was, is), ...lossRow(was, is)];
  const better = [...rows.filter(({ sign }) => sign < 0).map(({ text }) => text), ...listed(findings.fixed, 'fixed')];
  const worse = [...rows.filter(({ sign }) => sign > 0).map(({ text }) => text), ...listed(findings.new, 'new')];
  const change = worse.length > 0 ? (better.length > 0 ? 'mixed' : 'worse') : better.length > 0 ? 'better' : 'same';
  return { change, before: was, after: is, findings, better, worse, warnings: warningsOf(was, is, before, after) };
}

const listed = (codes: readonly string[], word: string): string[] =>
  codes.length > 0 ? [`${word}: ${codes.join(', ')}`] : [];

/** Lengths are medians over the exits. */
function sideOf(samples: readonly ExitSample[]) {
  const problems = samples.flatMap(({ findings }) => findings.filter(({ severity }) => severity !== 'info'));
  return {
    exits: samples.length,
    /** The worst one. */
    outcome: outcomes.find((one) => samples.some(({ outcome }) => outcome === one)) ?? 'unknown',
    killed: samples.filter(({ killed }) => killed).length,
    hook: median(samples.flatMap(({ hook }) => hook ?? [])),
    drain: median(samples.flatMap(({ drain }) => drain ?? [])),
    total: median(samples.flatMap(({ total }) => total ?? [])),
    graceSeconds: Math.max(0, ...samples.map(({ graceSeconds }) => graceSeconds)),
    requests: totalRequests(samples),
    /** Of warnings and errors. */
    codes: [...new Set(problems.map(({ code }) => code))].sort(),
    versions: [...new Set(samples.flatMap(({ version }) => version ?? []))].sort(),
  };
}

function median(ranges: readonly Seconds[]): Seconds | undefined {
  if (ranges.length === 0) return undefined;
  const at = (values: number[]): number => values.sort((a, b) => a - b)[Math.ceil(values.length / 2) - 1] ?? 0;
  return { min: at(ranges.map(({ min }) => min)), max: at(ranges.map(({ max }) => max)) };
}

/** `sign`: negative is better, positive is worse. */
interface Row {
  sign: number;
  text: string;
}

/** How bad an outcome is. Outcomes that are not listed are not compared. */
const badness: Partial<Record<Outcome, number>> = {
  graceful: 0,
  removed: 0,
  overran: 1,
  failed: 2,
  killed: 3,
  oom: 3,
  forced: 3,
  stuck: 4,
};

function outcomeRow(was: Side, is: Side): Row[] {
  const [before, after] = [badness[was.outcome], badness[is.outcome]];
  const killed = shareRow('killed', [was.killed, was.exits], [is.killed, is.exits]);
  if (killed.length > 0) return killed;
  if (before === undefined || after === undefined || before === after) return [];
  return [{ sign: after - before, text: `outcome: ${was.outcome} → ${is.outcome}` }];
}

/** A smaller difference is noise, whatever the intervals prove; the larger of the two limits counts. */
const minDifference = { seconds: 1, share: 0.2 };

function lengthRows(was: Side, is: Side): Row[] {
  return (['drain', 'total'] as const).flatMap((name): Row[] => {
    const [before, after] = [was[name], is[name]];
    if (!before || !after) return [];
    const longer = after.min - before.max;
    const shorter = before.min - after.max;
    const minSeconds = Math.max(minDifference.seconds, minDifference.share * before.max);
    if (Math.max(longer, shorter) < minSeconds) return [];
    return [{ sign: longer > 0 ? 1 : -1, text: `${name}: ${lengthText(before)} → ${lengthText(after)}` }];
  });
}

const lengthText = ({ min, max }: Seconds): string =>
  max - min < 0.3 ? `${((min + max) / 2).toFixed(1)}s` : `${min.toFixed(1)}–${max.toFixed(1)}s`;

function lossRow({ requests: was }: Side, { requests: is }: Side): Row[] {
  if (!was || !is || was.sent === 0 || is.sent === 0) return [];
  return shareRow('requests lost', [was.failed, was.sent], [is.failed, is.sent]);
}

/** `[part, whole]` of each side. */
function shareRow(name: string, was: [number, number], is: [number, number]): Row[] {
  const sign = is[0] / is[1] - was[0] / was[1];
  return sign === 0 ? [] : [{ sign, text: `${name}: ${was.join(' of ')} → ${is.join(' of ')}` }];
}

function warningsOf(was: Side, is: Side, before: readonly ExitSample[], after: readonly ExitSample[]): string[] {
  const workloads = new Set([...before, ...after].map(({ workload }) => workload));
  return [
    ...(workloads.size > 1 ? [`these are different workloads: ${[...workloads].join(', ')}`] : []),
    ...(was.versions.length > 1 || is.versions.length > 1 ? ['a mixture of versions on one side'] : []),
    ...(was.requests && !is.requests ? ['requests were measured before, and not after'] : []),
  ];
}
