/**
 * The card that ends every run and every replay of one pod: the answer, a bar for each container against its grace
 * period, traffic, requests, accuracy, why, and what to change; the last line is the answer again, with what held the
 * pod. At most 20 lines, or 8 if all went well (the closing sentence as one), except for `alwaysKept` and `-v`.
 */
import { isMostlyUnmeasured } from '../../infer/probes.ts';
import { exitCodes, gateFailed } from '../../verdict/policy.ts';
import { warnsOfExit } from '../../verdict/finding.ts';
import { worstProbes, requestsText } from '../../verdict/loss.ts';
import { isFinished } from '../../model/pod.ts';
import type { Finding, FixReport, Severity } from '../../model/report.ts';
import type { Report } from '../../verdict/report.ts';
import type { TrafficGrade } from '../../verdict/traffic.ts';
import { barLines, cardLayout, exitRows, rowLines, sentenceRow, type CardLayout, type CardRow } from './card-rows.ts';
import type { Ink, Pen, SymbolName } from '../palette.ts';
import { closingText, deletedText, ownerText, podText } from '../pod-facts.ts';
import { dim, flow, piece, plain, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import type { LookOptions } from '../view.ts';

/** With `verbose` the card has all its rows. */
export interface CardOptions extends Partial<Pick<LookOptions, 'flags' | 'isDemo' | 'verbose'>> {
  readonly pen: Pen;
  /** Columns of the window; Infinity without a window. */
  readonly columns: number;
  /** Only the rows: the answer and the pod are said elsewhere. */
  readonly rowsOnly?: boolean;
}

export function cardLines(report: Report, options: CardOptions): string[] {
  const { pen } = options;
  const exits = exitRows(report);
  const rows = answerRows(report, options);
  const layout = cardLayout(pen, options.columns, [...exits, ...rows]);
  const icon = iconOf(report);
  const isGood = icon.symbol === 'good';
  const { word, headline } = report.answer;
  const answer = piece(icon.ink, `${pen.symbol(icon.symbol)} ${forTerminal(word)}`);
  const title = [answer, piece('strong', `  ${forTerminal(headline)}`)];
  const head = [...flow(pen, title, { width: layout.width, hang: 2 }), ...placeLine(report, layout)];
  const last = lastLines(options, icon, closingText(report));
  const blank = isGood ? [] : [''];
  // What a user asked to measure has two lines of its own.
  const linesIfGood = 8 + 2 * Math.min(maxRequestRows, report.timeline.probes.length);
  const lineLimit = options.verbose ? Infinity : isGood ? linesIfGood : 20;
  const room = lineLimit - head.length - (isGood ? 1 : last.length) - 2 * blank.length;
  const bars = barLines(exits, layout, options.verbose ? Infinity : isGood ? 2 : 6, room - 2);
  const body = [...bars, ...fitRows(rows, layout, room - bars.length)];
  return options.rowsOnly ? body : [...head, ...blank, ...body, ...blank, ...last];
}

/** The rows that are kept first if there is no room for all. */
const importance = ['traffic', 'requests', 'gate', 'why', 'next', 'fix', 'also', 'accuracy', 'details'];

/** Rows to which the limit of lines yields. */
const alwaysKept: readonly string[] = ['traffic', 'requests', 'fix'];

/** Keeps the order. */
function fitRows(rows: readonly CardRow[], layout: CardLayout, room: number): string[] {
  const kept = new Map<CardRow, string[]>();
  let left = room;
  const rank = ({ label }: CardRow): number => importance.indexOf(label);
  for (const row of [...rows].sort((a, b) => rank(a) - rank(b))) {
    const lines = rowLines(layout, row);
    if (lines.length > left && !alwaysKept.includes(row.label)) continue;
    kept.set(row, lines);
    if (row.label !== 'fix') left -= lines.length;
  }
  return rows.flatMap((row) => kept.get(row) ?? []);
}

export interface Icon {
  readonly symbol: SymbolName;
  readonly ink: 'good' | 'bad' | 'warning';
}

type Judged = Pick<Report['verdict'], 'exitCode' | 'outcome'> & Partial<Pick<Report['verdict'], 'findings'>>;

/** As scripts see it, by the exit code: only 0 gets a green tick, unless something about the exit is to be mended. */
export function iconOf({ verdict: { exitCode, outcome, findings = [] } }: { readonly verdict: Judged }): Icon {
  const look = (symbol: Icon['ink']): Icon => ({ symbol, ink: symbol });
  if (exitCode === 0) return look(warnsOfExit(findings) ? 'warning' : 'good');
  if (outcome === 'not-started' && exitCode === exitCodes[outcome]) return { symbol: 'none', ink: 'warning' };
  const isBad = [exitCodes.failed, exitCodes.stuck, gateFailed].includes(exitCode);
  return isBad ? look('bad') : { symbol: 'unknown', ink: 'warning' };
}

/** The answer again. Without a window it is a single line, whatever its length: `| tail -1` prints all of it. */
export const lastLines = ({ pen, columns }: CardOptions, { symbol, ink }: Icon, sentence: string): string[] =>
  flow(pen, [piece(ink, pen.symbol(symbol)), plain(` ${forTerminal(sentence, 1000)}`)], { width: columns, hang: 2 });

/** `shop/checkout-6677656c54-258qr · deployment/checkout · gone after 6.9s` */
function placeLine(report: Report, { pen, width }: CardLayout): string[] {
  const { timeline } = report;
  const place = [podText(timeline), ownerText(timeline)].flatMap((fact) => (fact ? forTerminal(fact) : []));
  const deleted = deletedText(report);
  const end = plain(deleted === undefined ? '' : ` · ${forTerminal(deleted)}`);
  return flow(pen, [plain('  '), dim(place.join(' · ')), end], { width, hang: 2 });
}

/** The rows below those of the containers. */
export function answerRows(
  report: Report,
  { pen, flags = '', verbose = false, isDemo = false }: CardOptions,
): CardRow[] {
  const { answer, verdict } = report;
  const isGood = iconOf(report).symbol === 'good';
  const traffic = trafficSign(pen, answer.traffic.grade, report.timeline.probes.length > 0);
  const accuracy = verdict.findings.filter(({ code }) => code === 'evidence-lost');
  const failedGates = verdict.gates.filter(({ passed, message }) => !passed && !answer.headline.includes(message));
  return [
    ...answer.also.slice(0, 2).map((finding) => findingRow('also', finding, pen)),
    sentenceRow('traffic', answer.traffic.reason, [piece(traffic.ink, `${traffic.text}: `)]),
    ...requestRows(report, pen),
    ...accuracy.map((finding) => findingRow('accuracy', finding, pen)),
    ...failedGates.map(({ message }) => ({ label: 'gate', pieces: [piece('bad', forTerminal(message))] })),
    ...(answer.why === undefined ? [] : [sentenceRow('why', answer.why)]),
    ...(isDemo ? [] : nextRows(report, flags)),
    ...answer.advice.map((text) => sentenceRow('fix', text)),
    ...answer.fix.map((fix) => {
      const text = `${answer.advice.length > 0 ? 'and ' : ''}${fix.reason}`;
      const command = isGood && !verbose ? (commandOf(fix, report) ?? fix.command) : fix.command;
      return sentenceRow('fix', text, [], `${command}${flags}`);
    }),
    ...(isGood ? [] : detailsRow(report)),
  ];
}

/** The short command for a patch that the spec alone shows: its hook. */
function commandOf({ target, patch }: FixReport, { timeline: { pod } }: Report): string | undefined {
  if (!JSON.stringify(patch).includes('"preStop"')) return undefined;
  return `kubectl podexit fix ${target.kind.toLowerCase()}/${target.name} -n ${pod.metadata.namespace ?? 'default'}`;
}

const signOf = (pen: Pen, symbol: SymbolName, ink: Ink): Piece => piece(ink, `${pen.symbol(symbol)} `);

const severitySigns: Record<Severity, readonly [SymbolName, Ink]> = {
  error: ['bad', 'bad'],
  warning: ['warning', 'warning'],
  info: ['info', 'dim'],
};

const findingRow = (label: string, { severity, message }: Finding, pen: Pen): CardRow =>
  sentenceRow(label, message, [signOf(pen, ...severitySigns[severity])]);

const trafficInks = { safe: 'good', outage: 'warning', misrouted: 'warning', lost: 'bad' } as const;

/** Without a probe (`--probe`) it is unknown whether a request failed. */
export function trafficSign(pen: Pen, grade: TrafficGrade, isProbed: boolean): Piece {
  if (grade === 'not-judged') return dim(`${pen.symbol('none')} not judged`);
  if (grade === 'race') return dim(isProbed ? 'requests at risk' : 'not measured (add --probe), at risk');
  const look = trafficInks[grade];
  return piece(look, `${pen.symbol(look)} ${grade}`);
}

const maxRequestRows = 2;

/** Results of `--probe`, without what the traffic row tells. Failed requests to the pod itself are not lost traffic. */
function requestRows({ timeline, verdict, answer }: Report, pen: Pen): CardRow[] {
  const race = verdict.findings.find(({ code }) => code === 'drain-race')?.clause;
  const shown = worstProbes(timeline.probes, maxRequestRows);
  return shown.slice(answer.traffic.grade === 'lost' ? 1 : 0).map((probe) => {
    const look = probe.failed > 0 ? 'bad' : isMostlyUnmeasured(probe) ? 'warning' : 'good';
    const head = probe.via === 'pod-proxy' ? [] : [signOf(pen, look, look)];
    const target = timeline.probes.length === 1 ? ` · ${probe.target.slice(0, 60)}` : '';
    return sentenceRow('requests', requestsText(timeline, probe, race) + target, head);
  });
}

function detailsRow({ answer, verdict: { findings, gates } }: Report): CardRow[] {
  // `fail-on drain-race`.
  const failed = /\S+$/.exec(gates.find(({ passed }) => !passed)?.name ?? '')?.[0];
  const code = answer.cause?.code ?? failed ?? findings[0]?.code;
  if (code === undefined) return [];
  return [{ label: 'details', pieces: [dim(`kubectl podexit explain ${code} · -v shows the evidence`)] }];
}

/** What to run next if the deletion was not observed to its end. */
function nextRows({ timeline, verdict: { outcome, exitCode } }: Report, flags: string): CardRow[] {
  const { pod, mode, marks } = timeline;
  const name = `${pod.metadata.name} -n ${pod.metadata.namespace ?? ''}${flags}`;
  const next = (reason: string, command: string): CardRow[] => [sentenceRow('next', reason, [], command)];
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
  return exitCode === exitCodes.unknown
    ? next('see whether it is still there', `kubectl get pod ${name}`)
    : next('the pod is still there; resume with', `kubectl podexit ${name} --attach`);
}
