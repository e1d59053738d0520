/** `-o svg`, `--report FILE.svg`: a picture without script. Converters to PNG know neither variables nor dark mode. */
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { plainPen as pen } from '../palette.ts';
import { podText } from '../pod-facts.ts';
import { flow, plain } from '../prose.ts';
import { forTerminal } from '../safe-text.ts';
import { iconOf, type Icon } from '../text/card.ts';
import { rolloutIcon } from '../text/rollout-card.ts';
import { markup, trusted } from './markup.ts';
import { drawPods } from './pods.ts';
import { drawnLanes, drawTimeline, lineHeight, margin, pictureWidth, type Picture } from './timeline.ts';
import { chart, dark, light } from './style-and-script.ts';

export function renderSvg(report: Report): string {
  const { timeline, answer } = report;
  const picture = timeline.marks.length > 0 ? drawTimeline(timeline) : undefined;
  return svgOf(podText(timeline), iconOf(report), `${answer.word} ${answer.headline}`, picture);
}

/** The picture of a run over several pods: a lane for each. */
export const renderRolloutSvg = (numbers: RolloutNumbers, reports: readonly Report[]): string =>
  svgOf(numbers.target, rolloutIcon(numbers), numbers.sentence, reports.length > 0 ? drawPods(reports) : undefined);

/** Characters that fit in a line of the headline. */
const headlineLength = 105;

/** Without a picture nothing was observed. */
function svgOf(subject: string, icon: Icon, headline: string, picture: Picture | undefined): string {
  const title = `${pen.symbol(icon.symbol)} ${forTerminal(headline)}`;
  const head = flow(pen, [plain(title)], { width: headlineLength, hang: 2 });
  const top = margin + 22 + head.length * lineHeight + 6;
  const none = markup`<text class="muted" x="${margin}" y="${top + 14}">Nothing was observed that could be drawn.</text>`;
  const lanes = picture ? drawnLanes(picture, top) : { drawn: none, bottom: top + 14 };
  const height = lanes.bottom + margin;
  const drawn = markup`
    <svg xmlns="http://www.w3.org/2000/svg" width="${pictureWidth}" height="${height}" viewBox="0 0 ${pictureWidth} ${height}" role="img">
      <title>${subject}: ${title}</title>
      <style>${trusted(style)}</style>
      <rect class="paper" width="${pictureWidth}" height="${height}"></rect>
      <text class="muted" x="${margin}" y="${margin + 12}">${forTerminal(subject, headlineLength)}</text>
      ${head.map((line, index) => markup`<text class="headline ${index === 0 ? icon.ink : 'plain'}" x="${margin}" y="${margin + 36 + index * lineHeight}">${line}</text>`)}
      ${lanes.drawn}
    </svg>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${drawn.html}\n`;
}

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
