/** `-o html`, `--report FILE.html`: one file without network or server. Its policy allows its own style and script. */
import { createHash } from 'node:crypto';
import type { Timeline } from '../../infer/timeline.ts';
import type { FixReport } from '../../model/report.ts';
import { imagesOf } from '../../model/pod.ts';
import { secondsText } from '../../verdict/words.ts';
import type { Report } from '../../verdict/report.ts';
import { allNotes } from '../../model/trace.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { exitText } from '../mark-text.ts';
import { cardLines, iconOf, type CardOptions, type Icon } from '../text/card.ts';
import { script, style } from './style-and-script.ts';
import { drawPods } from './pods.ts';
import { drawTimeline, pictureSvg, type Picture } from './timeline.ts';
import { join, markup, trusted, type Child, type Html } from './markup.ts';
import { plainPen } from '../palette.ts';
import { dateText, deletedByText, deletedText, podGraceText, ownerText, podText } from '../pod-facts.ts';
import { podsTable, tablesOf, type Cell, type ReportTable } from '../report-tables.ts';
import { rolloutCardLines, rolloutIcon } from '../text/rollout-card.ts';
import { printYaml } from '../machine/yaml.ts';

/** The page's heading says the answer, and its facts the pod. */
const rowsOnly = { pen: plainPen, rowsOnly: true };

export function renderHtml(report: Report): string {
  const { timeline } = report;
  const picture = timeline.marks.length > 0 ? drawTimeline(timeline) : undefined;
  const top = [
    headerOf(podText(timeline), iconOf(report), report.answer.word, report.answer.headline),
    factsList([report], factsOf(report), report.verdict.exitCode),
    cardBoxes(cardLines, { ...report, answer: { ...report.answer, advice: [], fix: [] } }),
    fixOf(report.answer.fix, report.answer.advice),
  ];
  const tables = tablesOf(report).map((table) => foldedTable(table, timeline.notes));
  return pageOf(`${report.answer.word}: ${podText(timeline)}`, top, picture, tables);
}

/** The page of a run over several pods: a lane for each pod, and those of the probes below them. */
export function renderRolloutHtml(numbers: RolloutNumbers, reports: readonly Report[]): string {
  const [first] = reports;
  const facts: Facts = [
    ['workload', numbers.target],
    ['pods', String(numbers.pods)],
    ['total', numbers.total === undefined ? undefined : secondsText(numbers.total)],
  ];
  const top = [
    headerOf(numbers.target, rolloutIcon(numbers), '', numbers.sentence),
    factsList(reports, facts, numbers.exitCode),
    cardBoxes(rolloutCardLines, { ...numbers, fix: undefined }),
    fixOf(numbers.fix ? [numbers.fix] : []),
  ];
  return pageOf(numbers.sentence, top, first && drawPods(reports), first && foldedTable(podsTable(reports)));
}

function pageOf(title: string, top: readonly Child[], picture: Picture | undefined, tables: Child): string {
  const figure =
    picture &&
    markup`
      <section aria-labelledby="t-timeline">
        <h2 id="t-timeline">Timeline</h2>
        <div class="viewport" role="region" aria-labelledby="t-timeline" tabindex="0">${pictureSvg(picture)}</div>
      </section>`;
  const page = markup`
    <html lang="en">
      ${headOf(title)}
      <body>
        <main>
          ${top}
          ${figure}
          <section class="tables">${tables}</section>
        </main>
        <script>${trusted(script)}</script>
      </body>
    </html>`;
  return `<!doctype html>\n${page.html}\n`;
}

function headOf(title: string): Html {
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return markup`
    <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="${trusted(policy)}">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>${title} – podexit</title>
      <style>${trusted(style)}</style>
    </head>`;
}

const headerOf = (eyebrow: string, { symbol, ink }: Icon, word: string, headline: string): Html => markup`
  <header>
    <p class="eyebrow">${eyebrow}</p>
    <h1><span class="${ink === 'warning' ? 'doubt' : ink}">${rowsOnly.pen.symbol(symbol)} ${word}</span> <span class="headline">${headline}</span></h1>
  </header>`;

type Facts = readonly (readonly [string, string | undefined])[];

const factsOf = (report: Report): Facts => [
  ['workload', ownerText(report.timeline) ?? 'no controller'],
  ['node', report.timeline.pod.spec.nodeName],
  ['total', deletedText(report)],
  ['grace period', podGraceText(report.timeline)],
  ['containers', report.timeline.containers.map((one) => `${one.name} ${exitText(one)}`).join(', ') || undefined],
];

