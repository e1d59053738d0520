/** What each lane of the picture contains: bars with uncertain ends, and points. Data only. */
import type { Interval, Mark, Phase, ProbeResult, Timeline } from '../../infer/timeline.ts';
import type { MarkName, PhaseName } from '../../model/report.ts';
import { lengthText } from '../../verdict/length-text.ts';
import { graceShareText, phaseTitles } from '../details.ts';
import { exitText, markText } from '../mark-text.ts';
import { boundsText, exactly, offsetText } from '../time-text.ts';

/** The labels of all kinds of bars: phases, and lasting states. The style sheet has a colour for each. */
const lookTexts = {
  ...phaseTitles,
  routed: 'in Service',
  listed: 'removed from Service, endpoint still listed',
  starting: 'replacement starting',
  ready: 'replacement ready',
  answered: 'probe requests answered',
  failed: 'probe requests failed',
  own: 'the pod itself did not answer',
};

type Look = keyof typeof lookTexts;

export const looks = Object.keys(lookTexts) as Look[];

export const lookText = (look: Look): string => lookTexts[look];

export interface Lane {
  readonly name: string;
  readonly detail: string;
  readonly bars: readonly Bar[];
  readonly points: readonly Point[];
}

/** The text of a bar or point on hover or focus; `evidence`: `seq`s of observations. */
export interface Item {
  readonly title: string;
  readonly lines: readonly string[];
  readonly evidence: readonly number[];
}

export interface Bar extends Item {
  readonly look: Look;
  readonly label: string;
  /** A ratio of the full height, which it has if absent. */
  readonly height?: number;
  readonly start: Interval;
  readonly end: Interval;
}

export interface Point extends Item {
  readonly name: MarkName;
  readonly at: Interval;
}

type LaneKind = 'pod' | 'service' | 'container' | 'node' | 'replacement';

/** Lanes from top to bottom, without empty ones, except those of containers. */
export function lanesOf(timeline: Timeline): Lane[] {
  const { pod, endpoints, containers, replacement } = timeline;
  const lane = (kind: LaneKind, name: string, detail: string): Lane[] => laneOf(kind, name, detail, timeline);
  return [
    ...lane('pod', pod.metadata.name, 'API object'),
    ...endpoints.flatMap(({ slice, service }) => lane('service', slice, service ? `Service ${service}` : 'endpoints')),
    ...containers.flatMap((container) => {
      const kind = container.kind === 'container' ? '' : `${container.kind}, `;
      return lane('container', container.name, `${kind}${exitText(container)}`);
    }),
    ...lane('node', pod.spec.nodeName ?? '', 'node'),
    ...(replacement ? lane('replacement', replacement.name, 'replacement') : []),
    ...timeline.probes.map((probe) => probeLane(probe, timeline.zero)),
  ];
}

/** A tick for each half second with failures, as high as their share. Failed requests to the pod itself are not lost traffic. */
export function probeLane({ target, via, sent, failed, slices }: ProbeResult, zero: number): Lane {
  const offset = (moment: number): string => `${((moment - zero) / 1000).toFixed(1)}s`;
  const bar = (look: Look, from: number, to: number, title: string, height = 1): Bar => ({
    look,
    label: '',
    height,
    start: exactly(from),
    end: exactly(to),
    title,
    lines: [`from ${offset(from)} to ${offset(to)}`],
    evidence: [],
  });
  const [first, last] = [slices[0], slices.at(-1)];
  const ticks = slices.filter((slice) => slice.failed > 0);
  return {
    name: target,
    detail: `${sent} requests, ${failed} failed`,
    bars: [
      ...(first && last ? [bar('answered', first.from, last.to, `${sent} requests, ${failed} failed`)] : []),
      ...ticks.map((slice) =>
        bar(
          via === 'pod-proxy' ? 'own' : 'failed',
          slice.from,
          slice.to,
          `${slice.failed} of ${slice.sent} failed`,
          slice.failed / Math.max(1, slice.sent),
        ),
      ),
    ],
    points: [],
  };
}

