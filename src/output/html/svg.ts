/**
 * `-o svg` and `--report FILE.svg`: the timeline as one picture, for a pull request or a wiki. It has no script and needs no
 * other file. Colours are written out, since converters to PNG know neither variables nor dark mode.
 */
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { penFor, plainStyle } from '../palette.ts';
import { podText } from '../pod-facts.ts';
import { flow, plain } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { iconOf, type Icon } from '../text/card.ts';
import { rolloutIcon } from '../text/rollout-card.ts';
import { looks, lookTexts } from './lanes.ts';
import { markup, trusted, type Html } from './markup.ts';
import { drawPods } from './pods.ts';
import { chart, dark, light } from './style.ts';
import { definitions, drawTimeline, signs, type Picture, type LaneRow } from './timeline.ts';

const pen = penFor(plainStyle);

export function renderSvg(report: Report): string {
  const { timeline, answer } = report;
  return svgOf({
    subject: podText(timeline),
    icon: iconOf(report),
    headline: `${answer.word} ${answer.headline}`,
    picture: timeline.marks.length > 0 ? drawTimeline(timeline) : undefined,
  });
}

/** The picture of a run over several pods: a lane for each. */
export function renderRolloutSvg(numbers: RolloutNumbers, reports: readonly Report[]): string {
  return svgOf({
    subject: numbers.target,
    icon: rolloutIcon(numbers),
    headline: numbers.sentence,
    picture: reports.length > 0 ? drawPods(reports) : undefined,
  });
}

/** Pixels. */
const width = 960;
const margin = 20;
const nameWidth = 200;
const lineHeight = 22;

/** Characters that fit beside the lanes, and in a line of the headline. */
const nameLength = 28;
const headlineLength = 105;

interface Drawing {
  readonly subject: string;
  readonly icon: Icon;
  readonly headline: string;
  /** Absent: nothing was observed. */
  readonly picture: Picture | undefined;
}

function svgOf({ subject, icon, headline, picture }: Drawing): string {
  const title = `${pen.symbol(icon.symbol)} ${forTerminal(headline)}`;
  const head = flow(pen, [plain(title)], { width: headlineLength, hang: 2 });
  const top = margin + 22 + head.length * lineHeight + 6;
  const lanes = picture ? drawnLanes(picture, top) : noPicture(top + 14);
  const height = lanes.bottom + margin;
  const drawn = markup`
    <svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
      <title>${subject}: ${title}</title>
      <style>${trusted(style)}</style>
      <rect class="paper" width="${width}" height="${height}"></rect>
      <text class="muted" x="${margin}" y="${margin + 12}">${cut(subject, headlineLength)}</text>
      ${head.map((line, index) => textAt(index === 0 ? icon.ink : 'plain', margin, margin + 36 + index * lineHeight, line))}
      ${lanes.drawn}
    </svg>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${drawn.html}\n`;
}

const textAt = (ink: string, x: number, y: number, text: string): Html =>
  markup`<text class="headline ${ink}" x="${x}" y="${y}">${text}</text>`;

/** The picture in a page, as wide as that. */
export function pictureSvg(picture: Picture): Html {
  const { drawn, bottom } = drawnLanes(picture, margin);
  return markup`<svg class="lanes" viewBox="0 0 ${width} ${bottom + margin}">${drawn}</svg>`;
}

/** The lanes, and the legend below them. */
function drawnLanes(picture: Picture, top: number): Stacked {
  const lanes = stack(picture.rows, top);
  const legend = legendOf(picture, lanes.bottom + 24);
  return { drawn: [definitions, ...lanes.drawn, ...legend.drawn], bottom: legend.bottom };
}

interface Stacked {
  readonly drawn: readonly Html[];
  readonly bottom: number;
}

/** Lanes one below the other, as positions in percent of their own SVGs. */
function stack(rows: readonly LaneRow[], top: number): Stacked {
  let bottom = top;
  const drawn = rows.map(({ name, detail, label, height, drawn: inside }) => {
    const middle = bottom + height / 2;
    const lane = markup`
      <g role="group" aria-label="${label}">
        <line class="between" x1="${margin}" x2="${width - margin}" y1="${bottom}" y2="${bottom}"></line>
        <text class="name" x="${margin}" y="${middle - 2}"><title>${name}</title>${cut(name, nameLength)}</text>
        <text class="muted" x="${margin}" y="${middle + 12}"><title>${detail}</title>${cut(detail, nameLength)}</text>
        <svg class="track" x="${margin + nameWidth}" y="${bottom}" width="${width - nameWidth - 2 * margin}" height="${height}">
          ${inside}
        </svg>
      </g>`;
    bottom += height;
    return lane;
  });
  return { drawn, bottom };
}

/** Signs and colours, in as many lines as they need. Text is measured by its letters. */
function legendOf({ looks: present }: Picture, top: number): Stacked {
  const entries = [
    ...signs.map((text) => ({ look: undefined, text })),
    ...looks.filter((look) => present.has(look)).map((look) => ({ look, text: lookTexts[look] })),
  ];
  let [x, y] = [margin, top];
  const drawn = entries.map(({ look, text }) => {
    const taken = text.length * 6.6 + (look ? 40 : 22);
    if (x + taken > width - margin) [x, y] = [margin, y + lineHeight];
    const [chipAt, textX] = [x, look ? x + 18 : x];
    x += taken;
    return markup`
      ${look && markup`<rect class="solid ${look}" x="${chipAt}" y="${y - 9}" width="12" height="10" rx="2"></rect>`}
      <text class="muted" x="${textX}" y="${y}">${text}</text>`;
  });
  return { drawn, bottom: y };
}

const noPicture = (y: number): Stacked => ({
  drawn: [markup`<text class="muted" x="${margin}" y="${y}">Nothing was observed that could be drawn.</text>`],
  bottom: y,
});

const cut = (text: string, length: number): string => forTerminal(text, length);

const rules = `
svg { font-family: ui-sans-serif, system-ui, "Helvetica Neue", Arial, sans-serif; font-size: 12px; }
.paper { fill: var(--paper); } .headline { fill: var(--ink); font-size: 16px; font-weight: 600; }
.headline.good { fill: var(--good); } .headline.bad { fill: var(--bad); } .headline.warning { fill: var(--doubt); }
${chart}`;

const style = `${painted(light)}
@media (prefers-color-scheme: dark) {${painted(dark)}
}`;

function painted(scheme: string): string {
  const colours = new Map([...scheme.matchAll(/--([\w-]+): (#\w+)/g)].map(([, name, colour]) => [name, colour]));
  return rules.replace(/var\(--([\w-]+)\)/g, (_, name: string) => colours.get(name) ?? 'none');
}
