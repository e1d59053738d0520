/** The picture: one row per lane, each an SVG with positions in percent. */
import type { Timeline } from '../../infer/timeline.ts';
import { isGraceSeen } from '../../verdict/rule-input.ts';
import { forTerminal } from '../safe-text.ts';
import { lanesOf, looks, lookTexts, type Bar, type Lane, type Look, type Point } from './lanes.ts';
import { markup, type Child, type Html } from './markup.ts';

export interface Picture {
  readonly rows: readonly ReturnType<typeof row>[];
  /** The kinds of bars in it. */
  readonly looks: ReadonlySet<Look>;
}

export function drawTimeline(timeline: Timeline): Picture {
  const scale = scaleOf(timeline);
  const guides = guidesOf(timeline, scale);
  const seconds = [guides, ...ticks(scale), ...graceBand(timeline, scale)];
  const since = `after ${timeline.mode === 'attach' ? 'acceptance' : 'the request'}`;
  const axis = row('seconds', since, 'time axis', 56, seconds);
  return pictureOf(lanesOf(timeline), scale, axis, 46, 35.5, guides);
}

/** `height` of a lane, and of the points in it, in px; `guides` are drawn below its bars. */
export function pictureOf(
  lanes: readonly Lane[],
  scale: Scale,
  axis: Picture['rows'][number],
  height: number,
  pointY: number,
  guides?: Html,
): Picture {
  const drawn = lanes.map(({ name, detail, bars, points }) =>
    row(name, detail, `${detail} ${name}`, height, [
      guides,
      ...bars.map((bar) => drawBar(scale, bar)),
      ...points.map((point) => drawPoint(scale, point, pointY)),
    ]),
  );
  const present = new Set(lanes.flatMap(({ bars }) => bars.map((bar) => bar.look)));
  return { rows: [axis, ...drawn], looks: present };
}

/** A lane. `label` is what a screen reader calls the picture; `height` is in pixels. */
export const row = (name: string, detail: string, label: string, height: number, drawn: readonly Child[]) =>
  ({ name, detail, label, height, drawn }) as const;

/** Pixels. */
export const pictureWidth = 960;
export const margin = 20;
export const lineHeight = 22;
const nameWidth = 200;
/** Characters that fit beside the lanes. */
const nameLength = 28;

/** The picture in a page, as wide as that. */
export function pictureSvg(picture: Picture): Html {
  const { drawn, bottom } = drawnLanes(picture, margin);
  return markup`<svg class="lanes" viewBox="0 0 ${pictureWidth} ${bottom + margin}">${drawn}</svg>`;
}

/** The lanes, and the legend below them. */
export function drawnLanes(picture: Picture, top: number) {
  const lanes = stack(picture.rows, top);
  const legend = legendOf(picture, lanes.bottom + 24);
  return { drawn: [...lanes.drawn, ...legend.drawn], bottom: legend.bottom };
}

/** Lanes one below the other, and where they end, as positions in percent of their own SVGs. */
function stack(rows: Picture['rows'], top: number) {
  let bottom = top;
  const drawn = rows.map(({ name, detail, label, height, drawn: inside }) => {
    const middle = bottom + height / 2;
    const lane = markup`
      <g role="group" aria-label="${label}">
        <line class="between" x1="${margin}" x2="${pictureWidth - margin}" y1="${bottom}" y2="${bottom}"></line>
        <text class="name" x="${margin}" y="${middle - 2}"><title>${name}</title>${forTerminal(name, nameLength)}</text>
        <text class="muted" x="${margin}" y="${middle + 12}"><title>${detail}</title>${forTerminal(detail, nameLength)}</text>
        <svg class="track" x="${margin + nameWidth}" y="${bottom}" width="${pictureWidth - nameWidth - 2 * margin}" height="${height}">
          ${inside}
        </svg>
      </g>`;
    bottom += height;
    return lane;
  });
  return { drawn, bottom };
}

/**
 * Signs and colours, in as many lines as they need: explained also on paper, where nothing can be hovered. Text is
 * measured by its letters.
 */
