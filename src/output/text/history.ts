/** What lines mode writes while a pod shuts down, and what scrolls by above the live view: heading, changes, log lines. */
import type { Interval, Timeline } from '../../infer/timeline.ts';
import type { Probe } from '../../model/observe/container.ts';
import type { Observation } from '../../model/observation.ts';
import { containersOf } from '../../model/pod.ts';
import { hookText, markText } from '../mark-text.ts';
import { createMarkPrinter, inPrintedOrder, worthPrinting, type PrintEvent } from './next-to-print.ts';
import type { Pen } from '../palette.ts';
import { podGraceText, ownerText, podText } from '../pod-facts.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth, piecesWidth, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { clockText, dayText, exactly, offsetText, printedAt, type Timestamps } from '../time-text.ts';
import type { ViewOptions } from '../view.ts';

/** Its functions return lines without line feeds. */
export function createChangeLines({ pen, timestamps, logs, columns }: ViewOptions) {
  const nextToPrint = createMarkPrinter();
  let zero: number | undefined;
  let hasHeading = false;

  const layoutFor = (timeline: Timeline | undefined): LineLayout =>
    lineLayout({ pen, timestamps, width: columns() }, timeline, zero);

  const changes = (timeline: Timeline, isLast: boolean): string[] => {
    const heading = hasHeading ? [] : [...headingLines(timeline, layoutFor(timeline)), ''];
    hasHeading = true;
    const events = nextToPrint(timeline, isLast);
    if (events.length > 0) zero ??= timeline.zero;
    const layout = layoutFor(timeline);
    return [...heading, ...events.flatMap((event) => eventLines(event, timeline, layout))];
  };

  return {
    /** `timeline` is undefined until the pod has been seen. */
    step: (timeline: Timeline | undefined, observation: Observation): string[] => [
      ...(timeline ? changes(timeline, false) : []),
      ...(logs && observation.kind === 'line' ? loggedLines(layoutFor(timeline), observation) : []),
    ],
    /** The lines that were still held back. */
    rest: (timeline: Timeline): string[] => changes(timeline, true),
  };
}

export type LoggedLine = Extract<Observation, { kind: 'line' }>;

/** What is known at the end: each moment once, sorted, with the log lines between. */
export function sortedLines(timeline: Timeline, log: readonly LoggedLine[], layout: LineLayout): string[] {
  const marks = inPrintedOrder(worthPrinting(timeline.marks)).map((mark) => ({
    at: mark.at.shown,
    lines: eventLines({ kind: 'mark', mark, at: mark.at.shown }, timeline, layout),
  }));
  // A Service with several slices is left once.
  const distinct = new Map(marks.map((mark) => [mark.lines.join('\n'), mark])).values();
  const logged = log.map((one) => ({ at: one.at, lines: loggedLines(layout, one) }));
  const sorted = [...distinct, ...logged].sort((a, b) => a.at - b.at);
  return [...headingLines(timeline, layout), '', ...sorted.flatMap(({ lines }) => lines)];
}

const loggedLines = (layout: LineLayout, { at, container, text, skipped }: LoggedLine): string[] => {
  const texts = [...(skipped ? [`(${skipped} lines left out)`] : []), ...(text === undefined ? [] : [text])];
  const bar = layout.pen.symbol('bar');
  return texts.flatMap((one) => line(layout, exactly(at), container, [dim(`${bar} ${forTerminal(one, 4000)}`)]));
};

