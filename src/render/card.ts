/**
 * The card that ends every run and every replay of one pod: the answer, a bar for each container against its grace
 * period, traffic, requests, capacity, accuracy, why, and what to change; the last line is the answer again. At most 20
 * lines, 8 if all went well, without the evidence that `-v` adds above it.
 */
import { requestsText } from '../verdict/loss.ts';
import { isFinished } from '../model/pod.ts';
import type { Finding, Severity } from '../model/report.ts';
import type { Report } from '../verdict/report.ts';
import { barLines, cardLayout, exitRows, mergeExitRows, rowLines, type CardLayout, type CardRow } from './card-rows.ts';
import type { Ink, Pen, SymbolName } from './palette.ts';
import { deletedText, ownerText, podText } from './pod-facts.ts';
import { dim, flow, piece, plain, type Piece } from './prose.ts';
import { forTerminal } from './safe-text.ts';

/** The flags of the user that change a card, wherever it is printed. */
export interface CardFlags {
  /** Connection flags to append to suggested commands, each with a blank before it. */
  readonly flags?: string | undefined;
  /** Print all rows of the card, and above it evidence, phases, assumptions and gaps. */
  readonly verbose?: boolean | undefined;
}

export interface CardOptions extends CardFlags {
  readonly pen: Pen;
  /** Columns of the window; Infinity without a window. */
  readonly columns: number;
}

const maxLines = 20;
const maxLinesIfGood = 8;

export function cardLines(report: Report, options: CardOptions): string[] {
  const { pen } = options;
  const exits = exitRows(report);
  const rows = answerRows(report, options);
  const layout = cardLayout(
    pen,
    options.columns,
    [...exits, ...rows].map(({ label }) => label),
  );
  const isGood = report.verdict.exitCode === 0;
  const head = [...answerLine(report, layout), ...placeLine(report, layout)];
  const last = lastLine(report, layout);
  const blank = isGood ? [] : [''];
  const lineLimit = options.verbose ? Infinity : isGood ? maxLinesIfGood : maxLines;
  const room = lineLimit - head.length - last.length - 2 * blank.length;
  const shown = isGood && !options.verbose && exits.length > 2 ? mergeExitRows(exits) : exits;
  const bars = barLines(shown, layout, options.verbose ? Infinity : 6, room - 2);
  return [...head, ...blank, ...bars, ...fitRows(rows, layout, room - bars.length), ...blank, ...last];
}

