/**
 * The live view of several pods: a table with a row for each pod that is still terminating, and one line that counts the
 * ended ones. The frame is a pure function of the state, the time (ms, client's clock) and the window.
 */
import { isStillRunning, killDueIn, durationText, nodeTrouble, liveStatus } from './status.ts';
import type { Timeline } from '../../infer/timeline.ts';
import { shareText } from '../../verdict/length-text.ts';
import { graceMs } from '../../verdict/rule-input.ts';
import { shareInk } from '../mark-text.ts';
import type { FrameWindow } from './frame.ts';
import { penFor, type Ink, type Pen } from '../palette.ts';
import { clipPieces, dim, padTo, piece, plain, shorten, textWidth, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import type { Line } from './screen.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { createPainting, type TerminalOptions } from './live.ts';
import { endedPodLines, rolloutCardLines } from './rollout-card.ts';

/** At most `rows` - 1 lines, each narrower than `columns`. */
function rolloutFrame(state: RolloutState, now: number, { columns, rows, pen, flags = '' }: FrameWindow): Line[] {
  const [width, room] = [columns - 1, rows - 1];
  if (room < 1 || width < 1) return [];
  const ended = state.pods.flatMap(({ report }) => report ?? []);
  const open = state.pods.filter(({ report }) => report === undefined);
  const trouble = open.flatMap(({ timeline }) => nodeTrouble(timeline, now, flags).slice(0, 1))[0];
  const fixed = 2 + (trouble === undefined ? 0 : 1) + (ended.length > 0 ? 1 : 0);
  // Oldest deletions first: those pods end next, or hang.
  const shown = open.slice(0, Math.max(0, room - fixed - (open.length > room - fixed ? 1 : 0)));
  const rowsOfTable = shown.map((pod) => rowOf(pod, now));
  const lines: Piece[][] = [
    topLine(state, now),
    ...(trouble === undefined ? [] : [[piece('bad', `  ${pen.symbol('bad')} ${forTerminal(trouble)}`)]]),
    ...(ended.length > 0 ? [endedLine(ended)] : []),
    ...(shown.length > 0 ? tableLines(pen, rowsOfTable, width) : []),
    ...(open.length > shown.length ? [[dim(`  … ${open.length - shown.length} more terminating`)]] : []),
  ];
  return lines.slice(0, room).map((line) => clipPieces(pen, line, width));
}

/** `shop deployment/checkout · 3 of 6 terminated · 0:21` */
function topLine({ target, namespace, pods }: RolloutState, now: number): Piece[] {
  const done = pods.filter(({ report }) => report !== undefined).length;
  const start = Math.min(now, ...pods.map(({ timeline }) => timeline.zero));
  const facts = [
    pods.length === 0 ? 'waiting for a pod to be deleted' : `${done} of ${pods.length} terminated`,
    ...(pods.length > 0 ? [durationText(now - start)] : []),
  ];
  return [piece('strong', forTerminal(`${namespace} ${target}`)), ...facts.map((fact) => plain(` · ${fact}`))];
}

/** `  12 ended: 11 graceful, 1 SIGKILLed` */
function endedLine(ended: readonly Report[]): Piece[] {
  const words = ended.map(({ answer }) => answer.word);
  const counts = [...new Set(words)].map((word) => `${words.filter((one) => one === word).length} ${word}`);
  const isGood = ended.every(({ verdict }) => verdict.exitCode === 0);
  return [plain('  ended  '), piece(isGood ? 'good' : 'bad', forTerminal(counts.join(', ')))];
}

interface Row {
  readonly cells: readonly string[];
  readonly ink: Ink;
}

const columnTitles = ['POD', 'AGE OF DELETION', 'PHASE', 'GRACE USED', 'SIGKILL IN', 'RESULT'];

function rowOf({ timeline }: RolloutPod, now: number): Row {
  const grace = graceMs(timeline);
  const running = timeline.containers.filter(isStillRunning);
  const since = timeline.marks.find(({ name }) => name === 'acknowledged' || name === 'stopping')?.at.shown;
  const share = since === undefined ? 0 : Math.max(0, now - since) / grace;
  const left = killDueIn(timeline, now);
  const exits = timeline.containers.flatMap(({ exit }) => (exit?.code === undefined ? [] : [exit.code]));
  return {
    cells: [
      timeline.pod.metadata.name,
      durationText(now - timeline.zero),
      stepOf(timeline, now),
      running.length > 0 && since !== undefined ? shareText({ min: share, max: share, shown: share }, grace) : '–',
      left === undefined ? '–' : left <= 0 ? 'due' : `${Math.ceil(left / 1000)}s`,
      running.length === 0 && exits.length > 0 ? `exit ${Math.max(...exits)}` : '',
    ],
    ink: running.length > 0 ? shareInk(share) : 'plain',
  };
}

/** What the pod is doing, in a word or two. */
function stepOf(timeline: Timeline, now: number): string {
  const has = (name: string): boolean => timeline.marks.some((mark) => mark.name === name);
  if (has('removed')) return 'deleted';
  if (has('finalizing')) return 'finalizers';
  if (has('containers-done')) return 'cleanup';
  const running = timeline.containers.filter(isStillRunning);
  if (running.some(({ stopSignal }) => stopSignal && stopSignal.shown <= now)) return 'draining';
  if (running.some(({ preStop }) => preStop !== undefined && preStop.end === undefined)) return 'preStop';
  if (running.length === 0 && timeline.containers.some(({ exit }) => exit !== undefined)) return 'exited';
  return has('acknowledged') || has('stopping') ? 'stopping' : liveStatus(timeline, now).word;
}

function tableLines(pen: Pen, rows: readonly Row[], width: number): Piece[][] {
  const narrow = width < 90;
  const heads = narrow ? ['POD', 'AGE', 'PHASE', 'GRACE', 'SIGKILL', 'RESULT'] : columnTitles;
  const wide = heads.map((title, at) => Math.max(title.length, ...rows.map(({ cells }) => textWidth(cells[at] ?? ''))));
  const rest = wide.slice(1).reduce((sum, columns) => sum + columns + 2, 2);
  wide[0] = Math.min(wide[0] ?? 0, Math.max(8, width - rest));
  const line = (cells: readonly string[], ink: Ink): Piece[] => [
    plain('  '),
    ...cells.map((cell, at) =>
      piece(ink, `${padTo(at === 0 ? shorten(pen, forTerminal(cell), wide[0] ?? 0) : cell, wide[at] ?? 0)}  `),
    ),
  ];
  return [line(heads, 'dim'), ...rows.map(({ cells, ink }) => line(cells, ink))];
}

/** One pod of the run. `report` is present once the pod has ended, or the run has. */
interface RolloutPod {
  readonly timeline: Timeline;
  readonly report?: Report;
}

/** All that the live table is drawn from, after each observation. */
interface RolloutState {
  /** `deployment/checkout`, `-l app=checkout`. */
  readonly target: string;
  readonly namespace: string;
  /** Every pod whose deletion was seen, in the order in which their deletions began. */
  readonly pods: readonly RolloutPod[];
}

export function createRolloutLive(options: TerminalOptions) {
  const { columns, rows, clock, timestamps, flags } = options;
  const pen = penFor(options.style);
  let state: (() => RolloutState) | undefined;
  const { add, leave, ...painting } = createPainting(options, pen, () =>
    state ? rolloutFrame(state(), clock.now(), { columns: columns(), rows: rows(), pen, flags }) : [],
  );
  return {
    ...painting,
    /** Requests a repaint of the table, which then calls `next`. */
    show: (next: () => RolloutState) => {
      state = next;
      add([]);
    },
    /** Prints a pod with a bad exit code above the table; others, and those that Ctrl-C left behind, are only counted. */
    ended: (report: Report) => {
      const { exitCode } = report.verdict;
      if (exitCode !== 0 && exitCode <= 128) add(endedPodLines(pen, report, timestamps, columns()));
    },
    /** Replaces the table by the card. */
    end: (numbers: RolloutNumbers) => leave(rolloutCardLines(numbers, { pen, columns: columns(), flags })),
    /** Restores the terminal, whatever happened; may be called more than once. */
    close: () => leave([]),
  };
}
