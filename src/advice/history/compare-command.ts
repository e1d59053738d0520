/** The command `compare`: what changed between two sets of reports, in three lines and a chart. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import type { Ports } from '../../run/ports.ts';
import { publish, wrapped, type OutputOptions } from '../output.ts';
import { compare, closeOrRange, type Comparison, type Side } from './compare.ts';
import { middle, readReports, sampleOf, type ReadRecording } from './reports.ts';

interface CompareOptions extends OutputOptions {
  before: string;
  after: string;
  failOnWorse: boolean;
  readRecording: ReadRecording;
}

/** Returns 0, or 5 for `--fail-on worse`. Throws `report.unreadable` and `compare.empty`. */
export async function compareFiles(options: CompareOptions, ports: Ports): Promise<number> {
  const samplesOf = async (name: string) => {
    const samples = (await readReports([name], options.readRecording)).map(sampleOf);
    if (samples.length > 0) return samples;
    throw new PodexitError('compare.empty', `${name} holds no exit`, 'Name a report, a rollout report or a recording.');
  };
  const found = compare(await samplesOf(options.before), await samplesOf(options.after));
  const exitCode = options.failOnWorse && ['worse', 'mixed'].includes(found.change) ? 5 : 0;
  const content = { kind: 'CompareReport', summary: summaryOf(found), ...found, verdict: { exitCode } };
  return publish(content, { command: 'compare' }, { text: compareText }, options, ports);
}

function summaryOf({ change, better, worse }: Comparison): string {
  if (change === 'same') return 'no proven difference';
  return `${change}: ${[...worse, ...better].join('; ')}`;
}

function compareText(report: Comparison & { summary: string }, pen: Pen, columns: number): string[] {
  const { before, after, findings, warnings, summary, change } = report;
  const ink = change === 'better' ? 'good' : change === 'same' ? 'info' : 'bad';
  const row = (label: string, text: string): string[] => wrapped(`  ${label.padEnd(9)} `, forTerminal(text), columns);
  const list = (codes: readonly string[]): string => (codes.length > 0 ? codes.join(', ') : 'none');
  return [
    pen.paint(ink, forTerminal(change)),
    ...row('exits', `${sideText(before)} → ${sideText(after)}`),
    ...row('findings', `fixed: ${list(findings.fixed)} · new: ${list(findings.new)} · left: ${list(findings.left)}`),
    ...warnings.flatMap((warning) => row('warning', warning)),
    '',
    ...chart(before, after, pen, columns),
    '',
    forTerminal(summary),
  ];
}

const sideText = ({ exits, outcome, killed, total, graceSeconds }: Side): string => {
  const length = total ? closeOrRange(total) : 'an unknown time';
  const gone = exits === 1 ? `${outcome}, gone after` : `${exits} exits, ${killed} killed, gone after a median of`;
  return `${gone} ${length} (grace period ${graceSeconds}s)`;
};

/** Hook, drain and cleanup of both sides, on the time axis of the longer side. */
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
    return `  ${name.padEnd(8)} ${bar} ${side.total ? closeOrRange(side.total) : 'length unknown'}`;
  };
  const legend = `           ${hook} preStop  ${drain} after SIGTERM  ${rest} cleanup`;
  return [lane('before', before), lane('after', after), pen.paint('dim', legend)];
}
