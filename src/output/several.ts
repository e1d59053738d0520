/**
 * What stdout shows of a run over several pods: one document, a table at a terminal, or lines; the summary last. The table
 * has a row for each pod that is still terminating, and one line that counts the ended ones; below them the pods that take
 * their place, and the ready endpoints of each Service. The frame is a pure function of the state, the time (ms, client's
 * clock) and the window.
 */
import { timelineOf } from '../infer/conclude.ts';
import type { Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutViews, summaryLine, type RolloutResult } from './documents.ts';
import { isDocument, type Format } from './formats.ts';
import { linesOfPod, type LinesOfPod } from './machine/ndjson.ts';
import type { OutputPorts } from './ports.ts';
import { render } from './render.ts';
import { endedPodLines, rolloutCardLines } from './text/rollout-card.ts';
import { createRolloutFacts, type NewPod, type RolloutFacts, type ServiceCounts } from './text/rollout-facts.ts';
import { isRepainted, viewOptions } from './text/live.ts';
import type { LookOptions, View } from './view.ts';
import { isStillRunning, graceOfNext, durationText, nodeTrouble, liveStatus } from './text/status.ts';
import type { Timeline } from '../infer/timeline.ts';
import { plural } from '../verdict/words.ts';
import { shareInk } from './mark-text.ts';
import type { FrameWindow } from './text/frame.ts';
import { dim, liveTable, piece, plain, type Piece, type TableRow } from './prose.ts';
import { forTerminal } from './safe-text.ts';
import { createPainting } from './text/screen.ts';

export interface SoFar {
  /** `deployment/checkout`. */
  readonly target: string;
  /** The pods that have not ended. */
  readonly traces: { keys(): readonly string[]; get(key: string): Trace | undefined };
  /** The pods that have ended. */
  readonly reports: readonly Report[];
  /** Why pods that must leave their node are still there: a refused eviction; by namespace and name. */
  readonly held?: ReadonlyMap<string, string>;
}

export interface SeveralView extends Pick<View, 'say' | 'close'> {
  /** Called with all that arrived together, for output that is kept up to date; then with each trace that it concerns. */
  take?(soFar: SoFar, observations: readonly Observation[]): void;
  step?(this: void, trace: Trace, observation: Observation): void;
  ended?(report: Report): Promise<void> | void;
  end(rollout: RolloutResult): Promise<void> | void;
}

export function severalView(format: Format, look: LookOptions, ports: OutputPorts): SeveralView {
  if (isDocument(format))
    return { end: async (rollout) => ports.stdout.write(await render(format, rolloutViews, rollout)) };
  if (format.kind === 'ndjson') return ndjsonView(ports);
  return isRepainted(format.kind, ports) ? liveView(look, ports) : linesView(look, ports);
}

/** Lines about all pods as they become known, each with its pod; a report when a pod has ended, the summary last. */
function ndjsonView(ports: OutputPorts): SeveralView {
  const pods = new Map<string, LinesOfPod>();
  const linesOf = ({ namespace = '', name, uid }: Pod['metadata']): LinesOfPod => {
    const lines = pods.get(uid) ?? linesOfPod(ports, { namespace, name, uid });
    pods.set(uid, lines);
    return lines;
  };
  return {
    step(trace, observation) {
      if (trace.pod && trace.deletion) linesOf(trace.pod.value.metadata).step(trace, observation);
    },
    ended: (report) => linesOf(report.timeline.pod.metadata).end(report),
    end: ({ numbers }) => ports.stdout.write(summaryLine(numbers)),
  };
}

function linesView(look: LookOptions, ports: OutputPorts): SeveralView {
  const { write, columns, ...options } = viewOptions(look, ports);
  return {
    ended: (report) => write(`${endedPodLines(options.pen, report, look.timestamps).join('\n')}\n`),
    end: ({ numbers }) => write(`\n${rolloutCardLines(numbers, { ...options, columns: columns() }).join('\n')}\n`),
  };
}

export function liveView(look: LookOptions, ports: OutputPorts): SeveralView {
  const { pen, columns, flags, timestamps } = viewOptions(look, ports);
  const { take, facts } = createRolloutFacts();
  let latest: SoFar | undefined;
  const { add, leave, say, close } = createPainting(pen, ports, (width, rows) =>
    latest
      ? rolloutFrame({ ...tableOf(latest), ...facts() }, ports.clock.now(), { columns: width, rows, pen, flags })
      : [],
  );
  return {
    say,
    close,
    take(soFar, observations) {
      take(observations);
      latest = soFar;
      add([]);
    },
    /** Prints a pod with a bad exit code above the table; others, and those that Ctrl-C left behind, are only counted. */
    ended(report) {
      const { exitCode } = report.verdict;
      if (exitCode !== 0 && exitCode <= 128) add(endedPodLines(pen, report, timestamps, columns()));
    },
    /** Replaces the table by the card. */
    end: ({ numbers }) => leave(rolloutCardLines(numbers, { pen, columns: columns(), flags })),
  };
}

/** All that the live table is drawn from, after each observation. */
type RolloutState = ReturnType<typeof tableOf> & RolloutFacts;

/** Every pod whose deletion was seen: those that have ended, and the others in the order of their deletions. */
function tableOf({ target, traces, reports, held = new Map() }: SoFar) {
  const open = traces.keys().flatMap((key) => {
    const trace = traces.get(key);
    const timeline = trace && timelineOf(trace);
    return timeline?.deleted ? timeline : [];
  });
  return { target, ended: reports, open, held };
}

