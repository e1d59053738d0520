/**
 * The live view of several pods: a row for each pod that is still terminating, and one line that counts the ended ones;
 * below them the pods that take their place, and the ready endpoints of each Service. The frame is a pure function of the
 * state, the time (ms, client's clock) and the window.
 */
import { isStillRunning, killDueIn, durationText, nodeTrouble, liveStatus } from './status.ts';
import type { Timeline } from '../../infer/timeline.ts';
import { shareText } from '../../verdict/length-text.ts';
import { graceMs, markOf } from '../../verdict/rule-input.ts';
import { plural } from '../../verdict/words.ts';
import { shareInk } from '../mark-text.ts';
import type { FrameWindow } from './frame.ts';
import { dim, liveTable, piece, plain, type Piece, type TableRow } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { createPainting } from './screen.ts';
import type { ViewOptions } from '../view.ts';
import type { NewPod, RolloutFacts, ServiceCounts } from './rollout-facts.ts';
import { endedPodLines, rolloutCardLines } from './rollout-card.ts';

function rolloutFrame(state: RolloutState, now: number, window: FrameWindow): Piece[][] {
  const { columns: width, rows: room, pen, flags = '' } = window;
  const ended = state.pods.flatMap(({ report }) => report ?? []);
  const open = state.pods.filter((pod) => !isGone(pod));
  const trouble = open.flatMap(({ timeline }) => nodeTrouble(timeline, now, flags).slice(0, 1))[0];
  const head: Piece[][] = [
    topLine(state, now),
    ...(trouble === undefined ? [] : [[piece('bad', `  ${pen.symbol('bad')} ${forTerminal(trouble)}`)]]),
    ...(ended.length > 0 ? [endedLine(ended)] : []),
    ...[...state.held].slice(0, 3).map(([pod, why]) => [piece('warning', `  ${forTerminal(`${pod}: ${why}`)}`)]),
  ];
  const table = (titles: readonly string[], own: readonly TableRow[]): Piece[][] => liveTable(pen, titles, own, width);
  const services = table(['SERVICE', 'READY', 'FEWEST', 'WANTED'], state.services.slice(0, 3).map(serviceRow));
  // Those that are not ready yet are worth a row most.
  const newPods = [...state.newPods].sort((a, b) => Number(a.isReady) - Number(b.isReady) || a.seenAt - b.seenAt);
  const space = Math.max(0, room - head.length - services.length);
  const spaceOfNew = newPods.length === 0 ? 0 : Math.min(newPods.length + 1, Math.max(2, Math.floor(space / 2)));
  const spaceOfOld = open.length === 0 ? 0 : Math.min(open.length + 1, space - spaceOfNew);
  /** As many as fit in `most` lines together with their titles, and a line that counts the rest. */
  const fitted = <T>(
    titles: readonly string[],
    pods: readonly T[],
    of: (pod: T, now: number) => TableRow,
    most: number,
    what: string,
  ) => {
    const shown = pods.length < most ? pods : pods.slice(0, Math.max(0, most - 2));
    const left = pods.length - shown.length;
    const rest = left > 0 && most > 0 ? [[dim(`  … ${left} more ${what}`)]] : [];
    const lines = shown.map((pod) => of(pod, now));
    return [...table(titles, lines), ...rest];
  };
  return [
    ...head,
    // Oldest deletions first: those pods end next, or hang.
    ...fitted(width < 90 ? narrowTitles : columnTitles, open, rowOf, spaceOfOld, 'terminating'),
    ...fitted(['NEW POD', 'AGE', 'STEP'], newPods, newRow, space - spaceOfOld, 'new'),
    ...services,
  ];
}

/** Its report may still wait for the last facts. */
const isGone = ({ report, timeline }: RolloutState['pods'][number]): boolean =>
  report !== undefined || markOf(timeline, 'removed') !== undefined;

