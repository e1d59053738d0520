/** The timeline as a Mermaid gantt, which GitHub and GitLab draw inside Markdown. */
import type { ExitReport, Instant, Mark, MarkName, Phase } from '../trace/report.ts';
import type { Lane } from './lanes.ts';
import { lanesOf } from './lanes.ts';
import { isBounded, millis, offsetRange, zeroOf } from './offsets.ts';
import { forMermaid } from './safe-text.ts';

/**
 * The diagram without its fence. Times are milliseconds after the request; the axis counts seconds of the Unix epoch
 * (`%s`), the one d3 format that no reader's time zone can shift.
 */
export function renderMermaid(report: ExitReport): string {
  const bounded = report.marks.filter(({ at }) => isBounded(at));
  const zero = Math.min(zeroOf(report), ...bounded.map(({ at }) => millis(at.earliest) ?? Infinity));
  const lanes = lanesOf(report).filter(({ phases, marks }) => phases.length + marks.filter(isMilestone).length > 0);
  return [
    'gantt',
    '  dateFormat x',
    '  axisFormat %s s',
    '  todayMarker off',
    ...lanes.flatMap((lane) => section(zero, lane)),
    ...deadline(zero, report),
    '',
  ].join('\n');
}

/** The few moments worth a diamond; the rest is in the table of marks. */
const milestones: readonly MarkName[] = ['stop-signal', 'kill', 'exited', 'unrouted', 'removed', 'replacement-ready'];
const isMilestone = ({ name }: Mark): boolean => milestones.includes(name);

function section(zero: number, { kind, name, phases, marks }: Lane): string[] {
  return [
    `  section ${kind} ${forMermaid(name)}`,
    ...phases.flatMap((phase) => bar(zero, phase)),
    ...marks.filter(isMilestone).flatMap((mark) => diamond(zero, mark)),
  ];
}

function bar(zero: number, { name, start, end }: Phase): string[] {
  const [from, to] = [middle(zero, start), middle(zero, end)];
  if (from === undefined || to === undefined) return [];
  const state =
    name === 'overtime' ? 'crit, ' : start.basis === 'observed' && end.basis === 'observed' ? 'done, ' : 'active, ';
  return [`  ${name} :${state}${from}, ${Math.max(to, from + 1)}`];
}

function diamond(zero: number, { name, at }: Mark): string[] {
  const moment = middle(zero, at);
  if (moment === undefined) return [];
  return [`  ${name} :${name === 'kill' ? 'crit, ' : ''}milestone, ${moment}, ${moment}`];
}

function deadline(zero: number, { grace }: ExitReport): string[] {
  const ms = millis(grace.deadline);
  if (ms === undefined || ms < zero || grace.effectiveSeconds <= 0) return [];
  const end = Math.round(ms - zero);
  return ['  section grace', `  deadline :crit, milestone, ${end}, ${end}`];
}

/** Whole milliseconds after the zero: Mermaid reads digits only. What nothing bounds from below stands at its end. */
function middle(zero: number, instant: Instant): number | undefined {
  const range = offsetRange(zero, instant);
  if (range?.min === -Infinity) return Math.max(0, Math.round(range.max * 1000));
  return range && Math.max(0, Math.round((range.min + range.max) * 500));
}
