/**
 * The live view as lines: always an answer line on top, then a warning if the node does not respond, a bar for each
 * container against its grace period, a lane for each Service, the replacement. A pure function of the Timeline, the time
 * (ms, client's clock) and the window.
 */
import type { Timeline, ContainerTimeline, EndpointTimeline, Interval } from '../../infer/timeline.ts';
import type { CardOptions } from './card.ts';
import { podText } from '../pod-facts.ts';
import { nodeTrouble, liveStatus, countedGrace, durationText, stoppingOf, usedText } from './status.ts';
import type { Pen, Ink, SymbolName } from '../palette.ts';
import { dim, padTo, piece, plain, shorten, textWidth, piecesWidth, type Piece } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { byService } from '../../verdict/routing.ts';
import { graceMs, markOf, signalName } from '../../verdict/rule-input.ts';
import { exitInk, exitText, hookText, otherReady, shareInk } from '../mark-text.ts';
import { offsetText } from '../time-text.ts';

export interface FrameWindow extends Pick<CardOptions, 'flags' | 'columns' | 'pen'> {
  readonly rows: number;
}

export function frame(timeline: Timeline, now: number, window: FrameWindow): Piece[][] {
  const { columns: width, rows: room, pen, flags = '' } = window;
  const top = topLine(pen, timeline, now, width);
  if (!timeline.deleted) return [top];
  const warning = nodeTrouble(timeline, now, flags).map((text, index) => [
    piece('bad', `${index === 0 ? `  ${pen.symbol('bad')} ` : '    '}${forTerminal(text)}`),
  ]);
  const lanes = [
    ...timeline.containers
      .filter(({ ran, kind }) => ran || kind === 'container')
      .map((container) => containerLane(container, timeline, now)),
    ...byService(timeline.endpoints).map(({ service, own }) => serviceLane(service, own, timeline, now)),
    ...probeLanes(timeline),
    ...replacementLane(timeline),
  ];
  const space = Math.max(0, room - 1 - warning.length);
  const byNews = lanes.toSorted((a, b) => Number(a.isOver ?? false) - Number(b.isOver ?? false));
  const shown = lanes.length > space ? byNews.slice(0, Math.max(0, space - 1)) : lanes;
  const widths = widthsFor(width, lanes);
  const left = lanes.length - shown.length;
  return [
    top,
    ...warning.slice(0, room - 1),
    ...shown.map((lane) => laneLine(pen, lane, widths)),
    ...(left > 0 && space > 0 ? [[dim(`  … ${left} more`)]] : []),
  ];
}

/** `shop/checkout-… Terminating · 0:21 of 0:30 · SIGKILL in 9s · removed from Service checkout`, the last if it fits. */
function topLine(pen: Pen, timeline: Timeline, now: number, width: number): Piece[] {
  const { word, ink, facts } = liveStatus(timeline, now);
  const piecesOf = (shown: typeof facts): Piece[] =>
    shown.flatMap(({ text, ink: own }) => [dim(' · '), piece(own, forTerminal(text))]);
  // The countdown says more than the word.
  const shownWord = width < 58 && facts.length > 1 ? '' : word;
  const leftBy = (pieces: readonly Piece[]): number => width - textWidth(shownWord) - 1 - piecesWidth(pieces);
  // Enough of a pod's name to tell it from its siblings.
  const least = shownWord === '' ? 6 : 12;
  const all = piecesOf(facts);
  const rest = leftBy(all) >= least ? all : piecesOf(facts.slice(0, 2));
  const name = shorten(pen, forTerminal(podText(timeline)), Math.max(least, leftBy(rest)));
  return [piece('strong', name), ...(shownWord === '' ? [] : [plain(' '), piece(ink, shownWord)]), ...rest];
}

/** Names get a fifth, words up to 46 columns, the bar the rest. In a narrow window words matter more than the bar. */
function widthsFor(width: number, lanes: readonly LiveLane[]) {
  const longest = Math.max(8, ...lanes.map(({ name }) => textWidth(forTerminal(name))));
  const name = Math.min(longest, 20, Math.max(6, Math.floor(width / 5)));
  const rest = width - name - 4;
  const bar = Math.min(60, rest - Math.min(46, Math.ceil(rest * 0.68)) - 2);
  return { name, bar: bar < 8 ? 0 : bar };
}

