/** The command `compare`: what changed between two sets of reports, in three lines and a table. */
import { PodexitError } from '../../errors.ts';
import type { Pen } from '../../output/palette.ts';
import { forTerminal } from '../../output/safe-text.ts';
import { tableLines } from '../../output/text/table.ts';
import type { Ports } from '../../run/ports.ts';
import { publish, wrapped, type OutputOptions } from '../output.ts';
import { compare, closeOrRange, type Comparison, type Side } from './compare.ts';
import { readReports, sampleOf, type ReadRecording } from './reports.ts';

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
