/** All that is known of an exit, as tables: `-v`, HTML and Markdown print the same ones. Unescaped. */
import type { Interval, Phase, Timeline } from '../infer/timeline.ts';
import { assumptions } from '../model/assumptions.ts';
import { allNotes } from '../model/trace.ts';
import { lengthText, secondsText, shareText } from '../verdict/words.ts';
import { totalText } from '../verdict/headline.ts';
import type { Report } from '../verdict/report.ts';
import { graceMs, shareOfGrace } from '../verdict/rule-input.ts';
import { exitText, markText } from './mark-text.ts';
import { boundsText, clockText, offsetText, signed } from './time-text.ts';

/** Text, or the `seq`s of the observations that prove something. */
export type Cell = string | readonly number[];

export interface ReportTable {
  readonly title: string;
  /** `#` before a title: the column has numbers; a backtick: it has names. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Without those that have no rows. `marks` and `observations` are left out where other lines show them. */
export const tablesOf = (report: Report): ReportTable[] =>
  [ledger, findings, marks, phases, accuracy, observations]
    .map((table) => table(report))
    .filter(({ rows }) => rows.length > 0);

/** Who held up the deletion, in the order of time. */
const ledger = ({ ledger: entries }: Report): ReportTable => ({
  title: 'Who held it up',
  columns: ['#length', 'owner', 'what'],
  rows: entries.map(({ owner, subject = '', what, seconds, approximate }) => [
    approximate ? `≈${secondsText(seconds * 1000, 1)}` : secondsText(seconds * 1000, 2),
    owner,
    `${subject} ${what}`.trim(),
  ]),
});

function findings({ verdict }: Report): ReportTable {
  const found = verdict.findings.map(({ code, severity, message, advice, evidence }) => [
    code,
    severity,
    advice === undefined ? message : `${message}. ${advice}`,
    evidence,
  ]);
  const gates = verdict.gates.map(({ name, judged, passed, message }) => [
    `gate ${name}`,
    judged === false ? 'not judged' : passed ? 'passed' : 'failed',
    message,
    [],
  ]);
  return { title: 'Findings', columns: ['`code', 'severity', 'what', 'evidence'], rows: [...found, ...gates] };
}

const marks = ({ timeline }: Report): ReportTable => ({
  title: 'Every moment',
  columns: ['#offset', '`who', 'what', 'basis', '#lies within', 'evidence'],
  rows: timeline.marks.map((mark) => {
    const { who, text } = markText(mark, timeline);
    const { basis, evidence } = mark.at;
    return [offset(mark.at, timeline), who, text, basis, boundsText(mark.at, timeline.zero), evidence];
  }),
});

const phases = ({ timeline }: Report): ReportTable => ({
  title: 'Phases',
  columns: ['phase', '`of', '#from', '#until', '#length', '#of the grace period'],
  rows: timeline.phases.map((phase) => [
    phaseTitles[phase.name],
    phase.subject ?? '',
    boundsText(phase.start, timeline.zero),
    boundsText(phase.end, timeline.zero),
    lengthText(phase.length),
    graceShareText(phase, timeline),
  ]),
});

function accuracy({ timeline: { gaps, assumes, clocks, contradictions, zero } }: Report): ReportTable {
  const after = (at: number): string => `${signed(at - zero, 1)}s`;
  const clock = (name: string, range: { min: number; max: number } | undefined): string[][] =>
    range
      ? [[`clock of the ${name}`, `${Math.floor(range.min)} to ${Math.ceil(range.max)} ms ahead of this machine’s`]]
      : [];
  const rows = [
    ...gaps.map(({ resource, cause, from, to }) => [
      `gap: ${resource}`,
      `${cause}, from ${after(from)}${to === undefined ? '' : ` to ${after(to)}`}`,
    ]),
    ...contradictions.map(({ about, because }) => [
      `not believed: ${about}`,
      `other evidence contradicts it: ${because}`,
    ]),
    ...clock('API server', clocks.api),
    ...clock('node', clocks.node),
    ...assumes.map((name) => [`assumption: ${name}`, `at most ${assumptions[name]}s`]),
  ];
  return { title: 'Accuracy', columns: ['what', 'how much'], rows };
}

const observations = ({ timeline }: Report): ReportTable => ({
  title: 'Observations',
  columns: ['#no.', 'arrived (UTC)', 'what'],
  rows: allNotes(timeline.notes).map(({ seq, at, what }) => [String(seq), clockText(at, 3, 'utc'), what]),
});

/** The pods of a run, in the order of their deletions. */
export const podsTable = (reports: readonly Report[]): ReportTable => ({
  title: 'Pods',
  columns: ['`pod', 'result', '#deleted (UTC)', '#total', '#stop signal to exit', 'containers', 'summary'],
  rows: byTime(reports).map(({ timeline, answer }) => [
    timeline.pod.metadata.name,
    answer.word,
    clockText(timeline.zero, 1, 'utc'),
    totalText(timeline) ?? '–',
    drainText(timeline),
    timeline.containers.map((container) => `${container.name} ${exitText(container)}`).join(', '),
    answer.summary,
  ]),
});

export const byTime = (reports: readonly Report[]): Report[] =>
  [...reports].sort((a, b) => a.timeline.zero - b.timeline.zero);

function drainText({ phases: all }: Timeline): string {
  const drains = all.filter(({ name }) => name === 'drain').sort((a, b) => b.length.max - a.length.max);
  return drains[0] ? lengthText(drains[0].length) : '–';
}

const offset = (at: Interval, { zero }: Timeline): string => `${offsetText(at, zero)}s`;

export const phaseTitles: Record<Phase['name'], string> = {
  accept: 'API accepted',
  notice: 'kubelet reacted',
  'route-removal': 'endpoint removed',
  prestop: 'preStop',
  'sidecar-wait': 'sidecar waited',
  drain: 'shutdown',
  overtime: 'past grace period',
  cleanup: 'cleanup',
  finalize: 'finalizers',
  replace: 'until replacement ready',
};

/** The phase's share of the grace period; empty for a phase that does not use up a container's. */
export const graceShareText = ({ name, length }: Phase, timeline: Timeline): string =>
  ['prestop', 'sidecar-wait', 'drain'].includes(name)
    ? shareText(shareOfGrace(timeline, length), graceMs(timeline))
    : '';