const laneLine = (pen: Pen, lane: LiveLane, { name, bar }: ReturnType<typeof widthsFor>): Piece[] => [
  plain('  '),
  piece('accent', padTo(shorten(pen, forTerminal(lane.name), name), name)),
  plain('  '),
  ...(bar > 0 ? [...barPieces(pen, lane, bar), plain('  ')] : []),
  piece(lane.ink, forTerminal(lane.words)),
];

/** Draws the stretches one after the other, and the rest of the scale dim. */
function barPieces(pen: Pen, { stretches, isTrack }: LiveLane, cells: number): Piece[] {
  let used = 0;
  const pieces = stretches.map(({ look, ink, until }) => {
    const end = Math.min(cells, Math.max(used, Math.round(until * cells)));
    const text = pen.symbol(look).repeat(end - used);
    used = end;
    return piece(ink, text);
  });
  return [...pieces, isTrack ? dim(pen.symbol('rest').repeat(cells - used)) : plain(' '.repeat(cells - used))];
}

interface LiveLane {
  readonly name: string;
  /** One after the other from the left; `until`: ratio of the whole bar. */
  readonly stretches: readonly { readonly look: SymbolName; readonly ink: Ink; readonly until: number }[];
  /** Whether to draw the rest of the bar, which is what is left of the grace period. */
  readonly isTrack?: boolean;
  readonly words: string;
  readonly ink: Ink;
  /** Shown last in a window that is too low for all lanes: nothing more happens to this container. */
  readonly isOver?: boolean;
}

function containerLane(container: ContainerTimeline, timeline: Timeline, now: number): LiveLane {
  const { name, ran, exit, preStop, outcome } = container;
  const counted = countedGrace(container, timeline);
  const shareAt = (at: number): number =>
    counted ? Math.max(0, (at - counted.start) / (counted.end - counted.start)) : 0;
  const end = exit?.at.shown ?? now;
  const share = ran ? shareAt(end) : 0;
  const hook = preStop ? Math.min(share, shareAt(preStop.end?.shown ?? end)) : 0;
  const ink = outcome === 'killed' || outcome === 'oom' ? 'bad' : shareInk(share);
  return {
    name,
    stretches: [
      { look: 'hook', ink, until: hook },
      { look: 'full', ink, until: share },
    ],
    isTrack: ran,
    words: containerWords(container, timeline, now),
    ink: exit?.code === undefined ? (ran ? 'plain' : 'dim') : exitInk[outcome],
    isOver: !ran || exit !== undefined,
  };
}

function containerWords(container: ContainerTimeline, timeline: Timeline, now: number): string {
  const { name, kind, ran, exit, preStop, stopSignal, kill, outcome } = container;
  const { zero } = timeline;
  if (!ran) return 'not running';
  const end =
    outcome === 'killed' && kill ? 'SIGKILL' : exit?.code === undefined ? 'probably exited' : exitText(container);
  if (exit) return `${end} at ${offsetText(exit.at, zero)}s`;
  if (kill && kill.shown <= now) return `SIGKILL at ${offsetText(kill, zero)}s`;
  if (stopSignal && stopSignal.shown <= now)
    return container.reaction === 'none' && now - stopSignal.shown >= 2000 // a shorter silence is no news
      ? `no reaction to ${signalName(container)} for ${durationText(now - stopSignal.shown)}`
      : `${usedOf(container, timeline, now)}${signalName(container)} at ${offsetText(stopSignal, zero)}s`;
  const sent = signalSentBy(container, timeline);
  if (sent !== undefined && now > sent) return `${usedOf(container, timeline, now)}${signalName(container)} sent`;
  if (preStop && (preStop.end?.shown ?? Infinity) > now)
    return `preStop ${hookText(name, timeline) ?? preStop.kind} for ${durationText(now - preStop.start.shown)}`;
  if (kind === 'sidecar' && timeline.containers.some((other) => other.kind === 'container' && other.ran && !other.exit))
    return 'waits for the other containers';
  return stoppingOf(container, timeline) || preStop ? 'kubelet started termination' : 'running';
}

