/**
 * `-o html` and `--report FILE.html`: one file that needs no network and no server, and lets nothing in: its
 * Content-Security-Policy forbids everything but this very style and script, by their hashes.
 */
import { createHash } from 'node:crypto';
import type { Report } from '../verdict/report.ts';
import { triggerText } from './trigger-text.ts';
import { cardLines, dateText, deletedText, iconOf } from './card.ts';
import { ownerText, podText } from './heading.ts';
import type { Item } from './html/lanes.ts';
import { script } from './html/script.ts';
import { style } from './html/style.ts';
import { tablesOf } from './html/tables.ts';
import type { Html } from './html/tag.ts';
import { join, tag, trusted } from './html/tag.ts';
import { drawTimeline } from './html/timeline.ts';
import { exitText } from './mark-text.ts';
import { penFor, plainStyle } from './palette.ts';
import { forJson, forTerminal } from './safe-text.ts';

const pen = penFor(plainStyle);

export function renderHtml(report: Report): string {
  const { timeline } = report;
  // Without a picture there is nothing to zoom or to point at.
  const picture = timeline.marks.length > 0 ? drawTimeline(timeline) : undefined;
  const body = tag(
    'body',
    {},
    tag(
      'main',
      {},
      headerOf(report),
      factsOf(report),
      cardOf(report),
      fixOf(report),
      picture &&
        tag(
          'section',
          { 'aria-labelledby': 't-timeline' },
          pictureHead(),
          tag('div', { class: 'viewport', role: 'region', 'aria-labelledby': 't-timeline', tabindex: 0 }, picture.html),
          picture.legend,
          panel(),
        ),
      tag('section', { class: 'tables' }, tablesOf(report)),
    ),
    picture && tag('script', { type: 'application/json', id: 'items' }, dataOf(report, picture.items)),
    tag('script', {}, trusted(script)),
  );
  return `<!doctype html>\n${tag('html', { lang: 'en' }, headOf(report), body).html}\n`;
}

function headOf({ timeline, answer }: Report): Html {
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
    tag('title', {}, `${answer.word}: ${podText(timeline)} – podexit`),
    tag('style', {}, trusted(style)),
  );
}

const tones = { good: 'good', bad: 'bad', warning: 'doubt' } as const;

function headerOf(report: Report): Html {
  const { symbol, ink } = iconOf(report);
  const tone = tones[ink as keyof typeof tones];
  return tag(
    'header',
    {},
    tag('p', { class: 'eyebrow' }, podText(report.timeline)),
    tag(
      'h1',
      {},
      tag('span', { class: tone }, `${pen.symbol(symbol)} ${report.answer.word}`),
      ' ',
      tag('span', { class: 'headline' }, report.answer.headline),
    ),
  );
}

/** When, where, what, who and how long: what a reader of next month asks first. */
function factsOf(report: Report): Html {
  const { timeline, verdict } = report;
  const { pod, grace, trigger, containers, mode } = timeline;
  const facts: (readonly [string, string | undefined])[] = [
    ['when', dateText(timeline.zero)],
    ['workload', ownerText(timeline) ?? 'no controller'],
    ['namespace', pod.metadata.namespace],
    ['node', pod.spec.nodeName],
    ['deleted by', mode === 'check' || !timeline.deleted ? undefined : triggerText[trigger.kind]],
    ['total', deletedText(report)],
    [
      'grace period',
      `${grace.effectiveSeconds}s${grace.effectiveSeconds === grace.specSeconds ? '' : ` (${grace.specSeconds}s in its spec)`}`,
    ],
    ['containers', containers.map((one) => `${one.name} ${exitText(one)}`).join(', ') || undefined],
    ['exit code', String(verdict.exitCode)],
  ];
  return tag(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [tag('div', {}, tag('dt', {}, name), tag('dd', {}, value))],
    ),
  );
}

/** The card as in a terminal. The fix stands below it, with a button. */
function cardOf(report: Report): Html {
  const lines = cardLines({ ...report, answer: { ...report.answer, fix: [] } }, { pen, columns: 80 });
  // Each line is safe text already; tag() escapes what markup means.
  return tag(
    'pre',
    { class: 'card', tabindex: 0, 'aria-label': 'Answer' },
    join(
      lines.map((line) => tag('span', {}, line)),
      '\n',
    ),
  );
}

function fixOf({ answer }: Report): Html | false {
  if (answer.fix.length === 0) return false;
  const items = answer.fix.map(({ reason, command }) =>
    tag(
      'li',
      {},
      tag('p', {}, reason),
      tag(
        'div',
        { class: 'command' },
        tag('code', {}, forTerminal(command, 4000)),
        tag('button', { type: 'button', 'data-copy': true, class: 'copy' }, 'Copy'),
      ),
    ),
  );
  return tag(
    'section',
    { 'aria-labelledby': 't-fix' },
    tag('h2', { id: 't-fix' }, 'Fix'),
    tag('ul', { class: 'fixes' }, ...items),
  );
}

function pictureHead(): Html {
  const button = (zoom: string, label: string, text: string) =>
    tag('button', { type: 'button', 'data-zoom': zoom, 'aria-label': label, title: label }, text);
  return tag(
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
  );
}

const panel = (): Html =>
  tag(
    'div',
    { class: 'panel', id: 'panel', role: 'status', 'aria-label': 'Evidence' },
    tag('p', { class: 'note' }, 'Hover or use the arrow keys for evidence.'),
  );

/** Inside a script element only `<` could end it; as an escape it means the same to JSON. */
function dataOf({ timeline }: Report, items: readonly Item[]): Html {
  const seen = new Map<number, string>();
  for (let note = timeline.notes; note; note = note.earlier)
    seen.set(note.seq, `${note.seq}: ${forTerminal(note.what)}`);
  const data = items.map(({ title, lines, evidence }) => ({
    title: forTerminal(title),
    lines: lines.map((line) => forTerminal(line)),
    seen: evidence.flatMap((seq) => seen.get(seq) ?? []),
  }));
  return trusted(forJson(JSON.stringify(data)).replaceAll('<', '\\u003c'));
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
