/** The row of seconds with the grace on it, and the lines that it sends through all lanes. */
import type { ExitReport, Range } from '../../model/report.ts';
import { offsetRange } from '../offsets.ts';
import { row, upright } from './row.ts';
import type { Scale } from './scale.ts';
import { at, percent, ticksOf, wide } from './scale.ts';
import type { Html } from './tag.ts';
import { join, tag } from './tag.ts';

export function ruler(scale: Scale, report: ExitReport): Html {
  const ticks = ticksOf(scale).map(({ seconds, label, level }) =>
    tag(
      'g',
      { class: `tick level-${level}` },
      tag('line', { x1: at(scale, seconds), x2: at(scale, seconds), y1: 14, y2: 20 }),
      tag('text', { x: at(scale, seconds), y: 10, 'text-anchor': 'middle' }, label),
    ),
  );
  return row('grace', detailOf(scale, report), 'seconds after the request, against the grace period', 74, [
    ...ticks,
    ...graceBand(scale),
    ...deadlineTick(scale),
    ...killsOf(report, scale).flatMap((seconds) => [
      upright(scale, seconds, 'kill-line', below),
      tag('text', { class: 'kill-label', x: at(scale, seconds), dx: 6, y: upperWords }, 'kill'),
    ]),
  ]);
}

function detailOf({ grace }: Scale, { grace: { effectiveSeconds }, verdict }: ExitReport): string {
  if (grace === undefined && effectiveSeconds > 0) return `${effectiveSeconds}s, not seen to begin`;
  const isRestarted = verdict.findings.some(({ code }) => code === 'kubelet-restarted');
  return `${effectiveSeconds}s${isRestarted ? ', perhaps counted anew' : ''}`;
}

/** Under the numbers of the ruler, in pixels. */
const below = 22;
const upperWords = 51;
const lowerWords = 67;

/** What the kubelet gives: solid where the grace surely ran, paler where it may have. */
function graceBand(scale: Scale): Html[] {
  const { grace, to } = scale;
  if (grace === undefined) return [];
  const { begin, end, shown } = grace;
  const within = ({ min, max }: Range): Range => ({ min, max: Math.min(max, to) });
  const box = (range: Range, cls: string): Html =>
    tag('rect', { class: cls, x: at(scale, range.min), width: wide(scale, range), y: 26, height: 10, rx: 3 });
  const sure = within({ min: begin.max, max: end.min });
  return [
    box(within({ min: begin.min, max: end.max }), 'grace perhaps'),
    ...(sure.max > sure.min ? [box(sure, 'grace')] : []),
    ...(isBeyond(scale, shown.max) ? [] : [upright(scale, shown.max, 'grace-end', below)]),
    words(scale, shown.max, { text: 'grace ends', cls: 'grace-label', y: upperWords, room: 15 }),
  ];
}

/** What the API announced, which ends nothing: a sign on the ruler, no line through the lanes. */
function deadlineTick(scale: Scale): Html[] {
  const { deadline } = scale;
  if (deadline === undefined) return [];
  const sign = tag('path', { class: 'deadline', d: 'M-4.5 0 H4.5 L0 7 Z' });
  return [
    ...(isBeyond(scale, deadline) ? [] : [tag('svg', { x: at(scale, deadline), y: 58, overflow: 'visible' }, sign)]),
    words(scale, deadline, { text: 'API’s deadline', cls: 'deadline-label', y: lowerWords, room: 30 }),
  ];
}

interface Words {
  readonly text: string;
  readonly cls: string;
  readonly y: number;
  /** Percent: how much of the lane is needed to stand before it. */
  readonly room: number;
}

/** Before the moment where there is room for it, else behind; at the edge, with an arrow, where it lies beyond. */
function words(scale: Scale, seconds: number, { text, cls, y, room }: Words): Html {
  const isBefore = percent(scale, seconds) >= room;
  const place = {
    class: cls,
    y,
    x: at(scale, seconds),
    dx: isBefore ? -8 : 8,
    'text-anchor': isBefore ? 'end' : 'start',
  };
  return tag('text', place, isBeyond(scale, seconds) ? `${text} +${seconds.toFixed(0)}s →` : text);
}

const isBeyond = ({ to }: Scale, seconds: number): boolean => seconds > to;

/** Lines through all lanes: where the kubelet's grace ends, and where something was killed. */
export function guidesOf(report: ExitReport, scale: Scale): Html {
  const end = scale.grace?.shown.max;
  const ends = end === undefined || isBeyond(scale, end) ? [] : [upright(scale, end, 'grace-end')];
  return join([...ends, ...killsOf(report, scale).map((seconds) => upright(scale, seconds, 'kill-line'))]);
}

const killsOf = ({ marks }: ExitReport, { zero, shown }: Scale): number[] =>
  marks.flatMap(({ name, subject, at: kill }) =>
    name === 'kill' && offsetRange(zero, kill) !== undefined ? [shown.at(kill, subject)] : [],
  );
