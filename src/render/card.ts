/**
 * The card that ends every run and every replay of one pod: the answer, a bar for each container against its grace
 * period, traffic, requests, capacity, accuracy, why, and what to change; the last line is the answer again. At most 20
 * lines, 8 where all went well, without the evidence that `-v` adds below it.
 */
import { requestsText } from '../verdict/loss.ts';
import type { ContainerTimeline, Interval, Length, Timeline } from '../infer/timeline.ts';
import type { Finding, Severity } from '../model/report.ts';
import type { Report } from '../verdict/report.ts';
import { graceUsedLength, lengthText, secondsText } from '../verdict/length-text.ts';
import { cardLayout, roomFor, rowLines, type CardLayout, type CardRow } from './card-layout.ts';
import { ownerText, podText } from './heading.ts';
import { shareInk } from './live-lanes.ts';
import { exitInk, exitText, triggerText } from './mark-text.ts';
import { nextCommand } from './next-command.ts';
import type { Ink, Pen, SymbolName } from './palette.ts';
import { dim, flow, piece, plain, textWidth, type Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { dayText, clockText } from './time-text.ts';

export interface CardPlace {
  readonly pen: Pen;
  /** Of the window; Infinity where there is none. */
  readonly columns: number;
  /** Connection flags behind a command that is suggested, each with a blank before it. */
  readonly flags?: string | undefined;
  /** All rows, whatever their number. */
  readonly verbose?: boolean | undefined;
}

const mostLines = 20;
const mostLinesGraceful = 8;

export function cardLines(report: Report, place: CardPlace): string[] {
  const { pen } = place;
  const exits = exitRows(report);
  const rows = answerRows(report, place);
  const layout = cardLayout(
    pen,
    place.columns,
    [...exits, ...rows].map(({ label }) => label),
  );
  const isGood = report.verdict.exitCode === 0;
  const head = [...answerLine(report, layout), ...placeLine(report, layout)];
  const last = lastLine(report, layout);
  const blank = isGood ? [] : [''];
  const most = place.verbose ? Infinity : isGood ? mostLinesGraceful : mostLines;
  const room = most - head.length - last.length - 2 * blank.length;
  const shown = isGood && !place.verbose && exits.length > 2 ? inOneRow(exits) : exits;
  const bars = barLines(shown, layout, place.verbose ? Infinity : 6, room - 2);
  return [...head, ...blank, ...bars, ...fitting(rows, layout, room - bars.length), ...blank, ...last];
}

/** At most `rows` containers, fewer where they need more than `room` lines. */
function barLines(exits: readonly ExitRow[], layout: CardLayout, rows: number, room: number): string[] {
  const kept = shortened(exits, rows);
  const cells = barCells(kept, layout);
  const lines = kept.flatMap((row) => exitLines(row, cells, layout));
  return lines.length <= room || rows <= 1 ? lines : barLines(exits, layout, Math.min(rows, exits.length) - 1, room);
}

/** In their order. Each row gets its shortest form first, the most important before others, and more where lines are left. */
function fitting(rows: readonly RankedRow[], layout: CardLayout, room: number): string[] {
  const byRank = [...rows].sort((a, b) => a.rank - b.rank);
  const formsOf = (row: RankedRow): string[][] =>
    [row, ...(row.brief ?? []).map((pieces) => ({ label: row.label, pieces }))].map((form) => rowLines(layout, form));
  const kept = new Map<RankedRow, string[]>();
  let left = room;
  const keep = (row: RankedRow, lines: string[] | undefined): void => {
    if (!lines) return;
    left += (kept.get(row)?.length ?? 0) - lines.length;
    kept.set(row, lines);
  };
  const fits = (row: RankedRow) => (form: string[]) => form.length <= left + (kept.get(row)?.length ?? 0);
  for (const row of byRank) keep(row, formsOf(row).findLast(fits(row)));
  for (const row of byRank) keep(row, formsOf(row).find(fits(row)));
  return rows.flatMap((row) => kept.get(row) ?? []);
}

/** By exit code, as scripts see it: a green tick stands for 0 and nothing else. */
export function iconOf({ verdict }: { readonly verdict: Pick<Report['verdict'], 'exitCode' | 'outcome'> }): {
  readonly symbol: SymbolName;
  readonly ink: Ink;
} {
  if (verdict.exitCode === 0) return { symbol: 'good', ink: 'good' };
  if (verdict.exitCode === 2 || verdict.exitCode === 5) return { symbol: 'bad', ink: 'bad' };
  if (verdict.exitCode === 3)
    return verdict.outcome === 'stuck' ? { symbol: 'bad', ink: 'bad' } : { symbol: 'none', ink: 'warning' };
  return { symbol: 'unknown', ink: 'warning' };
}

function answerLine(report: Report, { pen, width }: CardLayout): string[] {
  const { symbol, ink } = iconOf(report);
  const { word, headline } = report.answer;
  const pieces = [
    piece(ink, `${pen.symbol(symbol)} ${forTerminal(word)}`),
    piece('strong', `  ${forTerminal(headline)}`),
  ];
  return flow(pen, pieces, { width, hang: 2 });
}

/** The same answer in one line of its own, whatever its length: `| tail -1` prints it whole. */
function lastLine(report: Report, { pen }: CardLayout): string[] {
  const { symbol, ink } = iconOf(report);
  return [`${pen.paint(ink, pen.symbol(symbol))} ${pen.letters(forTerminal(report.answer.summary, 1000))}`];
}

/** `shop/checkout-6677656c54-258qr · deployment/checkout · gone after 6.9s` */
function placeLine(report: Report, { pen, width }: CardLayout): string[] {
  const { timeline } = report;
  const facts = [podText(timeline), ownerText(timeline), deletedText(report)];
  const text = facts.flatMap((fact) => (fact === undefined ? [] : forTerminal(fact))).join(' · ');
  return flow(pen, [plain('  '), dim(text)], { width, hang: 2 });
}

export function deletedText({ timeline, answer }: Report): string | undefined {
  const { total, trigger, deleted, mode } = timeline;
  if (!deleted) return mode === 'check' ? undefined : 'not deleted';
  const why = `${triggerText[trigger.kind]}${trigger.note === undefined ? '' : `, ${trigger.note}`}`;
  const by = trigger.kind === 'this-command' || trigger.kind === 'unknown' ? '' : ` (${why})`;
  if (!total) return `still terminating${by}`;
  const isExplained = answer.cause !== undefined && delaysOfSignal.has(answer.cause.code);
  return `gone after ${lengthText(total)}${partsOfTotal(timeline, total, isExplained)}${by}`;
}

/** Causes that say themselves why the stop signal came late. */
const delaysOfSignal: ReadonlySet<string> = new Set([
  'node-silent',
  'slow-start',
  'kubelet-restarted',
  'runtime-unavailable',
]);

/** What the exits themselves do not explain: `: ≈3.7s until SIGTERM, up to 11.0s after the last exit`. */
export function partsOfTotal(timeline: Timeline, total: Length, isExplained = false): string {
  const parts = [isExplained ? undefined : untilSignal(timeline), afterExit(timeline, total)];
  const known = parts.flatMap((part) => part ?? []);
  return known.length === 0 ? '' : `: ${known.join(', ')}`;
}

/** Of pods without a preStop hook, which explains it. */
function untilSignal({ containers, zero }: Timeline): string | undefined {
  const mains = containers.filter(({ ran, kind }) => ran && kind === 'container');
  if (mains.some(({ preStop, stopSignal }) => preStop || !stopSignal)) return undefined;
  const [first] = mains.flatMap(({ stopSignal }) => stopSignal ?? []).sort((a, b) => a.shown - b.shown);
  if (!first || first.earliest - zero < longWait / 2 || first.shown - zero < longWait) return undefined;
  const length = { min: first.earliest - zero, max: first.latest - zero, shown: first.shown - zero };
  return `${lengthText(length)} until ${first.signal ?? 'SIGTERM'}`;
}

/** ms that a person asks about. */
const longWait = 1000;

function afterExit({ containers, marks }: Timeline, total: Length): string | undefined {
  const gone = marks.find(({ name }) => name === 'removed')?.at;
  const exits = containers.filter(({ ran }) => ran).map(({ exit }) => exit?.at);
  if (!gone || exits.length === 0) return undefined;
  const last = (read: (at: Interval) => number): number => Math.max(...exits.map((at) => (at ? read(at) : Infinity)));
  const min = gone.earliest - last(({ latest }) => latest);
  const shown = gone.shown - last((at) => at.shown);
  const max = gone.latest - last(({ earliest }) => earliest);
  // Where the news of either may have come late the least is next to nothing, and the most says little if it is not much less.
  const isSure = min > longWait / 2;
  if (!(isSure ? shown >= longWait : shown >= 3 * longWait && max < total.shown)) return undefined;
  const length = isSure ? lengthText({ min, max, shown }) : `up to ${secondsText(max)}`;
  return `${length} after the last exit`;
}

interface ExitRow {
  readonly label: string;
  readonly container?: ContainerTimeline;
  /** ms. */
  readonly grace: number;
  readonly words: readonly Piece[];
}

export function exitRows({ timeline }: Report): ExitRow[] {
  const grace = timeline.grace.effectiveSeconds * 1000;
  return timeline.containers
    .filter(({ ran, kind }) => ran || kind === 'container')
    .map((container) => ({
      label: container.name,
      container,
      grace,
      words: container.ran
        ? [piece(exitInk[container.outcome], endText(container)), plain(`  ${usedText(container, grace)}`)]
        : [dim('was not running')],
    }));
}

/** `SIGKILL`, `exited 0`: what ended it. */
function endText(container: ContainerTimeline): string {
  const probably = container.probable ? 'probably ' : '';
  if (container.outcome === 'signalled' && container.exit) return `exited ${container.exit.code ?? '?'}`;
  return `${probably}${container.outcome === 'killed' ? 'SIGKILL' : exitText(container)}`;
}

/** `3.1s of 10s grace period`, `1.1s past the 5s grace period`. */
function usedText(container: ContainerTimeline, grace: number): string {
  const { pastGrace, preStop, outcome, drain, graceUsed } = container;
  if (outcome === 'abandoned') return 'when the pod was removed';
  const whole = `${secondsText(grace, grace % 1000 === 0 ? 0 : 1)} grace period`;
  if (pastGrace && outcome !== 'killed') return `${lengthText(pastGrace)} past the ${whole}`;
  if (drain && graceUsed && graceUsed.max * grace < drain.min) return `${lengthText(drain)}, grace period restarted`;
  const length = graceUsedLength(container, grace);
  if (!length) return `of ${whole}`;
  const used = lengthText(length);
  const hook = preStop?.length && preStop.length.shown >= 50 ? `, preStop ${lengthText(preStop.length)}` : '';
  return hook === '' ? `${used} of ${whole}` : `${used} of ${secondsText(grace, 0)}${hook}`;
}

/** Bad ends first, then main containers, which the headline speaks of, then the longest. */
const weightOf = ({ container }: ExitRow): number =>
  (container && ['completed', 'signalled', 'not-running'].includes(container.outcome) ? 0 : 20) +
  (container?.kind === 'container' ? 10 : 0) +
  Math.min(9, container?.graceUsed?.shown ?? 0);

/** How they ended, each way once. */
const endsOf = (rows: readonly ExitRow[]): string[] => [
  ...new Set(rows.map(({ container }) => (container ? exitText(container) : ''))),
];

/** Where all went well: the one that the headline speaks of, and how the others ended. */
function inOneRow(rows: readonly ExitRow[]): ExitRow[] {
  const [first, ...others] = [...rows].sort((a, b) => weightOf(b) - weightOf(a));
  if (!first) return [];
  const more = ` · ${others.length} more ${endsOf(others).join(', ')}`;
  return [{ ...first, words: [...first.words, dim(more)] }];
}

/** The weightiest are kept; those that are left out are counted. */
function shortened(rows: readonly ExitRow[], most: number): ExitRow[] {
  if (rows.length <= most) return [...rows];
  const kept = new Set([...rows].sort((a, b) => weightOf(b) - weightOf(a)).slice(0, most - 1));
  const left = rows.filter((row) => !kept.has(row));
  const texts = endsOf(left);
  const words = [dim(texts.length === 1 ? `each ${texts[0] ?? ''}` : texts.join(', '))];
  return [...rows.filter((row) => kept.has(row)), { label: `${left.length} more`, grace: 0, words }];
}

const widestBar = 30;

/** Cells of every bar: what the widest words leave. */
function barCells(rows: readonly ExitRow[], layout: CardLayout): number {
  const words = rows.filter(hasBar).map((row) => textWidth(row.words.map(({ text }) => text).join('')));
  return Math.min(widestBar, roomFor(layout) - Math.max(36, ...words.map((width) => width + 1)));
}

const hasBar = ({ container }: ExitRow): boolean =>
  container !== undefined && container.ran && container.graceUsed !== undefined && container.outcome !== 'abandoned';

function exitLines(row: ExitRow, cells: number, layout: CardLayout): string[] {
  const { label, container, grace, words } = row;
  const isDrawn = container && cells >= 8 && hasBar(row);
  const pieces = isDrawn ? [...barOf(layout.pen, container, grace, cells), plain(' '), ...words] : words;
  return rowLines(layout, { label, pieces });
}

/** preStop and drain against the grace period. */
function barOf(pen: Pen, { graceUsed, preStop, outcome }: ContainerTimeline, grace: number, cells: number): Piece[] {
  const used = graceUsed?.shown ?? 0;
  const ink = outcome === 'killed' || outcome === 'oom' ? 'bad' : shareInk(used);
  const cellsOf = (share: number): number => Math.min(cells, Math.max(0, Math.round(share * cells)));
  const all = Math.max(used > 0 ? 1 : 0, cellsOf(used));
  const hook = Math.min(all, cellsOf((preStop?.length?.shown ?? 0) / Math.max(1, grace)));
  return [
    piece(ink, pen.symbol('hook').repeat(hook)),
    piece(ink, pen.symbol('full').repeat(all - hook)),
    dim(pen.symbol('rest').repeat(cells - all)),
  ];
}

/** `rank`: what is left out first where there is no room, the highest. */
interface RankedRow extends CardRow {
  readonly rank: number;
  /** Fewer and fewer words, without the command, for where there is no room for all. */
  readonly brief?: readonly (readonly Piece[])[];
}

function answerRows(report: Report, place: CardPlace): RankedRow[] {
  const { answer, verdict } = report;
  const isGood = verdict.exitCode === 0;
  const accuracy = verdict.findings.filter(({ code }) => code === 'evidence-lost');
  return [
    ...answer.also.slice(0, 2).map((finding) => findingRow('also', finding, place.pen, 5)),
    trafficRow(report, place.pen),
    ...requestRows(report, place.pen),
    ...(answer.capacity === undefined ? [] : [capacityRow(answer.capacity, place.pen)]),
    ...accuracy.map((finding) => findingRow('accuracy', finding, place.pen, 6)),
    ...verdict.gates
      .filter(({ passed, message }) => !passed && !answer.headline.includes(message))
      .map(({ message }) => ({ label: 'gate', pieces: [piece('bad', forTerminal(message))], rank: 1 })),
    ...(answer.why === undefined ? [] : [textRow('why', answer.why, isGood ? 5 : 2)]),
    ...nextRow(report, place),
    // On a good card what took the time goes before what may be better.
    ...answer.advice.map((text, index) => ({
      ...textRow('fix', text, isGood ? (answer.cause && index === 0 ? 0.5 : 4) : 3),
      brief: isGood ? briefly(text) : [],
    })),
    ...answer.fix.slice(0, 2).map(({ reason, command }) => ({
      ...textRow('fix', `${answer.advice.length > 0 ? 'then ' : ''}${reason}`, 3),
      command: forTerminal(`${command}${place.flags ?? ''}`, 4000),
      brief: isGood ? briefly(reason, ' · -v shows the command') : [],
    })),
    ...(isGood ? [] : detailsRow(report)),
  ];
}

const textRow = (label: string, text: string, rank: number): RankedRow => ({
  label,
  pieces: [plain(forTerminal(text, 1000))],
  rank,
});

/** Shorter and shorter forms of a sentence. */
const briefly = (sentence: string, end = ''): Piece[][] =>
  cuts(forTerminal(sentence, 1000))
    .slice(1)
    .map((text) => [plain(text + end)]);

const looks: Record<Severity, readonly [SymbolName, Ink]> = {
  error: ['bad', 'bad'],
  warning: ['warning', 'warning'],
  info: ['info', 'dim'],
};

function findingRow(label: string, { severity, message }: Finding, pen: Pen, rank: number): RankedRow {
  const [symbol, ink] = looks[severity];
  return { label, pieces: [piece(ink, `${pen.symbol(symbol)} `), plain(forTerminal(message, 1000))], rank };
}

const judgements: Record<Report['answer']['traffic']['judgement'], readonly [string, SymbolName, Ink]> = {
  safe: ['safe', 'good', 'good'],
  'at-risk': ['at risk', 'warning', 'warning'],
  lost: ['lost', 'bad', 'bad'],
  'not-judged': ['not judged', 'none', 'dim'],
};

function trafficRow({ answer, timeline }: Report, pen: Pen): RankedRow {
  const { judgement, reason } = answer.traffic;
  const [text, symbol, ink] = judgements[judgement];
  const head = `${pen.symbol(symbol)} ${text}${isUnmeasured(judgement, timeline.probes) ? ', not measured' : ''}: `;
  return { label: 'traffic', ...cutRow(piece(ink, head), reason), rank: 0 };
}

/** Nobody asked the Service meanwhile (`--probe`), so whether a request was lost is not known. */
export const isUnmeasured = (judgement: string, probes: readonly unknown[]): boolean =>
  judgement === 'at-risk' && probes.length === 0;

const capacityRow = (text: string, pen: Pen): RankedRow => ({
  label: 'capacity',
  ...cutRow(piece('warning', `${pen.symbol('warning')} `), text),
  rank: 1,
});

/** A sentence behind its head, and shorter and shorter: the parts after the first are details. */
function cutRow(head: Piece, sentence: string): Pick<RankedRow, 'pieces' | 'brief'> {
  return {
    pieces: [head, plain(forTerminal(sentence, 1000))],
    brief: briefly(sentence).map((pieces) => [head, ...pieces]),
  };
}

/** A sentence, and without its last part or aside, without its last two, … */
function cuts(text: string): string[] {
  const end = Math.max(...[' · ', '; ', ', ', ' ('].map((sign) => text.lastIndexOf(sign)));
  return end <= 0 ? [text] : [text, ...cuts(text.slice(0, end))];
}

/** What `--probe` measured. Failures of the pod itself are no loss. */
function requestRows({ timeline, verdict }: Report, pen: Pen): RankedRow[] {
  const race = verdict.findings.find(({ code }) => code === 'drain-race')?.clause;
  return timeline.probes.slice(0, 2).map((probe) => {
    const look = probe.failed === 0 ? 'good' : 'bad';
    const head = probe.via === 'pod-proxy' ? [] : [piece(look, `${pen.symbol(look)} `)];
    const text = `${requestsText(timeline, probe, race)} · ${forTerminal(probe.target, 60)}`;
    const forms = cuts(forTerminal(text, 1000)).filter((form) => !/^\d+ sent$/.test(form));
    const [pieces = [], ...brief] = forms.map((form) => [...head, plain(form)]);
    return { label: 'requests', pieces, brief, rank: 0 };
  });
}

function nextRow(report: Report, { flags = '' }: CardPlace): RankedRow[] {
  const next = nextCommand(report, flags);
  return next ? [{ ...textRow('next', next.reason, 2), command: forTerminal(next.command, 1000) }] : [];
}

function detailsRow({ answer, verdict: { findings, gates } }: Report): RankedRow[] {
  const failed = gates
    .find(({ passed }) => !passed)
    ?.name.split(' ')
    .at(-1);
  const code = answer.cause?.code ?? failed ?? findings[0]?.code;
  if (code === undefined) return [];
  return [{ label: 'details', pieces: [dim(`kubectl podexit explain ${code} · -v shows the evidence`)], rank: 9 }];
}

/** `2026-11-20 23:04:29 UTC`: when it was, for documents that are read later. */
export const dateText = (at: number): string => `${dayText(at, 'utc').slice(0, 10)} ${clockText(at, 0, 'utc')} UTC`;