function legendOf({ looks: present }: Picture, top: number) {
  const signs = ['◆ observed', '◇ inferred, with the interval it lies in', '✗ SIGKILL', '┊ end of the grace period'];
  const entries = [
    ...signs.map((text) => ({ look: undefined, text })),
    ...looks.filter((look) => present.has(look)).map((look) => ({ look, text: lookTexts[look] })),
  ];
  let [x, y] = [margin, top];
  const drawn = entries.map(({ look, text }) => {
    const taken = text.length * 6.6 + (look ? 40 : 22);
    if (x + taken > pictureWidth - margin) [x, y] = [margin, y + lineHeight];
    const [chipAt, textX] = [x, look ? x + 18 : x];
    x += taken;
    return markup`
      ${look && markup`<rect class="solid ${look}" x="${chipAt}" y="${y - 9}" width="12" height="10" rx="2"></rect>`}
      <text class="muted" x="${textX}" y="${y}">${text}</text>`;
  });
  return { drawn, bottom: y };
}

/** Solid for the certain part, faded for uncertain ends. Time past the grace period runs below the drain. */
function drawBar(scale: Scale, bar: Bar): Html {
  const { start, end, look, label, height = 1 } = bar;
  const high = Math.max(4, 20 * height);
  const slot = look === 'overtime' ? markup` y="26" height="4"` : markup` y="${25 - high}" height="${high}"`;
  const box = (from: number, to: number, cls: string): Html | false =>
    to > from && rect(`${cls} ${look}`, scale, from, to, slot);
  const drawn =
    start.latest <= end.earliest
      ? [
          box(start.earliest, start.latest, 'maybe'),
          box(start.latest, end.earliest, 'solid'),
          box(end.earliest, end.latest, 'maybe'),
        ]
      : [box(Math.min(start.earliest, end.earliest), Math.max(start.latest, end.latest), 'maybe')];
  const share = percent(scale, end.latest) - percent(scale, start.earliest);
  const sure = width(scale, start.latest, end.earliest);
  const hasLabel = label !== '' && parseFloat(sure) > 18 && look !== 'overtime';
  return titled(bar.title, [
    ...drawn,
    // Keeps even the shortest bar visible.
    share < 0.3 && markup`<rect class="solid ${look}" x="${x(scale, start.earliest)}" width="2"${slot}></rect>`,
    // Its own SVG cuts it off where the solid part ends: beyond, it would have too little contrast.
    hasLabel &&
      markup`
        <svg x="${x(scale, start.latest)}" width="${sure}">
          <text class="label on-${look}" x="7" y="19">${label}</text>
        </svg>`,
  ]);
}

/** A filled diamond is observed, a hollow one inferred; the line below it is the interval. */
function drawPoint(scale: Scale, { name, title, at }: Point, y: number): Html {
  const { earliest, latest, shown, basis, open } = at;
  const shape = name === 'kill' ? 'M-5 -5 L5 5 M5 -5 L-5 5' : 'M0 -5.5 L5.5 0 L0 5.5 L-5.5 0 Z';
  const from = open ? scale.from : earliest;
  return titled(title, [
    latest > from && rect('whisker', scale, from, latest, markup` y="${y - 1.5}" height="3"`),
    markup`
      <svg x="${x(scale, shown)}" y="${y}" overflow="visible">
        <circle class="target" r="9"></circle>
        <path class="point ${name === 'kill' ? 'kill' : basis}" d="${shape}"></path>
      </svg>`,
  ]);
}

/** `slot`: the attributes of its vertical place. */
const rect = (cls: string, scale: Scale, from: number, to: number, slot: Html): Html =>
  markup`<rect class="${cls}" x="${x(scale, from)}" width="${width(scale, from, to)}"${slot}></rect>`;

const titled = (title: string, drawn: readonly Child[]): Html =>
  markup`<g class="item" role="img"><title>${title}</title>${drawn}</g>`;