function laneOf(kind: LaneKind, name: string, detail: string, timeline: Timeline): Lane[] {
  const isOn = (laneKind: LaneKind, subject: string | undefined): boolean =>
    laneKind === kind && (kind === 'pod' || kind === 'node' || subject === name);
  const phases = timeline.phases.filter((phase) => isOn(phaseLanes[phase.name], phase.subject));
  const bars = [...stateBars(kind, name, timeline), ...phases.map((phase) => phaseBar(phase, timeline))];
  const marks = timeline.marks.filter((mark) => isOn(markLanes[mark.name], mark.subject));
  const points = marks.map((mark) => pointOf(mark, timeline));
  return kind === 'container' || bars.length + points.length > 0 ? [{ name, detail, bars, points }] : [];
}

const phaseLanes: Record<PhaseName, LaneKind> = {
  accept: 'pod',
  notice: 'pod',
  'route-removal': 'service',
  prestop: 'container',
  'sidecar-wait': 'container',
  drain: 'container',
  overtime: 'container',
  cleanup: 'pod',
  finalize: 'pod',
  replace: 'replacement',
};

const markLanes: Record<MarkName, LaneKind> = {
  requested: 'pod',
  accepted: 'pod',
  acknowledged: 'pod',
  unrouted: 'service',
  'endpoint-removed': 'service',
  stopping: 'container',
  'prestop-ended': 'container',
  'stop-signal': 'container',
  kill: 'container',
  exited: 'container',
  'containers-done': 'pod',
  'final-delete': 'pod',
  finalizing: 'pod',
  removed: 'pod',
  'replacement-created': 'replacement',
  'replacement-scheduled': 'replacement',
  'replacement-started': 'replacement',
  'replacement-ready': 'replacement',
  'node-not-ready': 'node',
  'node-ready': 'node',
  'ready-lost': 'container',
  'first-failure': 'pod',
  'last-failure': 'pod',
};

export function pointOf(mark: Mark, timeline: Timeline): Point {
  const { name, at } = mark;
  const { who, text } = markText(mark, timeline);
  const title = `${who}: ${text} ${offsetText(at, timeline.zero)}s`;
  return { name, at, title, lines: [certainty(at, timeline.zero)], evidence: at.evidence };
}

export function phaseBar(phase: Phase, timeline: Timeline): Bar {
  const { name, subject, start, end, length } = phase;
  const { zero } = timeline;
  const text = `${phaseTitles[name]} ${lengthText(length)}`;
  const share = graceShareText(phase, timeline);
  return {
    look: name,
    label: text,
    start,
    end,
    title: `${text}${subject === undefined ? '' : ` · ${subject}`}${share && `, ${share} of the grace period`}`,
    lines: [`from ${certainty(start, zero)}`, `to ${certainty(end, zero)}`],
    evidence: [...new Set([...start.evidence, ...end.evidence])],
  };
}

/** Lasting states that are not phases: in its Service, still listed, ready. */
function stateBars(kind: LaneKind, name: string, { endpoints, replacement, zero, now }: Timeline): Bar[] {
  const bar = (look: Look, start: Interval | undefined, end: Interval | undefined): Bar[] =>
    start && end
      ? [{ look, label: lookText(look), start, end, title: lookText(look), lines: [], evidence: end.evidence }]
      : [];
  const endpoint = kind === 'service' ? endpoints.find(({ slice }) => slice === name) : undefined;
  if (endpoint) {
    const { unroutedAt, removedAt, wasReady } = endpoint;
    return [
      ...(wasReady ? bar('routed', exactly(zero), unroutedAt ?? removedAt ?? exactly(now)) : []),
      ...bar('listed', unroutedAt, removedAt ?? exactly(now)),
    ];
  }
  if (kind !== 'replacement' || !replacement) return [];
  return [
    ...bar('starting', replacement.createdAt, replacement.readyAt ?? exactly(now)),
    ...bar('ready', replacement.readyAt, exactly(now)),
  ];
}

const certainty = (at: Interval, zero: number): string =>
  `${offsetText(at, zero)}s, within ${boundsText(at, zero)} (${at.basis})`;
