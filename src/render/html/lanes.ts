/** What is drawn on each lane of the picture: stretches with uncertain ends, and moments. Values only. */
import type { Interval, Mark, Phase, Timeline } from '../../infer/timeline.ts';
import type { MarkName, PhaseName } from '../../model/report.ts';
import { lengthText, shareText } from '../../verdict/length-text.ts';
import { phaseNames, spending } from '../details.ts';
import { exitText, markText } from '../mark-text.ts';
import { boundsText, offsetText } from '../time-text.ts';
import type { Look } from './looks.ts';
import { lookText } from './looks.ts';

export interface Lane {
  readonly name: string;
  readonly detail: string;
  readonly bars: readonly Bar[];
  readonly points: readonly Point[];
}

/** What is said of a thing when it is pointed at; `evidence`: `seq`s of observations. */
export interface Item {
  readonly title: string;
  readonly lines: readonly string[];
  readonly evidence: readonly number[];
}

export interface Bar extends Item {
  readonly look: Look;
  readonly label: string;
  readonly start: Interval;
  readonly end: Interval;
}

export interface Point extends Item {
  readonly name: MarkName;
  readonly at: Interval;
}

type LaneKind = 'pod' | 'service' | 'container' | 'node' | 'replacement';

/** From top to bottom; those with nothing on them are left out, containers excepted. */
export function lanesOf(timeline: Timeline): Lane[] {
  const { pod, endpoints, containers, replacement } = timeline;
  const kinds: [LaneKind, string, string][] = [
    ['pod', pod.metadata.name, 'API object'],
    ...endpoints.map(({ slice, service }): [LaneKind, string, string] => [
      'service',
      slice,
      service ? `Service ${service}` : 'endpoints',
    ]),
    ...containers.map((one): [LaneKind, string, string] => [
      'container',
      one.name,
      one.kind === 'container' ? exitText(one) : `${one.kind}, ${exitText(one)}`,
    ]),
    ['node', pod.spec.nodeName ?? '', 'node'],
    ...(replacement ? [['replacement', replacement.name, 'replacement'] satisfies [LaneKind, string, string]] : []),
  ];
  return kinds
    .map(([kind, name, detail]) => laneOf(kind, name, detail, timeline))
    .filter(({ bars, points }, index) => kinds[index]?.[0] === 'container' || bars.length + points.length > 0);
}

function laneOf(kind: LaneKind, name: string, detail: string, timeline: Timeline): Lane {
  const isOn = (laneKind: LaneKind, subject: string | undefined): boolean =>
    laneKind === kind && (kind === 'pod' || kind === 'node' || subject === name);
  return {
    name,
    detail,
    bars: [
      ...standing(kind, name, timeline),
      ...timeline.phases
        .filter((phase) => isOn(phaseLanes[phase.name], phase.subject))
        .map((phase) => phaseBar(phase, timeline)),
    ],
    points: timeline.marks
      .filter((mark) => isOn(markLanes[mark.name], mark.subject))
      .map((mark) => pointOf(mark, timeline)),
  };
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

function pointOf(mark: Mark, timeline: Timeline): Point {
  const { who, text } = markText(mark, timeline);
  const title = `${who}: ${text} ${offsetText(mark.at, timeline.zero)}s`;
  return {
    name: mark.name,
    at: mark.at,
    title,
    lines: [certainty(mark.at, timeline.zero)],
    evidence: mark.at.evidence,
  };
}

function phaseBar({ name, subject, start, end, length }: Phase, { zero, grace }: Timeline): Bar {
  const text = `${phaseNames[name]} ${lengthText(length)}`;
  const share = spending.has(name) ? `, ${shareText(length, grace.effectiveSeconds * 1000)} of the grace period` : '';
  return {
    look: name,
    label: text,
    start,
    end,
    title: `${text}${subject === undefined ? '' : ` · ${subject}`}${share}`,
    lines: [`from ${certainty(start, zero)}`, `to ${certainty(end, zero)}`],
    evidence: [...new Set([...start.evidence, ...end.evidence])],
  };
}

/** States that last between two moments and are no phases: in its Service, still listed, ready. */
function standing(kind: LaneKind, name: string, { endpoints, replacement, zero, now }: Timeline): Bar[] {
  const edge = (moment: number): Interval => ({
    earliest: moment,
    latest: moment,
    shown: moment,
    basis: 'observed',
    evidence: [],
  });
  const bar = (look: Look, start: Interval | undefined, end: Interval | undefined): Bar[] =>
    start && end
      ? [{ look, label: lookText(look), start, end, title: lookText(look), lines: [], evidence: end.evidence }]
      : [];
  const endpoint = kind === 'service' ? endpoints.find(({ slice }) => slice === name) : undefined;
  if (endpoint) {
    const { unroutedAt, removedAt, wasReady } = endpoint;
    return [
      ...(wasReady ? bar('routed', edge(zero), unroutedAt ?? removedAt ?? edge(now)) : []),
      ...bar('listed', unroutedAt, removedAt ?? edge(now)),
    ];
  }
  if (kind !== 'replacement' || !replacement) return [];
  return [
    ...bar('starting', replacement.createdAt, replacement.readyAt ?? edge(now)),
    ...bar('ready', replacement.readyAt, edge(now)),
  ];
}

const certainty = (at: Interval, zero: number): string =>
  `${offsetText(at, zero)}s, within ${boundsText(at, zero)} (${at.basis})`;
