/** The timeline: a row a lane, each an SVG whose positions are percents, so that zooming is but a wider page. */
import type { ExitReport, Range } from '../../trace/report.ts';
import { lanesOf } from '../lanes.ts';
import { millis } from '../offsets.ts';
import type { Bar, Point, Told } from './bars.ts';
import { barsOf, pointsOf } from './bars.ts';
import { looks, rooms } from './looks.ts';
import type { Scale } from './scale.ts';
import { at, percent, scaleOf, ticksOf, wide } from './scale.ts';
import type { Html } from './tag.ts';
import { join, tag } from './tag.ts';

export interface Timeline {
  readonly html: Html;
  /** What each drawn thing tells when pointed at; `data-item` is the index. */
  readonly items: readonly Told[];
}

export function drawTimeline(report: ExitReport): Timeline {
  const scale = scaleOf(report);
  const items: Told[] = [];
  const remember = (told: Told): number => items.push(told) - 1;
  const guides = guidesOf(report, scale);
  const rows = lanesOf(report).map((lane) => {
    const drawn = [
      ...barsOf(report, scale, lane).map((bar) => drawBar(scale, bar, remember(bar))),
      ...pointsOf(scale, lane).map((point) => drawPoint(scale, point, remember(point))),
    ];
    return row(lane.name, lane.detail, `${lane.kind} ${lane.name}`, 46, [guides, ...drawn]);
  });
  const html = tag('div', { class: 'lanes' }, ruler(scale, report), ...rows, ...gapRows(report, scale, guides));
  return { html: join([definitions(), html]), items };
}

function row(name: string, detail: string, label: string, height: number, drawn: readonly Html[]): Html {
  const svg = { class: 'track', width: '100%', height, role: 'group', 'aria-label': label };
  return tag(
    'div',
    { class: 'lane' },
    tag('div', { class: 'lane-name' }, tag('b', { title: name }, name), tag('span', {}, detail)),
    tag('svg', svg, ...drawn),
  );
}

/** Solid where it surely was, faded and hatched where it may have been. */
function drawBar(scale: Scale, bar: Bar, item: number): Html {
  const { start, end, look, label } = bar;
  const sure = start.max <= end.min;
  const box = (range: Range, cls: string): Html | undefined =>
    range.max > range.min
      ? tag('rect', { class: cls, x: at(scale, range.min), width: wide(scale, range), y: 5, height: 20 })
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
    tiny && tag('rect', { class: `hair ${look}`, x: at(scale, start.min), y: 5, height: 20, width: 2 }),
    room !== undefined &&
      tag('text', { class: `label on-${look} room-${room}`, x: at(scale, start.max), dx: 7, y: 19 }, label),
  ]);
}

/** A filled diamond was observed, a hollow one inferred; the line beneath it is the interval. */
function drawPoint(scale: Scale, point: Point, item: number): Html {
  const { within, basis, name } = point;
  const shape = name === 'kill' ? 'M-5 -5 L5 5 M5 -5 L-5 5' : 'M0 -5.5 L5.5 0 L0 5.5 L-5.5 0 Z';
  const whisker = within.max > within.min;
  return focusable(point, item, [
    whisker &&
      tag('rect', { class: 'whisker', x: at(scale, within.min), width: wide(scale, within), y: 34, height: 3 }),
    tag(
      'svg',
      { x: at(scale, (within.min + within.max) / 2), y: 35.5, overflow: 'visible' },
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

/** Lines through all lanes: where the API's grace ends, and where something was killed. */
function guidesOf(report: ExitReport, scale: Scale): Html {
  const deadline =
    scale.deadline === undefined || scale.deadlineBeyond ? [] : [upright(scale, scale.deadline, 'deadline')];
  return join([...deadline, ...killsOf(report, scale).map((seconds) => upright(scale, seconds, 'kill-line'))]);
}

const upright = (scale: Scale, seconds: number, cls: string, top = 0): Html =>
  tag('line', { class: cls, x1: at(scale, seconds), x2: at(scale, seconds), y1: top, y2: '100%' });

function killsOf(report: ExitReport, { zero }: Scale): number[] {
  return report.marks.flatMap(({ name, at: { earliest, latest } }) => {
    const [from, to] = [millis(earliest), millis(latest)];
    return name !== 'kill' || from === undefined || to === undefined ? [] : [((from + to) / 2 - zero) / 1000];
  });
}

function ruler(scale: Scale, report: ExitReport): Html {
  const ticks = ticksOf(scale).map(({ seconds, label, level }) =>
    tag(
      'g',
      { class: `tick level-${level}` },
      tag('line', { x1: at(scale, seconds), x2: at(scale, seconds), y1: 14, y2: 20 }),
      tag('text', { x: at(scale, seconds), y: 10, 'text-anchor': 'middle' }, label),
    ),
  );
  return row('grace', `${report.grace.effectiveSeconds}s`, 'seconds after the request, against the grace period', 62, [
    ...ticks,
    ...graceBand(scale, report),
  ]);
}

/** Under the numbers of the ruler. */
const below = 22;

function graceBand(scale: Scale, report: ExitReport): Html[] {
  const { deadline, deadlineBeyond } = scale;
  if (deadline === undefined) return [];
  const begin = Math.max(scale.from, deadline - report.grace.effectiveSeconds);
  const end = deadlineBeyond ? scale.to : deadline;
  const anchor = { x: at(scale, end), dx: -6, y: 55, 'text-anchor': 'end' };
  const over = report.marks.length > 0 && !deadlineBeyond;
  return [
    tag('rect', {
      class: 'grace',
      x: at(scale, begin),
      width: wide(scale, { min: begin, max: end }),
      y: 26,
      height: 10,
      rx: 5,
    }),
    ...(over ? [upright(scale, deadline, 'deadline', below)] : []),
    tag(
      'text',
      { ...anchor, class: 'grace-label' },
      deadlineBeyond ? `deadline +${deadline.toFixed(0)}s →` : 'deadline',
    ),
    ...killsOf(report, scale).flatMap((seconds) => [
      upright(scale, seconds, 'kill-line', below),
      tag('text', { class: 'kill-label', x: at(scale, seconds), dx: 6, y: 55 }, 'kill'),
    ]),
  ];
}

/** Stretches in which something may have been missed, hatched; a row a resource. */
function gapRows(report: ExitReport, scale: Scale, guides: Html): Html[] {
  const resources = [...new Set(report.gaps.map(({ resource }) => resource))];
  return resources.map((resource) => {
    const gaps = report.gaps.filter((gap) => gap.resource === resource);
    const causes = [...new Set(gaps.map(({ cause }) => cause))].join(', ');
    const boxes = gaps.flatMap((gap) => drawGap(scale, gap));
    return row(`not seen: ${resource}`, causes, `gaps in what was seen of ${resource}`, 36, [guides, ...boxes]);
  });
}

function drawGap(scale: Scale, { resource, from, to, cause }: ExitReport['gaps'][number]): Html[] {
  const begin = millis(from);
  if (begin === undefined) return [];
  const min = (begin - scale.zero) / 1000;
  const max = to === undefined ? scale.to : ((millis(to) ?? begin) - scale.zero) / 1000;
  const box = { class: 'gap', x: at(scale, min), width: wide(scale, { min, max }), y: 8, height: 20, rx: 3 };
  return [tag('g', {}, tag('title', {}, `${resource}: ${cause}`), tag('rect', box))];
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
