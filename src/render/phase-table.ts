/** The phases as a table: what each lasted, and what the containers' ones took of the grace, as a bar. */
import Table from 'cli-table3';
import type { ExitReport, Phase, Range } from '../model/report.ts';
import { weaker } from '../verdict/figures.ts';
import { formatSeconds } from './duration.ts';
import { graceShare, spendsGrace } from './grace-share.ts';
import { longestName } from './mark-line.ts';
import type { Pen } from './palette.ts';
import { shorten, textWidth } from './prose.ts';
import { forTerminal } from './safe-text.ts';

const longestBar = 24;
const longestSubject = 24;

/** Lines of at most `width` columns; none where no phase is known, or where the window is too narrow for a table. */
export function phaseTable(pen: Pen, { phases, grace }: ExitReport, width: number): string[] {
  const rows = phases.map((phase) => cellsOf(pen, phase));
  const widths = widthsFor(rows, width);
  if (rows.length === 0 || !widths) return [];
  const shares = [`of grace ${grace.effectiveSeconds}s`, 'of grace', 'used'];
  const fits = (one: string): boolean => one.length <= widths.bar + widths.share;
  // Of a pod that was removed at once nothing spent any.
  const title = (rows.some(({ used }) => used) ? shares.find(fits) : undefined) ?? '';
  const table = new Table({
    chars: noLines,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap },
  });
  table.push(
    ['phase', '', 'lasted', title].map((one) => pen.paint('dim', one)),
    ...rows.map(({ name, subject, lasted, share, used }) => [
      name,
      pen.paint('accent', shorten(pen, subject, widths.subject)),
      lasted,
      used ? `${graceBar(pen, used, widths.bar)}${share}` : '',
    ]),
  );
  return table
    .toString()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

interface Cells {
  readonly name: string;
  readonly subject: string;
  readonly lasted: string;
  readonly share: string;
  /** Of the grace; undefined where the phase uses none. */
  readonly used: Range | undefined;
}

function cellsOf(pen: Pen, phase: Phase): Cells {
  const { name, subject = '', start, end, seconds, ofGrace } = phase;
  const basis = weaker(start.basis, end.basis);
  return {
    name,
    subject: pen.letters(forTerminal(subject)),
    lasted: pen.letters(formatSeconds(seconds, basis)),
    share: pen.letters(graceShare(phase) ?? ''),
    used: spendsGrace(phase) ? ofGrace : undefined,
  };
}

/** Blanks between columns, and before the first. */
const gap = 2;

/** Names first, then the bar; undefined where not even names fit. */
function widthsFor(rows: readonly Cells[], width: number): { subject: number; bar: number; share: number } | undefined {
  const widest = (cell: 'name' | 'subject' | 'lasted' | 'share', least: number) =>
    Math.max(least, ...rows.map((row) => textWidth(row[cell])));
  const share = widest('share', 4);
  const room = width - gap - widest('name', 5) - gap - widest('lasted', 6) - gap - share - gap;
  const wanted = Math.min(width === Infinity ? longestName : longestSubject, widest('subject', 0));
  const subject = room >= wanted + longestBar ? wanted : Math.min(wanted, Math.max(3, Math.floor(room * 0.6)));
  const bar = Math.min(longestBar, room - subject - gap);
  return room < 3 ? undefined : { subject, bar: room >= Infinity ? longestBar : bar, share };
}

/** Certainly used, perhaps used, left. More than all of it fills the bar; the figure behind it says how much more. */
function graceBar(pen: Pen, { min, max }: Range, width: number): string {
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
