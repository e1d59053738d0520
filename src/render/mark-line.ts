/** One change as one line: time of day, offset, who, what. In a narrow terminal it is wrapped below its words. */
import type { Interval, Mark, Timeline } from '../infer/timeline.ts';
import { stopSignalName } from '../verdict/rule-input.ts';
import { exitText, markText, type MarkText } from './mark-text.ts';
import type { PrintEvent } from './next-to-print.ts';
import type { Pen } from './palette.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth, widthOf, type Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { clockColumn, exactly, offsetColumn, offsetText, type Timestamps } from './time-text.ts';

export interface LineLayout {
  readonly pen: Pen;
  readonly timestamps: Timestamps;
  /** Columns of a line; Infinity: never wrapped. */
  readonly width: number;
  /** Columns of the name. */
  readonly who: number;
  /** What offsets count from, ms; undefined until something is known of the deletion. */
  readonly zero: number | undefined;
}

/** `replacement`, the widest name that is not a container's. */
const minNameColumns = 11;
const maxNameColumns = 24;
const maxKubernetesName = 63;

/** The layout of lines about a pod, which is undefined until it has been seen. */
export const lineLayout = (
  look: Pick<LineLayout, 'pen' | 'timestamps' | 'width'>,
  timeline: Timeline | undefined,
  zero: number | undefined,
): LineLayout => ({ ...look, zero, who: whoColumns(look.width, timeline?.containers.map(({ name }) => name) ?? []) });

/** The width of the names' column: up to a third of a narrow line. */
function whoColumns(width: number, containers: readonly string[]): number {
  const limit = width === Infinity ? maxKubernetesName : maxNameColumns;
  const wanted = Math.min(limit, Math.max(minNameColumns, ...containers.map((name) => textWidth(forTerminal(name)))));
  return Math.min(wanted, Math.max(7, Math.floor(width / 3) - 4));
}

export function eventLines(event: PrintEvent, timeline: Timeline, layout: LineLayout): string[] {
  const words = markText(event.mark, timeline, layout.timestamps);
  if (event.kind === 'mark') return line(layout, event.mark.at, words.who, [piece(words.ink, forTerminal(words.text))]);
  const text =
    event.kind === 'moved' ? movedText(event.mark, event.was, words, timeline, layout) : retractedText(event, words);
  return line(layout, exactly(timeline.now), 'update', [piece('warning', forTerminal(text))]);
}

/** `app exited ≈+4.2 → +3.3 (code 0)` */
function movedText(
  { name, subject, at }: Mark,
  was: Interval,
  words: MarkText,
  { containers }: Timeline,
  { zero = 0 }: LineLayout,
): string {
  const container = containers.find((one) => one.name === subject);
  const times = `${offsetText(was, zero)} → ${offsetText(at, zero)}`;
  if (name === 'exited' && container?.exit) {
    const code = container.exit.code === undefined ? '' : ` (${exitText(container).replace(/^exited /, 'code ')})`;
    return `${words.who} exited ${times}${code}`;
  }
  if (name === 'stop-signal') return `${words.who} ${stopSignalName(container) ?? 'stop signal'} sent ${times}`;
  return `${words.who}: ${words.text} ${times}`;
}

function retractedText({ mark }: PrintEvent, { who, text }: MarkText): string {
  return mark.name === 'exited'
    ? `${who} is still running (its log stream closed for another reason)`
    : `${who}: not confirmed: ${text}`;
}

/** A line of a container's log; `at`: ms. */
export const logLine = (layout: LineLayout, at: number, container: string, text: string): string[] =>
  line(layout, exactly(at), container, [dim(`${layout.pen.symbol('bar')} ${forTerminal(text, maxLogLineLength)}`)]);

const maxLogLineLength = 4000;

/** If fewer columns are left beside the head, the words are printed below it. */
const minTextColumns = 18;

function line(
  { pen, timestamps, width, who: columns, zero }: LineLayout,
  at: Interval,
  who: string,
  words: readonly Piece[],
): string[] {
  const gap = width < 60 ? '' : '  ';
  const time = clockColumn(at, timestamps) + (zero === undefined ? ' '.repeat(9) : offsetColumn(at, zero));
  const name = padTo(shorten(pen, forTerminal(who), columns), columns);
  const head = [dim(`${gap}${time}`), plain('  '), piece('accent', name), plain('  ')];
  const hang = widthOf(head);
  if (width - hang >= minTextColumns) return flow(pen, [...head, ...words], { width, hang });
  return [...flow(pen, head, { width, hang: 4 }), ...flow(pen, [plain('    '), ...words], { width, hang: 4 })];
}
