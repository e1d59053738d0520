/** `-o wide`: the exit as kubectl would list it, one row for `column` and the eye. */
import stringWidth from 'string-width';
import type { ExitReport } from '../model/report.ts';
import { gateWord } from './outcome-text.ts';
import { forTerminal } from './safe-text.ts';
import { describeLasted, describeUsed } from './summary.ts';

const columns: readonly (readonly [string, (report: ExitReport) => string | undefined])[] = [
  ['NAME', ({ pod }) => pod.name],
  ['NODE', ({ pod }) => pod.node],
  ['OUTCOME', ({ mode, verdict }) => `${mode === 'check' ? 'forecast:' : ''}${verdict.outcome}`],
  ['DURATION', describeLasted],
  ['GRACE', ({ grace }) => `${grace.effectiveSeconds}s`],
  ['USED', describeUsed],
  ['TRIGGER', ({ trigger }) => trigger.kind],
  ['CONTAINERS', ({ containers }) => containers.map(({ name, outcome }) => `${name}=${outcome}`).join(',')],
  [
    'GATES',
    ({ verdict }) =>
      verdict.gates.map((gate) => `${gate.name.replace(/ /g, ':')}=${gateWord(gate).replace(' ', '-')}`).join(','),
  ],
  ['FINDINGS', ({ verdict }) => verdict.findings.map(({ code }) => code).join(',')],
];

/** A header and one row, three spaces apart; what is not known is `<none>`. */
export function renderWide(report: ExitReport, options: { headers?: boolean } = {}): string {
  const cells = columns.map(([title, value]) => [title, forTerminal(value(report) || '<none>')] as const);
  const rows = options.headers === false ? [1] : [0, 1];
  return rows.map((row) => line(cells.map((cell) => [cell[row] ?? '', width(cell)]))).join('');
}

const width = ([title, value]: readonly [string, string]): number => Math.max(stringWidth(title), stringWidth(value));

const line = (cells: readonly (readonly [string, number])[]): string =>
  `${cells
    .map(([text, wide]) => text + ' '.repeat(wide - stringWidth(text)))
    .join('   ')
    .trimEnd()}\n`;
