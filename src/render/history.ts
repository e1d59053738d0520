/**
 * The part of the lines that is written while it happens: heading, marks, log lines. A value that takes a step and
 * gives the lines to write; who writes them, and what stands below them, is the caller's.
 */
import type { Observation, ObservationOf } from '../model/observation.ts';
import { conclusionsOf } from '../infer/conclusions.ts';
import type { TimelineMark } from '../infer/conclusions.ts';
import type { Trace } from '../model/trace.ts';
import type { Looks } from '../infer/view/chatter.ts';
import { afterLook, isChatter } from '../infer/view/chatter.ts';
import type { Header } from '../infer/view/header.ts';
import { headerOf } from '../infer/view/header.ts';
import { headingLines, headingOf } from './heading.ts';
import type { Columns } from './mark-line.ts';
import { asideLines, columnsFor, logLines, markLines } from './mark-line.ts';
import type { Context } from './mark-words.ts';
import type { MarkView, Timestamps, Zero } from './moments.ts';
import { afterCauses, arrivalOf, dayText, signed, zeroOfMarks } from './moments.ts';
import type { NextRound } from './next-rounds.ts';
import { nextRounds } from './next-rounds.ts';
import type { Pen } from './palette.ts';
import { forTerminal } from './safe-text.ts';
import type { Telling } from './telling.ts';
import { asTold, nothingTold, tell } from './telling.ts';

export interface HistoryOptions {
  readonly timestamps: Timestamps;
  /** Show the containers' log lines, where the observations hold them. */
  readonly logs: boolean;
}

export interface History {
  /** Lines (without line feeds) of at most `width` columns. */
  step(trace: Trace, observation: Observation, width: number): string[];
  /** What was still waiting for something better. */
  rest(trace: Trace, width: number): string[];
  /** What offsets count from, once it is known. */
  zero(): Zero | undefined;
}

/** ms after which nothing more of the surroundings is to be expected: then the heading comes without them. */
const settledAfter = 1000;

/** Characters of a log line; what is longer is cut. */
const longestLogLine = 4000;

export function createHistory(pen: Pen, { timestamps, logs }: HistoryOptions): History {
  let header: Header | undefined;
  let telling: Telling = nothingTold;
  let zero: Zero | undefined;
  let seen: Trace['notes'];
  const heard = new Map<number, number>();
  let rounds: ReadonlyMap<string, number> = new Map();
  let looks: Looks = [];

  const lane = (width: number) => columnsFor(width, header?.containers.map(({ name }) => forTerminal(name)) ?? []);
  const context: Context = { timestamps, hookOf: (container) => hookIn(header, container) };

  const marks = (trace: Trace, width: number, observation?: Observation): string[] => {
    const last = observation === undefined;
    if (!last && isChatter(trace, observation, looks)) return [];
    // Nothing was learnt of the pod, and nothing waits for time to pass: the marks are what they were.
    if (!last && trace.notes === seen && telling.waiting.size === 0) return [];
    for (let note = trace.notes; note && note !== seen; note = note.earlier) heard.set(note.seq, note.at);
    seen = trace.notes;
    if (observation) looks = afterLook(looks, trace, observation);
    const timeline = conclusionsOf(trace);
    const known = (timeline?.marks ?? []).map((mark) => {
      const view = viewOf(mark);
      return { ...view, ...arrivalOf(view.at, mark.at.evidence, (seq) => heard.get(seq)) };
    });
    const views = afterCauses(known, (cause) => asTold(telling, cause));
    zero ??= zeroOfMarks(views);
    const told = tell(telling, views, trace.now, last);
    telling = told.telling;
    const from = zero;
    if (!from) return [];
    const next = timeline?.exit && nextRounds(timeline.exit, rounds);
    rounds = next?.told ?? rounds;
    return [
      ...told.sayings.flatMap((saying) => markLines(pen, saying, from, context, lane(width))),
      ...(next?.rounds ?? []).flatMap((round) => asideLines(pen, asideOf(round, from), timestamps, lane(width))),
    ];
  };

  const heading = (trace: Trace, width: number): string[] => {
    header = headerOf(trace);
    const day = timestamps === 'relative' ? undefined : dayText(trace.now, timestamps);
    const inForce = conclusionsOf(trace)?.exit?.deletion.grace;
    return header ? [...headingLines(pen, headingOf(header, inForce, day), width), ''] : [];
  };

  return {
    step: (trace, observation, width) => {
      const first = header === undefined && isDue(trace, observation) ? heading(trace, width) : [];
      const line =
        logs && observation.kind === 'line' ? logged(pen, observation, { timestamps, zero }, lane(width)) : [];
      return header === undefined ? line : [...first, ...marks(trace, width, observation), ...line];
    },
    rest: (trace, width) => [...(header === undefined ? heading(trace, width) : []), ...marks(trace, width)],
    zero: () => zero,
  };
}

/** The request is about to be answered; the deletion is known, and who routes; or there is nothing but waiting for either. */
function isDue(trace: Trace, observation: Observation): boolean {
  if (!trace.pod) return false;
  if (observation.kind === 'requested' || trace.gone) return true;
  if (trace.deletion && areRoutesKnown(trace)) return true;
  // A pod may have been seen long before its run began.
  const known = Math.max(trace.pod.at, trace.began?.at ?? trace.pod.at);
  const isAttached = trace.began?.value.mode === 'attach';
  return (isAttached || trace.deletion !== undefined) && trace.now - known >= settledAfter;
}

/** Or cannot be. */
const areRoutesKnown = ({ slicesSince, servicesKnown, services, refused }: Trace): boolean =>
  slicesSince !== undefined ||
  (servicesKnown && services.size === 0) ||
  refused.some(({ value: { stream } }) => stream === 'services' || stream === 'endpointslices');

const hookIn = (header: Header | undefined, container: string): string | undefined => {
  const words = header?.containers.find(({ name }) => name === container)?.preStop;
  return words === undefined || words === 'no preStop' ? undefined : words.replace(/^preStop /, '');
};

export const viewOf = ({ id, name, subject, note, at, provisional }: TimelineMark): MarkView => ({
  id,
  name,
  ...(subject === undefined ? {} : { subject }),
  ...(note === undefined ? {} : { note }),
  at: Number.isFinite(at.client.lo)
    ? { lo: at.client.lo, hi: at.client.hi, basis: at.basis }
    : { lo: at.client.hi, hi: at.client.hi, basis: at.basis, open: true },
  provisional,
});

function asideOf({ container, at, kill }: NextRound, zero: Zero) {
  const anew = kill === undefined ? '' : `, kill now at ~${signed((kill - zero.at) / 1000, 0)}`;
  const text = `kubelet begins to stop it again: its grace counts anew${anew}`;
  return { lane: forTerminal(container), text, at, zero };
}

function logged(
  pen: Pen,
  { at, container, text, skipped }: ObservationOf<'line'>,
  { timestamps, zero }: { timestamps: Timestamps; zero: Zero | undefined },
  columns: Columns,
): string[] {
  const texts = [
    ...(skipped ? [`(${skipped} lines left out)`] : []),
    ...(text === undefined ? [] : [forTerminal(text, longestLogLine)]),
  ];
  return texts.flatMap((one) =>
    logLines(pen, { lane: forTerminal(container), text: one, at, zero }, timestamps, columns),
  );
}
