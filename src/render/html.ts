/**
 * `-o html` and `--report FILE.html`: one file that needs no network and no server, and lets nothing in: its
 * Content-Security-Policy forbids everything but this very style and script, by their hashes.
 */
import { outcomeWord } from './outcome-text.ts';
import { createHash } from 'node:crypto';
import type { ExitReport } from '../model/report.ts';
import type { Told } from './html/bars.ts';
import { script } from './html/script.ts';
import { style } from './html/style.ts';
import { tablesOf } from './html/tables.ts';
import type { Html } from './html/tag.ts';
import { tag, trusted } from './html/tag.ts';
import type { Timeline } from './html/timeline.ts';
import { drawTimeline } from './html/timeline.ts';
import { findingsOf, headerOf } from './html/verdict.ts';
import { forJson, forTerminal } from './safe-text.ts';

export function renderHtml(report: ExitReport): string {
  const body = hasTimeline(report) ? withTimeline(report) : withoutTimeline(report);
  return `<!doctype html>\n${tag('html', { lang: 'en' }, headOf(report), body).html}\n`;
}

/** A check deletes nothing, and who waited in vain saw nothing happen. */
const hasTimeline = ({ marks, phases, gaps, mode }: ExitReport): boolean =>
  marks.length + phases.length > 0 || (mode !== 'check' && gaps.length > 0);

function withTimeline(report: ExitReport): Html {
  const timeline = drawTimeline(report);
  return tag(
    'body',
    {},
    tag('main', {}, headerOf(report), findingsOf(report), timelineSection(timeline), tablesOf(report)),
    tag(
      'footer',
      {},
      `Times are seconds after ${zeroWords(report)}, on the client’s clock. ◆ observed: something told us of this very moment; it stands where that arrived. ◇ inferred: it follows from what was seen. ~ marks numbers that rest on an inferred instant.`,
    ),
    tag('script', { type: 'application/json', id: 'items' }, dataOf(report, timeline.items)),
    tag('script', {}, trusted(script)),
  );
}

const zeroWords = ({ marks }: ExitReport): string =>
  marks.some(({ name }) => name === 'requested') ? 'the request' : 'the deletion was first seen to be accepted';

/** Without a picture there is nothing to zoom, and the script is about nothing else. */
const withoutTimeline = (report: ExitReport): Html =>
  tag('body', {}, tag('main', {}, headerOf(report), findingsOf(report), tablesOf(report)));

function headOf(report: ExitReport): Html {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return tag(
    'head',
    {},
    tag('meta', { charset: 'utf-8' }),
    // Built of our own words and hashes only; its quotes must stay quotes.
    trusted(`<meta http-equiv="Content-Security-Policy" content="${policy}">`),
    tag('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    tag('meta', { name: 'color-scheme', content: 'light dark' }),
    tag('title', {}, `${outcomeWord(report)}: ${report.pod.namespace}/${report.pod.name} – podexit`),
    tag('style', {}, trusted(style)),
  );
}

function timelineSection({ html: picture, legend }: Timeline): Html {
  const button = (zoom: string, label: string, text: string) =>
    tag('button', { type: 'button', 'data-zoom': zoom, 'aria-label': label, title: label }, text);
  return tag(
    'section',
    { 'aria-labelledby': 't-timeline' },
    tag(
      'div',
      { class: 'bar-head' },
      tag('h2', { id: 't-timeline' }, 'Timeline'),
      tag(
        'div',
        { class: 'zoom', role: 'group', 'aria-label': 'Zoom' },
        button('out', 'Zoom out', '−'),
        button('in', 'Zoom in', '+'),
        button('reset', 'Show everything', 'all'),
      ),
    ),
    tag('div', { class: 'viewport', role: 'region', 'aria-labelledby': 't-timeline', tabindex: 0 }, picture),
    legend,
    tag(
      'div',
      { class: 'panel', id: 'panel', role: 'status', 'aria-label': 'Evidence' },
      tag(
        'p',
        { class: 'note' },
        'Point at a bar or a mark, or walk over them with the arrow keys, to see what proves it. + and − zoom, as does the wheel with Ctrl.',
      ),
    ),
  );
}

/** Inside a script element only `<` could end it; as an escape it means the same to JSON. */
function dataOf(report: ExitReport, items: readonly Told[]): Html {
  const seen = new Map(report.observations.map(({ seq, what }) => [seq, `${seq}: ${forTerminal(what)}`]));
  const data = items.map(({ title, lines, evidence }) => ({
    title: forTerminal(title),
    lines: lines.map((line) => forTerminal(line)),
    seen: evidence.flatMap((seq) => seen.get(seq) ?? []),
  }));
  return trusted(forJson(JSON.stringify(data)).replaceAll('<', '\\u003c'));
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
