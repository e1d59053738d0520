/** `-o markdown`: the answer in at most ten lines for a pull request or an incident, everything else folded below it. */
import type { FixReport } from '../../model/report.ts';
import { worstProbes, requestsText } from '../../verdict/loss.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { exitRows } from '../text/card-rows.ts';
import { iconOf, trafficSign } from '../text/card.ts';
import { plainPen as pen } from '../palette.ts';
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
  const { symbol } = rolloutIcon(numbers);
  const rows = rolloutRows({ ...numbers, worst: numbers.worst.slice(0, 1), fix: undefined }, pen)
    .slice(0, 8) // ten lines together with the heading and the line below it
    .map(({ label, pieces }) =>
      `- ${label} ${forMarkdown(pieces.map(({ text }) => text).join(''), 1000)}`.replace('-  ', '- '),
    );
  const title = `### ${pen.symbol(symbol)} ${forMarkdown(numbers.sentence, 1000)}`;
  const sections = [
    [title, forMarkdownCode(numbers.target), ...rows].join('\n'),
    fixSection(numbers.fix ? [numbers.fix] : []),
    reports.length > 0 ? foldedTable(podsTable(reports)) : '',
  ];
  return sections.filter((text) => text !== '');
}

/** Heading, pod, and one line each for containers, traffic, requests, gates and why: ten at most. */
function answerSection(report: Report): string {
  const { timeline, verdict, answer } = report;
  const place = [forMarkdownCode(podText(timeline)), ownerText(timeline), deletedText(report)];
  const rows = exitRows(report)
    .slice(0, 3)
    .map(({ label, words }) => `- ${forMarkdownCode(label)} ${forMarkdown(words.map(({ text }) => text).join(''))}`);
  const { grade, measured } = answer.traffic;
  const { text: traffic } = trafficSign(pen, grade, timeline.probes.length > 0);
  const failed = verdict.gates.filter(({ passed }) => !passed).slice(0, 2);
  const reason = [answer.traffic.reason, ...(measured === undefined ? [] : [measured])].join(' · ');
  const lines = [
    ...rows,
    `- traffic ${traffic}${reason === '' ? '' : `: ${forMarkdown(reason, 1000)}`}`,
    ...worstProbes(timeline.probes, 1).map((probe) => `- requests ${forMarkdown(requestsText(timeline, probe), 1000)}`),
    ...failed.map(({ message }) => `- gate ${forMarkdown(message, 1000)}`),
    ...(answer.why === undefined ? [] : [`- why: ${forMarkdown(answer.why, 1000)}`]),
  ];
  const title = `### ${pen.symbol(iconOf(report).symbol)} ${forMarkdown(answer.summary, 1000)}`;
  const where = place.flatMap((fact, index) => (fact === undefined ? [] : index === 0 ? fact : forMarkdown(fact)));
  return `${title}\n${where.join(' · ')}\n${lines.join('\n')}`;
}

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
