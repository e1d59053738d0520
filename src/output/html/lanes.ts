/** What each lane of the picture contains: bars with uncertain ends, and points. Data only. */
import type { EndpointTimeline, Interval, Mark, Phase, ReplacementTimeline, Timeline } from '../../infer/timeline.ts';
import type { ProbeResult } from '../../infer/probes.ts';
import type { MarkName } from '../../model/report.ts';
import { lengthText } from '../../verdict/words.ts';
import { exitText, markText } from '../mark-text.ts';
import { graceShareText, phaseTitles } from '../report-tables.ts';
import { boundsText, exactly, offsetText } from '../time-text.ts';

/** The labels of all kinds of bars: phases, and lasting states. The style sheet has a colour for each. */
export const lookTexts = {
  ...phaseTitles,
  routed: 'in Service',
  listed: 'removed from Service, endpoint still listed',
  starting: 'replacement starting',
  ready: 'replacement ready',
  answered: 'probe requests answered',
  failed: 'probe requests failed',
  own: 'the pod itself did not answer',
};

export type Look = keyof typeof lookTexts;

export const looks = Object.keys(lookTexts) as Look[];

export interface Lane {
  readonly name: string;
  readonly detail: string;
  readonly bars: readonly Bar[];
  readonly points: readonly Point[];
}

export interface Bar {
  readonly look: Look;
  /** What it says on hover, and to a screen reader. */
  readonly title: string;
  readonly label: string;
  /** A ratio of the full height, which it has if absent. */
  readonly height?: number;
  readonly start: Interval;
  readonly end: Interval;
}

export interface Point {
  readonly name: MarkName;
  readonly title: string;
  readonly at: Interval;
}

type LaneKind = 'pod' | 'service' | 'container' | 'node' | 'replacement';

/** Lanes from top to bottom, without empty ones, except those of containers. */
export function lanesOf(timeline: Timeline): Lane[] {
  const { pod, endpoints, containers, replacement, probes, zero, now } = timeline;
  const lane = (kind: LaneKind, name: string, detail: string, states: readonly Bar[] = []): Lane => {
    const isOnLane = (one: Mark | Phase): boolean =>
      laneKindOf(one) === kind && (kind === 'pod' || kind === 'node' || one.subject === name);
    return {
      name,
      detail,
      bars: [...states, ...timeline.phases.filter(isOnLane).map((phase) => phaseBar(phase, timeline))],
      points: timeline.marks.filter(isOnLane).map((mark) => pointOf(mark, timeline)),
    };
  };
  const serviceLane = ({ slice, service, wasReady, unroutedAt, removedAt }: EndpointTimeline): Lane =>
    lane('service', slice, service ? `Service ${service}` : 'endpoints', [
      ...(wasReady ? stateBar('routed', exactly(zero), unroutedAt ?? removedAt ?? exactly(now)) : []),
      ...stateBar('listed', unroutedAt, removedAt ?? exactly(now)),
    ]);
  const replacementLane = ({ name, createdAt, readyAt }: ReplacementTimeline): Lane =>
    lane('replacement', name, 'replacement', [
      ...stateBar('starting', createdAt, readyAt ?? exactly(now)),
      ...stateBar('ready', readyAt, exactly(now)),
    ]);
  const isUsed = ({ bars, points }: Lane): boolean => bars.length + points.length > 0;
  return [
    ...[lane('pod', pod.metadata.name, 'API object'), ...endpoints.map(serviceLane)].filter(isUsed),
    ...containers.map((container) => {
      const kind = container.kind === 'container' ? '' : `${container.kind}, `;
      return lane('container', container.name, `${kind}${exitText(container)}`);
    }),
    ...[lane('node', pod.spec.nodeName ?? '', 'node')].filter(isUsed),
    ...(replacement ? [replacementLane(replacement)] : []),
    ...probes.map((probe) => probeLane(probe, zero)),
  ];
}

/** The subject of a mark or phase is a slice, a node, a replacement or a container. */
function laneKindOf({ name, subject }: Mark | Phase): LaneKind {
  if (subject === undefined) return 'pod';
  if (name === 'unrouted' || name === 'endpoint-removed' || name === 'route-removal') return 'service';
  if (name.startsWith('replace')) return 'replacement';
  return name.startsWith('node-') ? 'node' : 'container';
}

/** A lasting state that is not a phase: in its Service, still listed, ready. */
export const stateBar = (
  look: Look,
  start: Interval | undefined,
  end: Interval | undefined,
  title: string = lookTexts[look],
): Bar[] => (start && end ? [{ look, label: title, start, end, title }] : []);

/** A tick for each half second with failures, as high as their share. Failed requests to the pod itself are not lost traffic. */
export function probeLane({ target, via, sent, failed, slices }: ProbeResult, zero: number): Lane {
  const offset = (moment: number): string => `${((moment - zero) / 1000).toFixed(1)}s`;
  const bars = (look: Look, from: number, to: number, title: string, height = 1): Bar[] => {
    const whole = `${title}, from ${offset(from)} to ${offset(to)}`;
    return stateBar(look, exactly(from), exactly(to), whole).map((bar) => ({ ...bar, label: '', height }));
  };
  const [first, last] = [slices[0], slices.at(-1)];
  const detail = `${sent} requests, ${failed} failed`;
  const look = via === 'pod-proxy' ? 'own' : 'failed';
  const failures = slices.flatMap((slice) => {
    const share = slice.failed / Math.max(1, slice.sent);
    return share > 0 ? bars(look, slice.from, slice.to, `${slice.failed} of ${slice.sent} failed`, share) : [];
  });
  const whole = first && last ? bars('answered', first.from, last.to, detail) : [];
  return { name: target, detail, bars: [...whole, ...failures], points: [] };
}

export function pointOf(mark: Mark, timeline: Timeline): Point {
  const { name, at } = mark;
  const { who, text } = markText(mark, timeline);
  return { name, at, title: `${who}: ${text} ${certainty(at, timeline.zero)}` };
}

export function phaseBar(phase: Phase, timeline: Timeline): Bar {
  const { name, subject, start, end, length } = phase;
  const { zero } = timeline;
  const text = `${phaseTitles[name]} ${lengthText(length)}`;
  const share = graceShareText(phase, timeline);
  const what = `${text}${subject === undefined ? '' : ` · ${subject}`}${share && `, ${share} of the grace period`}`;
  const title = `${what}. From ${certainty(start, zero)} to ${certainty(end, zero)}`;
  return { look: name, label: text, title, start, end };
}

const certainty = (at: Interval, zero: number): string =>
  `${offsetText(at, zero)}s, within ${boundsText(at, zero)} (${at.basis})`;