/** The grace period as the kubelet counts it. */
function graceBand(timeline: Timeline, scale: Scale): Html[] {
  const start = timeline.marks.find(({ name }) => name === 'stopping' || name === 'acknowledged')?.at.shown;
  const end = graceEndOf(timeline);
  if (start === undefined || end === undefined) return [];
  return [
    rect('grace', scale, start, end, markup` y="26" height="10" rx="3"`),
    markup`<text class="grace-label" x="${x(scale, start)}" y="49">grace period ${timeline.grace.effectiveSeconds}s</text>`,
  ];
}

function graceEndOf(timeline: Timeline): number | undefined {
  const ends = timeline.containers.flatMap(({ graceEnd }) => graceEnd?.shown ?? []).filter(Number.isFinite);
  return isGraceSeen(timeline) && ends.length > 0 ? Math.max(...ends) : undefined;
}

/** Lines through all lanes: where the grace period ends, and where something was killed. */
function guidesOf(timeline: Timeline, scale: Scale): Html {
  const end = graceEndOf(timeline);
  const verticalLine = (moment: number, cls: string): Html =>
    markup`<line class="${cls}" x1="${x(scale, moment)}" x2="${x(scale, moment)}" y1="0" y2="100%"></line>`;
  const kills = timeline.marks.filter(({ name }) => name === 'kill');
  return markup`
    ${end !== undefined && end <= scale.to && verticalLine(end, 'grace-end')}
    ${kills.map((mark) => verticalLine(mark.at.shown, 'kill-line'))}`;
}

export interface Scale {
  /** ms, client's clock. */
  readonly zero: number;
  /** ms at the left and the right edge. */
  readonly from: number;
  readonly to: number;
}

function scaleOf({ marks, phases, containers, zero }: Timeline): Scale {
  const moments = [...marks.map(({ at }) => at), ...phases.flatMap(({ start, end }) => [start, end])];
  const first = Math.min(zero, ...moments.map(({ earliest, shown, open }) => (open ? shown : earliest)));
  const last = Math.max(zero + 100, ...moments.map(({ latest }) => latest));
  const graceEnds = containers.flatMap(({ graceEnd }) => graceEnd?.shown ?? []);
  // A much longer grace period does not widen the axis.
  const end = Math.max(last, ...graceEnds.filter((graceEnd) => graceEnd - zero <= (last - zero) * 2.5));
  return padded(zero, first, end);
}

/** A scale with some room at its edges. */
export const padded = (zero: number, from: number, to: number): Scale => {
  const pad = (to - from) * 0.03;
  return { zero, from: from - pad, to: to + pad };
};

/** The position of a moment in percent, limited to the edges. */
function percent({ from, to }: Scale, at: number): number {
  return Number(Math.min(100, Math.max(0, ((at - from) / (to - from)) * 100)).toFixed(4));
}

const x = (scale: Scale, moment: number): string => `${percent(scale, moment)}%`;

const width = (scale: Scale, from: number, to: number): string =>
  `${Number(Math.max(0, percent(scale, to) - percent(scale, from)).toFixed(4))}%`;

/** Round seconds along the axis, at most eight. */
export function ticks(scale: Scale): Html[] {
  const { zero, from, to } = scale;
  const step = roundStep((to - from) / 7 / 1000);
  const decimals = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  const first = Math.ceil((from - zero) / 1000 / step);
  return Array.from({ length: Math.max(0, Math.floor((to - zero) / 1000 / step) - first + 1) }, (_, index) => {
    const seconds = (first + index) * step;
    const text = Math.abs(seconds).toFixed(decimals);
    const sign = Number(text) === 0 ? '' : seconds < 0 ? '−' : '+';
    const at = x(scale, zero + seconds * 1000);
    return markup`
      <g class="tick">
        <line x1="${at}" x2="${at}" y1="14" y2="20"></line>
        <text x="${at}" y="10" text-anchor="middle">${Number(text) === 0 ? '0' : `${sign}${text}s`}</text>
      </g>`;
  });
}

/** The next of 1, 2, 5 × 10ⁿ, and never finer than a millisecond. */
function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return Math.max(0.001, power * ([1, 2, 5].find((factor) => factor * power >= wanted * 0.999) ?? 10));
}
