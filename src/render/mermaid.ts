/** The timeline as a Mermaid gantt, which GitHub and GitLab draw inside Markdown. */
import type { ExitReport, Instant, Mark, MarkName, Phase } from '../model/report.ts';
import { deadlineOf, graceWindow } from './grace-window.ts';
import type { Lane } from './lanes.ts';
import { lanesOf } from './lanes.ts';
import { offsetRange } from './offsets.ts';
import { forMermaid } from './safe-text.ts';
import type { Shown } from './shown.ts';
import { shownIn } from './shown.ts';

/**
 * The diagram without its fence. The axis counts seconds of the Unix epoch (`%s`), the one d3 format that no reader's time
 * zone can shift.
 */
export function renderMermaid(report: ExitReport): string {
  const zero = mermaidZero(report);
  const lines = sectionsOf(report).flatMap(({ title, tasks }) => [
    `  section ${title}`,
    ...tasks.map((task) => taskLine(task, zero)),
  ]);
  return ['gantt', '  dateFormat x', '  axisFormat %s s', '  todayMarker off', ...lines, ''].join('\n');
}

/**
 * Where on the diagram's axis the zero of all offsets stands, in whole seconds: Mermaid reads digits only, so that nothing
 * can lie before its own 0.
 */
export function mermaidZero(report: ExitReport): number {
  const moments = sectionsOf(report).flatMap(({ tasks }) => tasks.map(({ from }) => from));
  return Math.ceil(-moments.reduce((low, moment) => Math.min(low, moment), 0));
}

interface Section {
  readonly title: string;
  readonly tasks: readonly Task[];
}

/** Seconds after the zero; without an end a milestone. */
interface Task {
  readonly name: string;
  readonly state?: 'crit' | 'done' | 'active';
  readonly from: number;
  readonly to?: number;
}

function sectionsOf(report: ExitReport): Section[] {
  const shown = shownIn(report);
  const sections = [...lanesOf(report).map((lane) => laneSection(shown, lane)), graceSection(report)];
  return sections.filter(({ tasks }) => tasks.length > 0);
}

/** Milliseconds, none of them negative. */
function taskLine({ name, state, from, to }: Task, zero: number): string {
  const ms = (seconds: number): number => Math.max(0, Math.round((seconds + zero) * 1000));
  const end = to === undefined ? ms(from) : Math.max(ms(to), ms(from) + 1);
  const words = [...(state ? [state] : []), ...(to === undefined ? ['milestone'] : [])];
  return `  ${name} :${[...words, ms(from), end].join(', ')}`;
}

/** The few moments worth a diamond; the rest is in the table of marks. */
const milestones: readonly MarkName[] = ['stop-signal', 'kill', 'exited', 'unrouted', 'removed', 'replacement-ready'];

function laneSection(shown: Shown, { kind, name, phases, marks }: Lane): Section {
  const tasks = [
    ...phases.flatMap((phase) => bar(shown, phase)),
    ...marks.filter((mark) => milestones.includes(mark.name)).flatMap((mark) => diamond(shown, mark)),
  ];
  return { title: `${kind} ${forMermaid(name)}`, tasks };
}

function bar(shown: Shown, { name, subject, start, end }: Phase): Task[] {
  if (!isTold(start) || !isTold(end)) return [];
  const isSeen = start.basis === 'observed' && end.basis === 'observed';
  const state = name === 'overtime' ? 'crit' : isSeen ? 'done' : 'active';
  return [{ name, state, from: shown.at(start, subject), to: shown.at(end, subject) }];
}

const diamond = (shown: Shown, { name, subject, at }: Mark): Task[] =>
  isTold(at) ? [{ name, ...(name === 'kill' ? { state: 'crit' } : {}), from: shown.at(at, subject) }] : [];

const isTold = (instant: Instant): boolean => offsetRange(0, instant) !== undefined;

/** What the API announced, and what the kubelet gives. */
function graceSection(report: ExitReport): Section {
  const [deadline, grace] = [deadlineOf(report), graceWindow(report)?.shown];
  return {
    title: 'grace',
    tasks: [
      ...(deadline === undefined || deadline < 0 ? [] : [{ name: 'deadline', state: 'crit' as const, from: deadline }]),
      ...(grace === undefined
        ? []
        : [{ name: 'kubelet-grace', state: 'active' as const, from: grace.min, to: grace.max }]),
    ],
  };
}
