/** `-o markdown`: the answer in at most ten lines for a pull request or an incident, everything else folded below it. */
import type { FixReport } from '../../model/report.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { exitRows, type CardRow } from '../text/card-rows.ts';
import { answerRows, iconOf, type Icon } from '../text/card.ts';
import { plainPen as pen } from '../palette.ts';
import type { Piece } from '../prose.ts';
import { deletedText, ownerText, podText } from '../pod-facts.ts';
import { podsTable, tablesOf, type Cell, type ReportTable } from '../report-tables.ts';
import { rolloutIcon, rolloutRows } from '../text/rollout-card.ts';
import { backticksAround, forMarkdown, forMarkdownCode, forTerminal } from '../safe-text.ts';

export const renderMarkdown = (report: Report): string => `${markdownSections(report).join('\n\n')}\n`;

/** The page as independent sections, the answer first. */
export function markdownSections(report: Report): string[] {
  const { fix, advice } = report.answer;
  return [
    answerSection(report),
    fixSection(fix, advice),
    ...tablesOf(report)
      .filter(({ title }) => title !== 'Observations')
      .map(foldedTable),
  ].filter((text) => text !== '');
}

export const renderRolloutMarkdown = (numbers: RolloutNumbers, reports: readonly Report[]): string =>
  `${rolloutSections(numbers, reports).join('\n\n')}\n`;

/** Several pods: the rollout's card as ten lines at most, its fix and its pods folded. */
export function rolloutSections(numbers: RolloutNumbers, reports: readonly Report[]): string[] {
  const rows = rolloutRows({ ...numbers, worst: numbers.worst.slice(0, 1), fix: undefined }, pen);
  const sections = [
    tenLines(rolloutIcon(numbers), numbers.sentence, forMarkdownCode(numbers.target), rows.map(rowLine)),
    fixSection(numbers.fix ? [numbers.fix] : []),
    reports.length > 0 ? foldedTable(podsTable(reports)) : '',
  ];
  return sections.filter((text) => text !== '');
}

/** Heading, pod, and the card's rows for containers, traffic, requests, gates and why. */
function answerSection(report: Report): string {
  const { timeline, answer } = report;
  const facts = [ownerText(timeline), deletedText(report)].flatMap((fact) =>
    fact === undefined ? [] : forMarkdown(fact),
  );
  const exits = exitRows(report)
    .slice(0, 3)
    .map(({ label, words }) => `- ${forMarkdownCode(label)} ${textOf(words)}`);
  const rows = answerRows(report, { pen, columns: Infinity });
  const linesOf = (...labels: string[]): string[] => rows.filter(({ label }) => labels.includes(label)).map(rowLine);
  const [seen, why] = [[...exits, ...linesOf('traffic', 'requests')], linesOf('why')];
  const gates = linesOf('gate').slice(0, mostLines - seen.length - why.length);
  const place = [forMarkdownCode(podText(timeline)), ...facts].join(' · ');
  return tenLines(iconOf(report), answer.summary, place, [...seen, ...gates, ...why]);
}

/** Beside the heading and the line of the pod. */
const mostLines = 8;

const tenLines = ({ symbol }: Icon, answer: string, place: string, lines: readonly string[]): string =>
  [`### ${pen.symbol(symbol)} ${forMarkdown(answer, 1000)}`, place, ...lines.slice(0, mostLines)].join('\n');

const textOf = (pieces: readonly Piece[]): string => forMarkdown(pieces.map(({ text }) => text).join(''), 1000);

const rowLine = ({ label, pieces }: CardRow): string => `- ${label && `${label} `}${textOf(pieces)}`;

/** `advice`: what no patch can change, which comes first, as on the card. */
function fixSection(fixes: readonly FixReport[], advice: readonly string[] = []): string {
  const patches = fixes.map(({ reason, command }) => {
    const fence = backticksAround(command, 3);
    const what = `${advice.length > 0 ? 'then ' : ''}${reason}`;
    return `${forMarkdown(what, 2000)}\n\n${fence}sh\n${forTerminal(command, 4000)}\n${fence}`;
  });
  return folded('Fix', [...advice.map((text) => forMarkdown(text, 2000)), ...patches].join('\n\n'));
}

/** Evidence is only numbers here: the observations are in the other formats. */
function foldedTable({ title, columns, rows }: ReportTable): string {
  const shown = columns.flatMap((column, at) => (column === 'evidence' ? [] : at));
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cellOf = (cell: Cell | undefined, column = ''): string =>
    typeof cell !== 'string' || cell === ''
      ? ''
      : column.startsWith('`')
        ? forMarkdownCode(cell)
        : forMarkdown(cell, 2000);
  const body = [
    line(shown.map((at) => (columns[at] ?? '').replace(/^[#`]/, ''))),
    line(shown.map(() => '---')),
    ...rows.map((row) => line(shown.map((at) => cellOf(row[at], columns[at])))),
  ];
  return folded(`${title} (${rows.length})`, body.join('\n'));
}

const folded = (summary: string, body: string): string =>
  body === '' ? '' : `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;
