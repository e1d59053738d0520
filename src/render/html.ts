/**
 * `-o html` and `--report FILE.html`: one file that needs no network and no server. Its Content-Security-Policy forbids
 * everything except its own style and script, by their hashes.
 */
import { createHash } from 'node:crypto';
import type { Timeline } from '../infer/timeline.ts';
import type { FixReport } from '../model/report.ts';
import { imagesOf } from '../model/pod.ts';
import { secondsText } from '../verdict/length-text.ts';
import type { Report } from '../verdict/report.ts';
import { allNotes } from '../verdict/rule-input.ts';
import type { RolloutNumbers } from '../verdict/rollout.ts';
import { exitText } from './mark-text.ts';
import { cardLines, iconOf } from './card.ts';
import type { Item } from './html/lanes.ts';
import { script } from './html/script.ts';
import { style } from './html/style.ts';
import { drawPods, podTable } from './html/pods.ts';
import { tablesOf } from './html/tables.ts';
import { join, tag, trusted, type Child, type Html } from './html/tag.ts';
import { drawTimeline, type Picture } from './html/timeline.ts';
import { penFor, plainStyle } from './palette.ts';
import { dateText, deletedByText, deletedText, graceText, ownerText, podText } from './pod-facts.ts';
import { rolloutCardLines, verdictOf } from './rollout-card.ts';
import { forJson, forTerminal } from './safe-text.ts';
import { yamlText } from './yaml.ts';

const pen = penFor(plainStyle);

export function renderHtml(report: Report): string {
  const { timeline } = report;
  // Without marks there is no picture, and nothing to zoom or to hover.
  const picture = timeline.marks.length > 0 ? drawTimeline(timeline) : undefined;
  return pageOf({
    title: `${report.answer.word}: ${podText(timeline)}`,
    top: [
      headerOf(podText(timeline), report.verdict, report.answer.word, report.answer.headline),
      factsList(factsOf(report)),
      cardBox((columns) => cardLines({ ...report, answer: { ...report.answer, fix: [] } }, { pen, columns })),
      fixOf(report.answer.fix),
    ],
    picture: picture && { ...picture, notes: notesOf(timeline) },
    tables: tablesOf(report),
  });
}

/** The page of a run over several pods: a lane for each pod, and those of the probes below them. */
export function renderRolloutHtml(numbers: RolloutNumbers, reports: readonly Report[]): string {
  const [first] = reports;
  const head = verdictOf(numbers);
  const facts: Facts = [
    ['when', first && dateText(Math.min(...reports.map(({ timeline }) => timeline.zero)))],
    ['context', first?.run?.context],
    ['workload', numbers.target],
    ['namespace', first?.timeline.pod.metadata.namespace],
    ['pods', String(numbers.pods)],
    ['deleted by', [...new Set(reports.flatMap(deletedBy))].join(', ') || undefined],
    ['image', imageText(reports)],
    ['total', numbers.total === undefined ? undefined : secondsText(numbers.total)],
    ['exit code', String(numbers.exitCode)],
  ];
  return pageOf({
    title: numbers.sentence,
    top: [
      headerOf(numbers.target, head, '', numbers.sentence),
      factsList(facts),
      cardBox((columns) => rolloutCardLines({ ...numbers, fix: undefined }, { pen, columns })),
      fixOf(numbers.fix ? [numbers.fix] : []),
    ],
    picture: first && { ...drawPods(reports), notes: new Map() },
    tables: podTable(reports),
  });
}

interface Page {
  readonly title: string;
  readonly top: readonly Child[];
  /** `notes`: the observations by `seq`. */
  readonly picture: (Picture & { readonly notes: ReadonlyMap<number, string> }) | undefined;
  readonly tables: Child;
}

function pageOf({ title, top, picture, tables }: Page): string {
  const hint = tag('p', { class: 'note' }, 'Hover or use the arrow keys for evidence.');
  const body = tag(
    'body',
    {},
    tag(
      'main',
      {},
      ...top,
      picture &&
        tag(
          'section',
          { 'aria-labelledby': 't-timeline' },
          pictureHead(),
          tag('div', { class: 'viewport', role: 'region', 'aria-labelledby': 't-timeline', tabindex: 0 }, picture.html),
          picture.legend,
          tag('div', { class: 'panel', id: 'panel', role: 'status', 'aria-label': 'Evidence' }, hint),
        ),
      tag('section', { class: 'tables' }, tables),
    ),
    picture && tag('script', { type: 'application/json', id: 'items' }, dataOf(picture.items, picture.notes)),
    tag('script', {}, trusted(script)),
  );
  return `<!doctype html>\n${tag('html', { lang: 'en' }, headOf(title), body).html}\n`;
}