/** Without those of which another one says more. */
function deletersOf(reports: readonly Report[]): string | undefined {
  const deleted = reports.filter(({ timeline }) => timeline.mode !== 'check' && timeline.deleted);
  const texts = [...new Set(deleted.map(({ timeline }) => deletedByText(timeline)))];
  const fullest = texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text)));
  return fullest.join(' · ') || undefined;
}

/** Each image once, with its container. */
function imageText(reports: readonly Report[]): string | undefined {
  const images = reports.flatMap(({ timeline }) => imagesOf(timeline.pod).map((image) => image.join(' ')));
  return [...new Set(images)].join(', ') || undefined;
}

/** When, where, what, who and how long: what a later reader asks first. */
function factsList(reports: readonly Report[], own: Facts, exitCode: number): Html {
  const [first] = reports;
  const facts: Facts = [
    ['when', first && dateText(Math.min(...reports.map(({ timeline }) => timeline.zero)))],
    ['context', first?.run?.context],
    ['namespace', first?.timeline.pod.metadata.namespace],
    ...own,
    ['deleted by', deletersOf(reports)],
    ['image', imageText(reports)],
    ['exit code', String(exitCode)],
  ];
  return markup`
    <dl class="facts">
      ${facts.map(([name, value]) => value !== undefined && markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>`;
}

/** The card's rows as in a wide and in a narrow terminal, of which the page shows one; the fix is below, with buttons. */
const cardBoxes = <T>(linesOf: (of: T, options: CardOptions) => readonly string[], of: T): Html[] =>
  [80, 44].map((columns) => {
    const lines = join(linesOf(of, { ...rowsOnly, columns }), '\n');
    return markup`<pre class="card w${columns}" tabindex="0" aria-label="Answer">${lines}</pre>`;
  });

/** `advice`: what no patch can change, which comes first, as on the card. */
function fixOf(fixes: readonly FixReport[], advice: readonly string[] = []): Html | false {
  if (fixes.length === 0 && advice.length === 0) return false;
  const copied = (what: string, text: string): Html => markup`
    <div class="command">
      <code>${join(text.split('\n'), '\n')}</code>
      <button type="button" data-copy="" class="copy" aria-label="Copy the ${what}">Copy</button>
    </div>`;
  const sentences = advice.map((text) => markup`<li><p>${text}</p></li>`);
  const items = fixes.map(
    ({ reason, command, patch }) => markup`
      <li>
        <p>${advice.length > 0 ? 'then ' : ''}${reason}</p>
        ${copied('command', command)}
        <details><summary>As YAML</summary>${copied('YAML', printYaml(patch).trimEnd())}</details>
      </li>`,
  );
  return markup`<section aria-labelledby="t-fix"><h2 id="t-fix">Fix</h2><ul class="fixes">${sentences}${items}</ul></section>`;
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

/** `notes`: what cells of evidence may link to. */
function foldedTable({ title, columns, rows }: ReportTable, notes?: Timeline['notes']): Child {
  const listed = new Set(allNotes(notes).map(({ seq }) => seq));
  const numeric = columns.map((column) => column.startsWith('#') && markup` class="num"`);
  const head = columns.map((column, at) => markup`<th scope="col"${numeric[at]}>${column.replace(/^[#`]/, '')}</th>`);
  const citation = (seq: number): Child => (listed.has(seq) ? markup`<a href="#o${seq}">${seq}</a>` : String(seq));
  const cellOf = (cell: Cell, at: number): Child => {
    if (typeof cell !== 'string') return join(cell.map(citation), ' ');
    if (columns[at]?.startsWith('`')) return markup`<code>${cell}</code>`;
    return columns[at] === 'severity' ? markup`<span class="severity ${cell}">${cell}</span>` : cell;
  };
  const body = rows.map(
    (row) =>
      markup`<tr${title === 'Observations' && markup` id="o${String(row[0])}"`}>${row.map((cell, at) => markup`<td${numeric[at]}>${cellOf(cell, at)}</td>`)}</tr>`,
  );
  return markup`
    <details>
      <summary>${title} (${rows.length})</summary>
      <div class="scroll" role="region" aria-label="${title}" tabindex="0">
        <table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>
      </div>
    </details>`;
}