/** Keeps the order. By rank, each row first gets its shortest form; then longer forms are used while lines are left. */
function fitRows(rows: readonly RankedRow[], layout: CardLayout, room: number): string[] {
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

/** The icon follows the exit code, as scripts see it: only 0 gets a green tick. */
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

/** The answer again on a single line, whatever its length: `| tail -1` prints all of it. */
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

/** If there is no room, rows of the highest `rank` are left out first. */
interface RankedRow extends CardRow {
  readonly rank: number;
  /** Shorter and shorter forms without the command, if there is no room for the whole row. */
  readonly brief?: readonly (readonly Piece[])[];
}

function answerRows(report: Report, options: CardOptions): RankedRow[] {
  const { answer, verdict } = report;
  const isGood = verdict.exitCode === 0;
  const warning = piece('warning', `${options.pen.symbol('warning')} `);
  const accuracy = verdict.findings.filter(({ code }) => code === 'evidence-lost');
  return [
    ...answer.also.slice(0, 2).map((finding) => findingRow('also', finding, options.pen, 5)),
    trafficRow(report, options.pen),
    ...requestRows(report, options.pen),
    ...(answer.capacity === undefined ? [] : [{ label: 'capacity', ...cutRow(warning, answer.capacity), rank: 1 }]),
    ...accuracy.map((finding) => findingRow('accuracy', finding, options.pen, 6)),
    ...verdict.gates
      .filter(({ passed, message }) => !passed && !answer.headline.includes(message))
      .map(({ message }) => ({ label: 'gate', pieces: [piece('bad', forTerminal(message))], rank: 1 })),
    ...(answer.why === undefined ? [] : [textRow('why', answer.why, isGood ? 5 : 2)]),
    ...nextRows(report, options.flags),
    // On a good card, what took the time is more important than other improvements.
    ...answer.advice.map((text, index) => ({
      ...textRow('fix', text, isGood ? (answer.cause && index === 0 ? 0.5 : 4) : 3),
      brief: isGood ? shortForms(text) : [],
    })),
    ...answer.fix.slice(0, 2).map(({ reason, command }) => ({
      ...textRow('fix', `${answer.advice.length > 0 ? 'then ' : ''}${reason}`, 3),
      command: forTerminal(`${command}${options.flags ?? ''}`, 4000),
      brief: isGood ? shortForms(reason, ' · -v shows the command') : [],
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
const shortForms = (sentence: string, end = ''): Piece[][] =>
  shortened(forTerminal(sentence, 1000))
    .slice(1)
    .map((text) => [plain(text + end)]);

const severitySigns: Record<Severity, readonly [SymbolName, Ink]> = {
  error: ['bad', 'bad'],
  warning: ['warning', 'warning'],
  info: ['info', 'dim'],
};

function findingRow(label: string, { severity, message }: Finding, pen: Pen, rank: number): RankedRow {
  const [symbol, ink] = severitySigns[severity];
  return { label, pieces: [piece(ink, `${pen.symbol(symbol)} `), plain(forTerminal(message, 1000))], rank };
}

const trafficSigns: Record<Report['answer']['traffic']['judgement'], readonly [string, SymbolName, Ink]> = {
  safe: ['safe', 'good', 'good'],
  'at-risk': ['at risk', 'warning', 'warning'],
  lost: ['lost', 'bad', 'bad'],
  'not-judged': ['not judged', 'none', 'dim'],
};

function trafficRow({ answer, timeline }: Report, pen: Pen): RankedRow {
  const { judgement, reason } = answer.traffic;
  const [text, symbol, ink] = trafficSigns[judgement];
  const head = `${pen.symbol(symbol)} ${text}${isUnmeasured(judgement, timeline.probes) ? ', not measured' : ''}: `;
  return { label: 'traffic', ...cutRow(piece(ink, head), reason), rank: 0 };
}

/** No probe sent requests (`--probe`), so it is unknown whether one was lost. */
export const isUnmeasured = (judgement: string, probes: readonly unknown[]): boolean =>
  judgement === 'at-risk' && probes.length === 0;

/** A sentence after its head, and its shorter forms: the parts after the first are details. */
function cutRow(head: Piece, sentence: string): Pick<RankedRow, 'pieces' | 'brief'> {
  return {
    pieces: [head, plain(forTerminal(sentence, 1000))],
    brief: shortForms(sentence).map((pieces) => [head, ...pieces]),
  };
}

/** The sentence, the sentence without its last part or aside, without its last two, … */
function shortened(text: string): string[] {
  const end = Math.max(...[' · ', '; ', ', ', ' ('].map((sign) => text.lastIndexOf(sign)));
  return end <= 0 ? [text] : [text, ...shortened(text.slice(0, end))];
}

/** Results of `--probe`. Failed requests to the pod itself (`--probe pod`) are not lost traffic. */
function requestRows({ timeline, verdict }: Report, pen: Pen): RankedRow[] {
  const race = verdict.findings.find(({ code }) => code === 'drain-race')?.clause;
  return timeline.probes.slice(0, 2).map((probe) => {
    const look = probe.failed === 0 ? 'good' : 'bad';
    const head = probe.via === 'pod-proxy' ? [] : [piece(look, `${pen.symbol(look)} `)];
    const text = `${requestsText(timeline, probe, race)} · ${forTerminal(probe.target, 60)}`;
    const forms = shortened(forTerminal(text, 1000)).filter((form) => !/^\d+ sent$/.test(form));
    const [pieces = [], ...brief] = forms.map((form) => [...head, plain(form)]);
    return { label: 'requests', pieces, brief, rank: 0 };
  });
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

/** What to run next if the deletion was not observed to its end. */
function nextRows({ timeline, verdict: { outcome, exitCode } }: Report, flags = ''): RankedRow[] {
  const { pod, mode, marks } = timeline;
  const name = `${pod.metadata.name} -n ${pod.metadata.namespace ?? ''}${flags}`;
  const next = (reason: string, command: string): RankedRow[] => [
    { ...textRow('next', reason, 2), command: forTerminal(command, 1000) },
  ];
  // Exit codes of 128 and above: a signal interrupted podexit.
  const wasInterrupted = exitCode >= 128;
  if (outcome === 'not-started' && !wasInterrupted) {
    if (isFinished(pod)) return next('nobody deleted it; its status says more', `kubectl describe pod ${name}`);
    // A plain deletion would not respect the PodDisruptionBudget.
    if (mode === 'evict')
      return next('the eviction was refused; retry with', `kubectl podexit ${name} --evict --retry-evict`);
    return next('nobody deleted it; to wait again, run', `kubectl podexit ${name} --attach`);
  }
  if (mode === 'check' || marks.some((mark) => mark.name === 'removed')) return [];
  if (outcome === 'stuck' || outcome === 'not-started' || (outcome === 'unknown' && wasInterrupted))
    return next('the pod is still there; resume with', `kubectl podexit ${name} --attach`);
  return outcome === 'unknown' ? next('see whether it is still there', `kubectl get pod ${name}`) : [];
}
