/** The phases as a table: what each lasted, and what the containers' ones took of the grace, as a bar. */
import Table from 'cli-table3';
import type { ExitReport, Phase, PhaseName, Range } from '../trace/report.ts';
import { formatSeconds, formatShare, weaker } from './duration.ts';
import type { Pen } from './palette.ts';
import { shorten } from './prose.ts';
import { forTerminal } from './safe-text.ts';

/** Phases that spend a container's grace; the others go on beside or after it. */
const spends: Record<PhaseName, boolean> = {
  accept: false,
  notice: false,
  'route-removal': false,
  prestop: true,
  'sidecar-wait': true,
  drain: true,
  overtime: false,
  cleanup: false,
  finalize: false,
  replace: false,
};

const longestBar = 24;

/** Lines of at most `width` columns; none where no phase is known. */
export function phaseTable(pen: Pen, { phases, grace }: ExitReport, width: number): string[] {
  if (phases.length === 0) return [];
  const room = Math.max(0, width - 42);
  const subject = Math.min(24, Math.max(8, Math.floor(room / 2)));
  const bar = Math.min(longestBar, Math.max(0, room - subject + 8));
  const table = new Table({
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  table.push(
    ['phase', '', 'lasted', `of grace ${grace.effectiveSeconds}s`].map((title) => pen.paint('dim', title)),
    ...phases.map((phase) => row(pen, phase, { subject, bar })),
  );
  return table
    .toString()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

function row(pen: Pen, phase: Phase, widths: { subject: number; bar: number }): string[] {
  const basis = weaker(phase.start.basis, phase.end.basis);
  const name = shorten(pen, forTerminal(phase.subject ?? ''), widths.subject);
  return [
    phase.name,
    pen.paint('accent', name),
    pen.letters(formatSeconds(phase.seconds, basis)),
    spends[phase.name]
      ? `${graceBar(pen, phase.ofGrace, widths.bar)}${pen.letters(formatShare(phase.ofGrace, basis))}`
      : '',
  ];
}

/** Certainly used, perhaps used, left. More than all of it fills the bar; the figure behind it says how much more. */
export function graceBar(pen: Pen, { min, max }: Range, width: number): string {
  if (width < 4) return '';
  const cells = (ratio: number): number => Math.round(Math.min(1, Math.max(0, ratio)) * width);
  const sure = cells(min);
  const maybe = Math.max(cells(max), max > 0 ? 1 : 0, sure);
  const ink = max > 1 ? 'bad' : max >= 0.75 ? 'warning' : 'good';
  return [
    pen.paint(ink, pen.symbol('full').repeat(sure)),
    pen.paint(ink, pen.symbol('perhaps').repeat(maybe - sure)),
    pen.paint('dim', pen.symbol('rest').repeat(width - maybe)),
    ' ',
  ].join('');
}

const noLines = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