function headOf(title: string): Html {
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
    // Contains only our own words and hashes; tag() would escape its quotes.
    trusted(`<meta http-equiv="Content-Security-Policy" content="${policy}">`),
    tag('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
    tag('meta', { name: 'color-scheme', content: 'light dark' }),
    tag('title', {}, `${title} – podexit`),
    tag('style', {}, trusted(style)),
  );
}

const tones = { good: 'good', bad: 'bad', warning: 'doubt' } as const;

function headerOf(
  eyebrow: string,
  verdict: Pick<Report['verdict'], 'exitCode' | 'outcome'>,
  word: string,
  headline: string,
): Html {
  const { symbol, ink } = iconOf({ verdict });
  const tone = tones[ink as keyof typeof tones];
  return tag(
    'header',
    {},
    tag('p', { class: 'eyebrow' }, eyebrow),
    tag(
      'h1',
      {},
      tag('span', { class: tone }, `${pen.symbol(symbol)} ${word}`),
      ' ',
      tag('span', { class: 'headline' }, headline),
    ),
  );
}

type Facts = readonly (readonly [string, string | undefined])[];

/** When, where, what, who and how long: what a later reader asks first. */
function factsOf(report: Report): Facts {
  const { timeline, verdict } = report;
  const { pod, containers } = timeline;
  return [
    ['when', dateText(timeline.zero)],
    ['context', report.run?.context],
    ['workload', ownerText(timeline) ?? 'no controller'],
    ['namespace', pod.metadata.namespace],
    ['node', pod.spec.nodeName],
    ['deleted by', deletedBy(report)[0]],
    ['total', deletedText(report)],
    ['grace period', graceText(timeline)],
    ['containers', containers.map((container) => `${container.name} ${exitText(container)}`).join(', ') || undefined],
    ['image', imageText([report])],
    ['exit code', String(verdict.exitCode)],
  ];
}

const deletedBy = ({ timeline }: Report): string[] =>
  timeline.mode === 'check' || !timeline.deleted ? [] : [deletedByText(timeline)];

/** Each image once, with its container. */
function imageText(reports: readonly Report[]): string | undefined {
  const images = reports.flatMap(({ timeline }) => imagesOf(timeline.pod).map((image) => image.join(' ')));
  return [...new Set(images)].join(', ') || undefined;
}

const factsList = (facts: Facts): Html =>
  tag(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) =>
      value === undefined ? [] : [tag('div', {}, tag('dt', {}, name), tag('dd', {}, value))],
    ),
  );

/**
 * The card as in a terminal, for a wide and for a narrow page; the fix is below it, with buttons. Each line is safe
 * text, and tag() escapes markup.
 */
function cardBox(linesAt: (columns: number) => string[]): Html {
  const card = (width: string, columns: number): Html => {
    const lines = linesAt(columns).map((line) => tag('span', {}, line));
    return tag('pre', { class: `card ${width}`, tabindex: 0, 'aria-label': 'Answer' }, join(lines, '\n'));
  };
  return join([card('wide', 80), card('narrow', 50)]);
}

function fixOf(fixes: readonly FixReport[]): Html | false {
  if (fixes.length === 0) return false;
  const copied = (what: string, text: string): Html =>
    tag(
      'div',
      { class: 'command' },
      tag('code', {}, forTerminal(text, 4000)),
      tag('button', { type: 'button', 'data-copy': true, class: 'copy', 'aria-label': `Copy the ${what}` }, 'Copy'),
    );
  const items = fixes.map(({ reason, command, patch }) =>
    tag(
      'li',
      {},
      tag('p', {}, reason),
      copied('command', command),
      tag('details', {}, tag('summary', {}, 'As YAML'), copied('YAML', yamlText(patch).trimEnd())),
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

const notesOf = ({ notes }: Timeline): ReadonlyMap<number, string> =>
  new Map(allNotes(notes).map(({ seq, what }) => [seq, `${seq}: ${forTerminal(what)}`]));

/** Only `<` could end the script element; its escape means the same in JSON. */
function dataOf(items: readonly Item[], notes: ReadonlyMap<number, string>): Html {
  const data = items.map(({ title, lines, evidence }) => ({
    title: forTerminal(title),
    lines: lines.map((line) => forTerminal(line)),
    seen: evidence.flatMap((seq) => notes.get(seq) ?? []),
  }));
  return trusted(forJson(JSON.stringify(data)).replaceAll('<', '\\u003c'));
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;