/** Which pod it is, its grace period, its containers with their hooks and probes. */
function headingLines(timeline: Timeline, { pen, timestamps, width }: LineLayout): string[] {
  const { pod, now } = timeline;
  const facts = [
    ownerText(timeline),
    pod.spec.nodeName === undefined ? 'not scheduled' : `node ${pod.spec.nodeName}`,
    `grace period ${podGraceText(timeline)}`,
    pod.spec.runtimeClassName === undefined ? undefined : `runtime class ${pod.spec.runtimeClassName}`,
    timestamps === 'relative' ? undefined : dayText(now, timestamps),
  ];
  const title = [
    piece('strong', forTerminal(podText(timeline))),
    dim(facts.flatMap((fact) => (fact === undefined ? [] : ` · ${forTerminal(fact)}`)).join('')),
  ];
  const rows = containersOf(pod).filter(({ kind }) => kind === 'container' || kind === 'sidecar');
  const names = rows.map(({ name }) => shorten(pen, forTerminal(name), 24));
  const widest = Math.max(0, ...names.map(textWidth));
  return [
    ...flow(pen, title, { width, hang: 2 }),
    ...rows.flatMap(({ name, kind, container }, index) => {
      const hook = hookText(name, timeline);
      const words = [
        ...(kind === 'sidecar' ? ['sidecar'] : []),
        hook === undefined ? 'no preStop' : `preStop ${hook}`,
        probeText(container.readinessProbe),
      ];
      const pieces = [plain('  '), piece('accent', padTo(names[index] ?? '', widest)), plain(`  ${words.join(' · ')}`)];
      return flow(pen, pieces, { width, hang: widest + 4 });
    }),
  ];
}

function probeText(probe: Probe | undefined): string {
  if (!probe) return 'no readiness probe';
  const { exec, tcpSocket, httpGet, grpc } = probe;
  const port = (tcpSocket ?? httpGet ?? grpc)?.port;
  const kind = exec ? 'exec' : tcpSocket ? 'tcp' : httpGet ? 'http' : 'grpc';
  return `readiness ${kind}${port === undefined ? '' : ` :${port}`}`;
}

interface LineLayout {
  readonly pen: Pen;
  readonly timestamps: Timestamps;
  /** Columns of a line; Infinity: never wrapped. */
  readonly width: number;
  /** Columns of the name. */
  readonly who: number;
  /** What offsets count from, ms; undefined until something is known of the deletion. */
  readonly zero: number | undefined;
}

/** The layout of lines about a pod, which is undefined until it has been seen. */
export const lineLayout = (
  look: Pick<LineLayout, 'pen' | 'timestamps' | 'width'>,
  timeline: Timeline | undefined,
  zero: number | undefined,
): LineLayout => {
  const names = (timeline?.containers ?? []).map(({ name }) => textWidth(forTerminal(name)));
  // At least the width of `replacement`, and up to a third of a narrow line.
  const wanted = Math.min(look.width === Infinity ? 63 : 24, Math.max(11, ...names));
  return { ...look, zero, who: Math.min(wanted, Math.max(7, Math.floor(look.width / 3) - 4)) };
};

/** One change: time of day, offset, who, what. In a narrow terminal it is wrapped below its words. */
function eventLines(event: PrintEvent, timeline: Timeline, layout: LineLayout): string[] {
  const { kind, mark, at } = event;
  const words = markText(mark, timeline, layout.timestamps);
  if (kind === 'mark') return line(layout, mark.at, words.who, [piece(words.ink, forTerminal(words.text))]);
  const what = `${words.who} ${words.text}`;
  const text = kind === 'update' ? `${what} at ${offsetText(mark.at, layout.zero ?? 0)}` : `not confirmed: ${what}`;
  return line(layout, exactly(at), 'update', [piece('warning', forTerminal(text))]);
}

function line(
  { pen, timestamps, width, who: columns, zero }: LineLayout,
  at: Interval,
  who: string,
  words: readonly Piece[],
): string[] {
  const clock = timestamps === 'relative' ? '' : `${clockText(printedAt(at), 2, timestamps)} `;
  const time = clock + (zero === undefined ? ' '.repeat(9) : offsetText(at, zero).padStart(9));
  const name = padTo(shorten(pen, forTerminal(who), columns), columns);
  const head = [dim(`${width < 60 ? '' : '  '}${time}`), plain('  '), piece('accent', name), plain('  ')];
  const hang = piecesWidth(head);
  // If fewer columns are left beside the head, the words are printed below it.
  if (width - hang >= 18) return flow(pen, [...head, ...words], { width, hang });
  return [...flow(pen, head, { width, hang: 4 }), ...flow(pen, [plain('    '), ...words], { width, hang: 4 })];
}
