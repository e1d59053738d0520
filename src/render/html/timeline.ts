/** The timeline: a row a lane, each an SVG whose positions are percents, so that zooming is but a wider page. */
import type { ExitReport, Range } from '../../model/report.ts';
import { lanesOf } from '../lanes.ts';
import type { Bar, Point, Told } from './bars.ts';
import { barsOf, isSure, pointsOf } from './bars.ts';
import { gapRows } from './gap-rows.ts';
import { legend } from './legend.ts';
import { looks, rooms } from './looks.ts';
import { row } from './row.ts';
import { guidesOf, ruler } from './ruler.ts';
import type { Scale } from './scale.ts';
import { at, percent, scaleOf, wide } from './scale.ts';
import type { Html } from './tag.ts';
import { join, tag } from './tag.ts';

export interface Timeline {
  readonly html: Html;
  /** What each drawn thing tells when pointed at; `data-item` is the index. */
  readonly items: readonly Told[];
  readonly legend: Html;
}

export function drawTimeline(report: ExitReport): Timeline {
  const scale = scaleOf(report);
  const items: Told[] = [];
  const remember = (told: Told): number => items.push(told) - 1;
  const guides = guidesOf(report, scale);
  const lanes = lanesOf(report).map((lane) => ({
    lane,
    bars: barsOf(report, scale, lane),
    points: pointsOf(scale, lane),
  }));
  const rows = lanes.map(({ lane, bars, points }) => {
    const drawn = [
      ...bars.map((bar) => drawBar(scale, bar, remember(bar))),
      ...points.map((point) => drawPoint(scale, point, remember(point))),
    ];
    return row(lane.name, lane.detail, `${lane.kind} ${lane.name}`, 46, [guides, ...drawn]);
  });
  const all = lanes.flatMap(({ bars }) => bars);
  const html = tag('div', { class: 'lanes' }, ruler(scale, report), ...rows, ...gapRows(report, scale, guides));
  return {
    html: join([definitions(), html]),
    items,
    legend: legend(new Set(all.map(({ look }) => look)), !all.every(isSure)),
  };
}

/** Solid where it surely was, faded and hatched where it may have been. Overtime runs under the drain it is part of. */
function drawBar(scale: Scale, bar: Bar, item: number): Html {
  const { start, end, look, label } = bar;
  const sure = isSure(bar);
  const slot = look === 'overtime' ? { y: 26, height: 4 } : { y: 5, height: 20 };
  const box = (range: Range, cls: string): Html | undefined =>
    range.max > range.min
      ? tag('rect', { class: cls, x: at(scale, range.min), width: wide(scale, range), ...slot })
      : undefined;
  const solid = { min: start.max, max: end.min };
  const either = { min: Math.min(start.min, end.min), max: Math.max(start.max, end.max) };
  const drawn = sure
    ? [
        box({ min: start.min, max: start.max }, `fade-in ${look}`),
        box(solid, `solid ${look}`),
        box({ min: end.min, max: end.max }, `fade-out ${look}`),
      ]
    : [box(either, `maybe ${look}`), box(either, 'doubtful')];
  const share = sure ? percent(scale, end.min) - percent(scale, start.max) : 0;
  // However short it was, it can be seen and pointed at.
  const tiny = percent(scale, end.max) - percent(scale, start.min) < 0.3;
  const room = rooms.find(({ percents }) => share >= percents)?.percents;
  return focusable(bar, item, [
    ...drawn,
    tiny && tag('rect', { class: `hair ${look}`, x: at(scale, start.min), width: 2, ...slot }),
    room !== undefined &&
      look !== 'overtime' &&
      tag('text', { class: `label on-${look} room-${room}`, x: at(scale, start.max), dx: 7, y: 19 }, label),
  ]);
}

/** A filled diamond was observed, a hollow one inferred; the line beneath it is the interval. */
function drawPoint(scale: Scale, point: Point, item: number): Html {
  const { shown, within, basis, name } = point;
  const shape = name === 'kill' ? 'M-5 -5 L5 5 M5 -5 L-5 5' : 'M0 -5.5 L5.5 0 L0 5.5 L-5.5 0 Z';
  const whisker = within.max > within.min;
  return focusable(point, item, [
    whisker &&
      tag('rect', { class: 'whisker', x: at(scale, within.min), width: wide(scale, within), y: 34, height: 3 }),
    tag(
      'svg',
      { x: at(scale, shown), y: 35.5, overflow: 'visible' },
      tag('circle', { class: 'target', r: 9 }),
      tag('path', { class: `point ${name === 'kill' ? 'kill' : basis}`, d: shape }),
    ),
  ]);
}

function focusable(told: Told, item: number, drawn: readonly (Html | undefined | false)[]): Html {
  const label = [told.title, ...told.lines].join('. ');
  return tag(
    'g',
    { class: 'item', 'data-item': item, role: 'img', tabindex: 0, 'aria-label': label },
    tag('title', {}, label),
    ...drawn,
  );
}

function definitions(): Html {
  const fades = looks.flatMap((look) => [
    gradient(`in-${look}`, look, [0.12, 1]),
    gradient(`out-${look}`, look, [1, 0.12]),
  ]);
  const lines = tag('path', { class: 'hatch', d: 'M-2 2 L2 -2 M-1 9 L9 -1 M6 10 L10 6' });
  const hatch = tag('pattern', { id: 'hatch', width: 8, height: 8, patternUnits: 'userSpaceOnUse' }, lines);
  return tag('svg', { width: 0, height: 0, class: 'defs', 'aria-hidden': 'true' }, tag('defs', {}, ...fades, hatch));
}

function gradient(id: string, look: string, [from, to]: [number, number]): Html {
  const stop = (offset: number, opacity: number) =>
    tag('stop', { class: `stop ${look}`, offset, 'stop-opacity': opacity });
  return tag('linearGradient', { id }, stop(0, from), stop(1, to));
}