/** `shop deployment/checkout · 0:21 · 3 of 6 pods terminated · 2 new ready` */
function topLine({ target, namespace, pods, oldPods = 0, newPods }: RolloutState, now: number): Piece[] {
  const done = pods.filter(isGone).length;
  const start = Math.min(now, ...pods.map(({ timeline }) => timeline.zero));
  const ready = newPods.filter(({ isReady }) => isReady).length;
  const facts = [
    ...(pods.length > 0 ? [durationText(now - start)] : []),
    pods.length === 0
      ? 'waiting for a pod to be deleted'
      : `${done} of ${plural(Math.max(oldPods, pods.length), 'pod')} terminated`,
    ...(newPods.length > 0 ? [`${ready} new ready`] : []),
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

const columnTitles = ['POD', 'AGE OF DELETION', 'PHASE', 'GRACE USED', 'SIGKILL IN', 'RESULT'];
const narrowTitles = ['POD', 'AGE', 'PHASE', 'GRACE', 'SIGKILL', 'RESULT'];

const newRow = ({ name, seenAt, step, ink }: NewPod, now: number): TableRow => ({
  cells: [forTerminal(name), durationText(now - seenAt), forTerminal(step)],
  ink,
});

const serviceRow = ({ name, now, fewest, wanted }: ServiceCounts): TableRow => ({
  cells: [forTerminal(name), String(now), String(fewest), wanted === undefined ? '–' : String(wanted)],
  ink: now === 0 || fewest === 0 ? 'bad' : wanted !== undefined && now < wanted ? 'warning' : 'good',
});

function rowOf({ timeline }: RolloutState['pods'][number], now: number): TableRow {
  const grace = graceMs(timeline);
  const running = timeline.containers.filter(isStillRunning);
  const since = timeline.marks.find(({ name }) => name === 'acknowledged' || name === 'stopping')?.at.shown;
  const share = since === undefined ? 0 : Math.max(0, now - since) / grace;
  const left = killDueIn(timeline, now);
  const exits = timeline.containers.flatMap(({ exit }) => (exit?.code === undefined ? [] : [exit.code]));
  return {
    cells: [
      forTerminal(timeline.pod.metadata.name),
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
  if (has('finalizing')) return 'finalizers';
  if (has('containers-done')) return 'cleanup';
  const running = timeline.containers.filter(isStillRunning);
  if (running.some(({ stopSignal }) => stopSignal && stopSignal.shown <= now)) return 'draining';
  if (running.some(({ preStop }) => preStop !== undefined && preStop.end === undefined)) return 'preStop';
  if (running.length === 0 && timeline.containers.some(({ exit }) => exit !== undefined)) return 'exited';
  return has('acknowledged') || has('stopping') ? 'stopping' : liveStatus(timeline, now).word;
}

/** All that the live table is drawn from, after each observation. */
interface RolloutState extends RolloutFacts {
  /** `deployment/checkout`, `-l app=checkout`. */
  readonly target: string;
  readonly namespace: string;
  /** Every pod whose deletion was seen, in the order in which their deletions began; a report once it or the run has ended. */
  readonly pods: readonly { readonly timeline: Timeline; readonly report?: Report }[];
  /** Why pods that must leave their node are still there. */
  readonly held: ReadonlyMap<string, string>;
}

export function createRolloutLive(options: ViewOptions) {
  const { pen, clock, timestamps, flags } = options;
  let state: (() => RolloutState) | undefined;
  const { add, leave, ...painting } = createPainting(options, (columns, rows) =>
    state ? rolloutFrame(state(), clock.now(), { columns, rows, pen, flags }) : [],
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
      if (exitCode !== 0 && exitCode <= 128) add(endedPodLines(pen, report, timestamps, options.columns()));
    },
    /** Replaces the table by the card. */
    end: (numbers: RolloutNumbers) => leave(rolloutCardLines(numbers, { pen, columns: options.columns(), flags })),
  };
}
