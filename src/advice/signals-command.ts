/** The command `signals`: what is known of a program's, an image's or a command line's reaction to signals. */
import type { Pen } from '../output/palette.ts';
import { forTerminal } from '../output/safe-text.ts';
import { tableLines } from '../output/text/table.ts';
import { rows } from '../programs/rows.ts';
import { askedOf, knownStop, type KnownStop } from '../programs/stop-behaviour.ts';
import type { Ports } from '../run/ports.ts';
import { publish, wrapped, type OutputOptions } from './output.ts';

interface SignalsReport {
  summary: string;
  answer: KnownStop;
}

/** `words`: what is asked about. `isCommand`: they are a command line. Returns 0, or 1 if a file failed. */
export function signals(
  { words, isCommand, ...options }: OutputOptions & { words: readonly string[]; isCommand: boolean },
  ports: Ports,
): Promise<number> {
  const answer = knownStop(askedOf(words, isCommand));
  const content = { kind: 'SignalsReport', summary: summaryOf(answer), answer, verdict: { exitCode: 0 } };
  return publish(content, { command: 'signals' }, { text: signalsText }, options, ports);
}

export const programNames = (): string[] => [...new Set(rows.flatMap(({ match }) => match))];

const subjectOf = ({ command, image = '' }: KnownStop): string => (command?.join(' ') ?? image).slice(0, 200);

function summaryOf(answer: KnownStop): string {
  const [first] = answer.signals;
  if (!answer.isKnown) return `nothing is known of ${subjectOf(answer)}`;
  const { because = '', decidedBy, probably = false } = first ?? {};
  return `${probably ? 'probably: ' : ''}${because}${decidedBy === undefined ? '' : `; ${decidedBy}`}`;
}

function signalsText({ answer, summary }: SignalsReport, pen: Pen, columns: number): string[] {
  if (!answer.isKnown) return wrapped('', `${pen.symbol('unknown')} ${forTerminal(summary)}`, columns);
  const titles = ['SIGNAL', 'REACHES APP', 'ENDS', 'DRAINS', 'LIMIT', 'EXIT CODES', 'WHAT IT DOES'];
  const rows = below(answer).flatMap(([label, text]) =>
    text === undefined ? [] : wrapped(label.padEnd(15), forTerminal(text), columns),
  );
  return [
    `${pen.paint('strong', forTerminal(subjectOf(answer)))}  as PID 1`,
    ...tableLines(pen, [titles, ...answerRows(answer)], columns),
    ...rows,
  ];
}

const answerRows = ({ signals: all }: KnownStop): string[][] =>
  all.map(({ signal, reachesApp, handles, drains, limitSeconds, exitCodes, because, probably }) => [
    signal,
    reachesApp,
    handles,
    drains,
    limitSeconds === undefined ? '-' : `${limitSeconds}s`,
    [...new Set([...exitCodes.good, ...exitCodes.cut])].join(', ') || '-',
    forTerminal(`${probably ? 'probably: ' : ''}${because}`),
  ]);

/** A shell that starts a shell is named once. */
const below = ({ chain, signals: [first], stopSignal }: KnownStop): (readonly [string, string | undefined])[] => [
  ['stopped by', stopSignal],
  ['better signal', first?.rightSignal],
  ['limit from', first?.limitFrom],
  ['depends on', first?.decidedBy],
  ['remedy', first?.remedy?.text],
  ...[...new Set(chain.map(({ name, source }) => source && `${name}: ${source}`))].map(
    (text) => ['known', text] as const,
  ),
];