/** `0:05 of 0:20 · `, as on the top line. */
function usedOf(container: ContainerTimeline, timeline: Timeline, now: number): string {
  const counted = countedGrace(container, timeline);
  return counted ? `${usedText(counted, now)} · ` : '';
}

/**
 * ms by which the signal has certainly been sent, though nothing shows it yet; undefined if something comes before it.
 * The kubelet sends it within a second after it starts, or after the hook (SIGNALS.md §2).
 */
function signalSentBy(container: ContainerTimeline, timeline: Timeline): number | undefined {
  const { name, kind, preStop } = container;
  const stopping = stoppingOf(container, timeline);
  if (!stopping || kind === 'sidecar') return undefined;
  const sleep = hookText(name, timeline) === undefined ? 0 : preStop?.sleepSeconds;
  return sleep === undefined ? undefined : stopping.at.latest + (sleep + 1) * 1000;
}

/** One lane per Service, however many slices it has; a slice without a Service has its own lane. */
function serviceLane(service: string, slices: readonly EndpointTimeline[], timeline: Timeline, now: number): LiveLane {
  const { zero } = timeline;
  const removed = lastOf(slices.map(({ unroutedAt, removedAt }) => unroutedAt ?? removedAt));
  const others = Math.min(...slices.map(({ otherReady: count }) => count));
  const wasReady = slices.some((slice) => slice.wasReady);
  const gone = markOf(timeline, 'removed')?.at.shown;
  const length = graceMs(timeline);
  const share = (at: number): number => Math.min(1, Math.max(0, (at - zero) / length));
  const isLastEndpoint = others === 0;
  return {
    name: `svc/${service}`,
    stretches: [
      { look: 'routed', ink: 'good', until: wasReady ? share(removed?.shown ?? now) : 0 },
      { look: 'unrouted', ink: isLastEndpoint ? 'warning' : 'dim', until: share(gone ?? now) },
    ],
    words: !wasReady
      ? `not ready before · ${otherReady(others)}`
      : removed
        ? `removed ${offsetText(removed, zero)}s · ${otherReady(others)}`
        : 'ready, gets new connections',
    ink: removed ? (isLastEndpoint ? 'warning' : 'plain') : wasReady ? 'good' : 'dim',
  };
}

/** A tick for each half second in which requests failed. Failed requests to the pod itself are not lost traffic. */
function probeLanes(timeline: Timeline): LiveLane[] {
  const { probes, zero, now: seen } = timeline;
  const length = Math.max(graceMs(timeline), seen - zero);
  return probes.map(({ via, sent, failed, slices }, index) => ({
    name: index === 0 ? 'requests' : `requests ${index + 1}`,
    stretches: slices.map((slice) => ({
      look: slice.failed > 0 ? 'lost' : 'answered',
      ink: slice.failed === 0 ? 'good' : via === 'pod-proxy' ? 'dim' : 'bad',
      until: Math.max(0, slice.to - zero) / length,
    })),
    words: `${sent} sent · ${failed} failed`,
    ink: via !== 'pod-proxy' && failed > 0 ? 'bad' : 'plain',
  }));
}

/** The latest time; undefined until all slices have one. */
function lastOf(times: readonly (Interval | undefined)[]): Interval | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length < times.length ? undefined : known.sort((a, b) => a.shown - b.shown).at(-1);
}

function replacementLane({ replacement, zero }: Timeline): LiveLane[] {
  if (!replacement) return [];
  const { name, createdAt, scheduledAt, startedAt, readyAt } = replacement;
  const steps = [
    ['ready', readyAt],
    ['started', startedAt],
    ['scheduled', scheduledAt],
  ] as const;
  const [step, at = createdAt] = steps.find(([, moment]) => moment) ?? ['created'];
  const words = `${step} ${offsetText(at, zero)}s: ${name}`;
  return [{ name: 'replacement', stretches: [], words, ink: readyAt ? 'good' : 'plain' }];
}