export function rolloutFrame(state: RolloutState, now: number, window: FrameWindow): Piece[][] {
  const { columns: width, rows: room, pen, flags = '' } = window;
  const { ended, open } = state;
  const trouble = open.flatMap((timeline) => nodeTrouble(timeline, now, flags).slice(0, 1))[0];
  const head: Piece[][] = [
    topLine(state, now),
    ...(trouble === undefined ? [] : [[piece('bad', `  ${pen.symbol('bad')} ${forTerminal(trouble)}`)]]),
    ...(ended.length > 0 ? [endedLine(ended)] : []),
    ...[...state.held].slice(0, 3).map(([pod, why]) => [piece('warning', `  ${forTerminal(`${pod}: ${why}`)}`)]),
  ];
  const services = liveTable(pen, serviceTitles, state.services.slice(0, 3).map(serviceRow), width);
  // Those that are not ready yet are worth a row most.
  const newPods = [...state.newPods].sort((a, b) => Number(a.isReady) - Number(b.isReady) || a.seenAt - b.seenAt);
  const space = Math.max(0, room - head.length - services.length);
  const spaceOfNew = newPods.length === 0 ? 0 : Math.min(newPods.length + 1, Math.max(2, Math.floor(space / 2)));
  const spaceOfOld = open.length === 0 ? 0 : Math.min(open.length + 1, space - spaceOfNew);
  /** As many as fit in `most` lines together with their titles, and a line that counts the rest. */
  const fitted = (titles: readonly string[], rows: readonly TableRow[], most: number, what: string): Piece[][] => {
    const shown = rows.length < most ? rows : rows.slice(0, Math.max(0, most - 2));
    const left = rows.length - shown.length;
    return [
      ...liveTable(pen, titles, shown, width),
      ...(left > 0 && most > 0 ? [[dim(`  … ${left} more ${what}`)]] : []),
    ];
  };
  const openRows = open.map((pod) => rowOf(pod, now));
  const newRows = newPods.map((pod) => newRow(pod, now));
  return [
    ...head,
    // Oldest deletions first: those pods end next, or hang.
    ...fitted(width < 90 ? narrowTitles : columnTitles, openRows, spaceOfOld, 'terminating'),
    ...fitted(['NEW POD', 'AGE', 'STEP'], newRows, space - spaceOfOld, 'new'),
    ...services,
  ];
}

/** `shop deployment/checkout · 0:21 · 3 of 6 pods terminated · 2 new ready` */
function topLine({ target, ended, open, oldPods = 0, newPods }: RolloutState, now: number): Piece[] {
  const pods = [...ended.map(({ timeline }) => timeline), ...open];
  const start = Math.min(now, ...pods.map(({ zero }) => zero));
  const namespace = pods[0]?.pod.metadata.namespace ?? '';
  const facts = [
    ...(pods.length > 0 ? [durationText(now - start)] : []),
    pods.length === 0
      ? 'waiting for a pod to be deleted'
      : `${ended.length} of ${plural(Math.max(oldPods, pods.length), 'pod')} terminated`,
    ...(newPods.length > 0 ? [`${newPods.filter(({ isReady }) => isReady).length} new ready`] : []),
  ];
  return [piece('strong', forTerminal(`${namespace} ${target}`.trim())), ...facts.map((fact) => plain(` · ${fact}`))];
}

/** `  12 ended: 11 graceful, 1 SIGKILLed` */
function endedLine(ended: readonly Report[]): Piece[] {
  const words = ended.map(({ answer }) => answer.word);
  const counts = [...new Set(words)].map((word) => `${words.filter((one) => one === word).length} ${word}`);
  const isGood = ended.every(({ verdict }) => verdict.exitCode === 0);
  return [plain('  ended  '), piece(isGood ? 'good' : 'bad', forTerminal(counts.join(', ')))];
}

const serviceTitles = ['SERVICE', 'READY', 'FEWEST', 'WANTED'];
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

function rowOf(timeline: Timeline, now: number): TableRow {
  const counted = graceOfNext(timeline);
  const share = counted ? Math.max(0, now - counted.start) / (counted.end - counted.start) : 0;
  const left = counted && counted.end - now;
  const exits = timeline.containers.flatMap(({ exit }) => (exit?.code === undefined ? [] : [exit.code]));
  return {
    cells: [
      forTerminal(timeline.pod.metadata.name),
      durationText(now - timeline.zero),
      stepOf(timeline, now),
      counted ? `${Math.round(share * 100)}%` : '–',
      left === undefined ? '–' : left <= 0 ? 'due' : `${Math.ceil(left / 1000)}s`,
      !timeline.containers.some(isStillRunning) && exits.length > 0 ? `exit ${Math.max(...exits)}` : '',
    ],
    ink: counted ? shareInk(share) : 'plain',
  };
}

/** What the pod is doing, in a word or two. */
function stepOf(timeline: Timeline, now: number): string {
  const has = (name: string): boolean => timeline.marks.some((mark) => mark.name === name);
  if (has('finalizing') && !has('removed')) return 'finalizers';
  if (has('containers-done')) return has('removed') ? 'deleted' : 'cleanup';
  const running = timeline.containers.filter(isStillRunning);
  if (running.some(({ stopSignal }) => stopSignal && stopSignal.shown <= now)) return 'draining';
  if (running.some(({ preStop }) => preStop !== undefined && preStop.end === undefined)) return 'preStop';
  if (running.length === 0 && timeline.containers.some(({ exit }) => exit !== undefined)) return 'exited';
  return has('acknowledged') || has('stopping') ? 'stopping' : liveStatus(timeline, now).word;
}
