/** The verdict in prose: the outcome, what used the grace, then the findings with evidence and one thing to do. */
import type { ExitReport, Finding, Gate, Outcome, Severity } from '../model/report.ts';
import { togetherWith } from '../model/trace.ts';
import { millis } from './offsets.ts';
import { longestName } from './mark-line.ts';
import { arrivedAt, signed } from './moments.ts';
import { containerStory } from './container-story.ts';
import { deletedBy, exitCodeWords, gateWord, goOn, outcomeSentence, outcomeWord } from './outcome-text.ts';
import type { Ink, Pen, SymbolName } from './palette.ts';
import { dim, flow, padTo, piece, plain, shorten, textWidth } from './prose.ts';
import { forTerminal } from './safe-text.ts';

/** Where a verdict is shown. */
export interface VerdictPlace {
  /** ms, what offsets count from. */
  readonly zero: number;
  /** Columns. */
  readonly width: number;
  /** Connection flags behind a command that is advised, each with a blank before it. */
  readonly reach?: string | undefined;
}

/** Lines of at most `width` columns, indented by two. */
export function verdictLines(pen: Pen, report: ExitReport, { zero, width, reach = '' }: VerdictPlace): string[] {
  const { verdict } = report;
  const grave = verdict.findings.map((finding) => findingLines(pen, report, finding, zero, width));
  const blocks = [
    outcomeLines(pen, report, { width, reach }),
    storyLines(pen, report, width),
    ...grave,
    verdict.gates.flatMap((gate) => gateLines(pen, gate, width)),
    footnotes(pen, report, zero, width),
  ];
  return blocks.filter((block) => block.length > 0).flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

const outcomeLooks: Record<Outcome, [SymbolName, Ink]> = {
  graceful: ['good', 'good'],
  removed: ['good', 'good'],
  killed: ['bad', 'bad'],
  failed: ['bad', 'bad'],
  oom: ['bad', 'bad'],
  overran: ['bad', 'bad'],
  forced: ['bad', 'bad'],
  stuck: ['warning', 'warning'],
  unknown: ['unknown', 'warning'],
  'not-started': ['unknown', 'warning'],
};

function outcomeLines(pen: Pen, report: ExitReport, { width, reach }: { width: number; reach: string }): string[] {
  const { verdict, mode } = report;
  const [symbol, ink] = mode === 'check' ? (['info', 'info'] as const) : outcomeLooks[verdict.outcome];
  const code = verdict.exitCode === 0 ? [] : [dim(` Exit code ${forTerminal(exitCodeWords(report))}.`)];
  const next = goOn(report, reach);
  return [
    ...flow(
      pen,
      [
        plain('  '),
        piece(ink, `${pen.symbol(symbol)} `),
        piece(ink, `${outcomeWord(report)}: `),
        piece('strong', forTerminal(outcomeSentence(report))),
        ...code,
      ],
      { width, hang: 4 },
    ),
    ...(next === undefined ? [] : nextLines(pen, next, { width, hang: 6 })),
  ];
}

const nextLines = (pen: Pen, text: string, layout: { width: number; hang: number }): string[] =>
  flow(pen, [plain('    '), piece('accent', `${pen.symbol('next')} `), plain(forTerminal(text, 1000))], layout);

const nameRoom = (width: number): number =>
  width === Infinity ? longestName : Math.max(8, Math.min(24, Math.floor(width / 4)));

/** Who deleted it, and each container's way to its end. */
function storyLines(pen: Pen, report: ExitReport, width: number): string[] {
  const { trigger, mode, containers } = report;
  const whom = trigger.kind === 'this-command' ? undefined : deletedBy(report);
  const by =
    whom === undefined ? [] : [{ name: 'deleted by', text: trigger.kind === 'unknown' ? 'an unknown client' : whom }];
  const ran =
    mode === 'check' ? [] : containers.filter(({ kind, outcome }) => outcome !== 'not-running' || kind === 'container');
  const rows = [...by, ...ran.map((one) => ({ name: one.name, text: containerStory(report, one) }))];
  const names = rows.map(({ name }) => shorten(pen, forTerminal(name), nameRoom(width)));
  const wide = Math.max(0, ...names.map(textWidth));
  return rows.flatMap(({ text }, index) =>
    flow(
      pen,
      [plain('    '), piece('accent', padTo(names[index] ?? '', wide)), plain('  '), plain(forTerminal(text))],
      {
        width,
        hang: wide + 6,
      },
    ),
  );
}

const severityLooks: Record<Severity, [SymbolName, Ink]> = {
  error: ['bad', 'bad'],
  warning: ['warning', 'warning'],
  info: ['info', 'info'],
};

function findingLines(pen: Pen, report: ExitReport, finding: Finding, zero: number, width: number): string[] {
  const { code, severity, message, advice } = finding;
  const [symbol, ink] = severityLooks[severity];
  const evidence = evidenceText(report, finding, zero);
  const layout = { width, hang: 6 };
  return [
    ...flow(
      pen,
      [
        plain('  '),
        piece(ink, `${pen.symbol(symbol)} ${severity} `),
        piece('strong', `${code}: `),
        plain(sentence(forTerminal(message, 1000))),
      ],
      { width, hang: 4 },
    ),
    ...(evidence === undefined ? [] : flow(pen, [dim(`    ${evidence}`)], layout)),
    ...(advice === undefined ? [] : nextLines(pen, advice, layout)),
  ];
}

const sentence = (text: string): string => (/[.!?\u2026]$/.test(text) ? text : `${text}.`);

/** How many of the cited observations are told; the report has them all. */
const told = 3;

/**
 * `seen at +0.018 slice checkout-h79lm: ready false; +0.014 Event Killing about app`. The last ones tell the most. A check
 * has no deletion that its offsets could count from.
 */
function evidenceText(
  { observations, marks, mode }: ExitReport,
  { evidence, message }: Finding,
  zero: number,
): string | undefined {
  const cited = observations.filter(({ seq }) => evidence.includes(seq));
  if (cited.length === 0) return undefined;
  // What we sent ourselves did not arrive: it is told, as its mark is, when it left.
  const sent = marks.find(({ name }) => name === 'requested')?.at.evidence ?? [];
  const shown = cited.slice(-told).map(({ seq, at, what }) => {
    const time = millis(at);
    const offset = time === undefined ? '?' : signed(((sent.includes(seq) ? time : arrivedAt(time)) - zero) / 1000, 3);
    return `${mode === 'check' ? '' : `${offset} `}${forTerminal(factAbout(what, message), 120)}`;
  });
  const rest = cited.length - shown.length;
  return `seen ${mode === 'check' ? 'in' : 'at'} ${[...shown, ...(rest > 0 ? [`${rest} more`] : [])].join('; ')}`;
}

/**
 * Of all that an observation told, the last that names something that the finding is about: a list has the Events of one object
 * in order of their names, which is that of their first occurrence. Else the first of it.
 */
function factAbout(what: string, message: string): string {
  const facts = what.split(togetherWith);
  const named = new Set(message.split(/[\s,.:;()]+/));
  const subjectOf = (fact: string): string => / about (\S+)/.exec(fact)?.[1] ?? fact.split(' ')[0] ?? '';
  return facts.findLast((fact) => named.has(subjectOf(fact))) ?? facts[0] ?? what;
}

const gateLooks = { passed: 'good', failed: 'bad', 'not judged': 'info' } as const;

function gateLines(pen: Pen, gate: Gate, width: number): string[] {
  const { name, message } = gate;
  const word = gateWord(gate);
  const look = gateLooks[word];
  return flow(
    pen,
    [
      plain('  '),
      piece(look, `${pen.symbol(look)} gate ${word} `),
      piece('strong', `${forTerminal(name)}: `),
      plain(forTerminal(message)),
    ],
    { width, hang: 4 },
  );
}

/** What was not seen, and what was assumed: a line each, if any. */
function footnotes(pen: Pen, { gaps, assumes, mode }: ExitReport, zero: number, width: number): string[] {
  const offset = (time: string | undefined): string => {
    const ms = time === undefined ? undefined : millis(time);
    return ms === undefined ? '' : signed((ms - zero) / 1000, 1);
  };
  const unseen = gaps.map(({ resource, cause, from, to }) => {
    const span = to === undefined ? `, from ${offset(from)}` : `, ${offset(from)} to ${offset(to)}`;
    return `${forTerminal(resource)} (${forTerminal(cause)}${mode === 'check' ? '' : span})`;
  });
  const assumed = assumes.map(({ name, seconds }) => `${forTerminal(name)} ${seconds}s`);
  const layout = { width, hang: 4 };
  return [
    ...(unseen.length > 0 ? flow(pen, [piece('warning', `  not seen: ${unseen.join(', ')}`)], layout) : []),
    ...(assumed.length > 0 ? flow(pen, [dim(`  assumes at most: ${assumed.join(', ')}`)], layout) : []),
  ];
}
