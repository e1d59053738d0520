/** `-o markdown`: the answer in at most ten lines for a pull request or an incident, everything else folded below it. */
import type { Interval } from '../../infer/timeline.ts';
import type { FixReport } from '../../model/report.ts';
import { lengthText } from '../../verdict/length-text.ts';
import { worstOf, requestsText } from '../../verdict/loss.ts';
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { exitRows } from '../text/card-rows.ts';
import { iconOf, trafficSign } from '../text/card.ts';
import { graceShareText, phaseTitles } from '../text/details.ts';
import { markText } from '../mark-text.ts';
import { penFor, plainStyle } from '../palette.ts';
import { deletedText, ownerText, podText } from '../pod-facts.ts';
import { rolloutIcon, rolloutRows } from '../text/rollout-card.ts';
import { backticksAround, forMarkdown, forMarkdownCode, forTerminal } from '../safe-text.ts';
import { boundsText, offsetText } from '../time-text.ts';

export function renderMarkdown(report: Report): string {
  return `${markdownSections(report).join('\n\n')}\n`;
}

/** The page as independent sections, the answer first. */
export function markdownSections(report: Report): string[] {
  const { fix, advice } = report.answer;
  return [
    answerSection(report),
    fixSection(fix, advice),
    timelineTable(report),
    phaseTable(report),
    findings(report),
    limits(report),
  ].filter((text) => text !== '');
}

export const renderRolloutMarkdown = (numbers: RolloutNumbers, reports: readonly Report[]): string =>
  `${rolloutSections(numbers, reports).join('\n\n')}\n`;

/** Several pods: the rollout's card as ten lines at most, its fix and its pods folded. */
export function rolloutSections(numbers: RolloutNumbers, reports: readonly Report[]): string[] {
  const { symbol } = rolloutIcon(numbers);
  const rows = rolloutRows({ ...numbers, worst: numbers.worst.slice(0, 1), fix: undefined }, pen)
    .slice(0, maxRows)
    .map(({ label, pieces }) =>
      `- ${label} ${forMarkdown(pieces.map(({ text }) => text).join(''), 1000)}`.replace('-  ', '- '),
    );
  const pods = reports.map(({ timeline, answer }) => [
    forMarkdownCode(timeline.pod.metadata.name),
    forMarkdown(answer.word),
    timeline.total ? lengthText(timeline.total) : '',
    forMarkdown(answer.summary, 1000),
  ]);
  const title = `### ${pen.symbol(symbol)} ${forMarkdown(numbers.sentence, 1000)}`;
  const sections = [
    [title, forMarkdownCode(numbers.target), ...rows].join('\n'),
    fixSection(numbers.fix ? [numbers.fix] : []),
    folded(`Pods (${pods.length})`, table(['pod', 'result', 'total', 'summary'], pods)),
  ];
  return sections.filter((text) => text !== '');
}

/** Ten lines together with the heading and the line below it. */
const maxRows = 8;

const pen = penFor(plainStyle);

/** Heading, pod, and one line each for containers, traffic, requests, gates and why: ten at most. */
function answerSection(report: Report): string {
  const { timeline, verdict, answer } = report;
  const place = [forMarkdownCode(podText(timeline)), ownerText(timeline), deletedText(report)];
  const rows = exitRows(report)
    .slice(0, 3)
    .map(({ label, words }) => `- ${forMarkdownCode(label)} ${forMarkdown(words.map(({ text }) => text).join(''))}`);
  const { grade, measured } = answer.traffic;
  const { text: traffic } = trafficSign(pen, grade, timeline.probes.length > 0);
  const reason = [answer.traffic.reason, ...(measured === undefined ? [] : [measured])].join(' · ');
  const failed = verdict.gates.filter(({ passed }) => !passed).slice(0, 2);
  const lines = [
    ...rows,
    `- traffic ${traffic}${reason === '' ? '' : `: ${forMarkdown(reason, 1000)}`}`,
    ...worstOf(timeline.probes, 1).map((probe) => `- requests ${forMarkdown(requestsText(timeline, probe), 1000)}`),
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

function timelineTable({ timeline }: Report): string {
  const rows = timeline.marks.map((mark) => {
    const { who, text } = markText(mark, timeline);
    return [
      offset(mark.at, timeline.zero),
      forMarkdownCode(who),
      forMarkdown(text),
      mark.at.basis,
      boundsText(mark.at, timeline.zero),
    ];
  });
  return folded(`Timeline (${rows.length})`, table(['offset', 'who', 'what', 'basis', 'lies within'], rows));
}

function phaseTable({ timeline }: Report): string {
  const rows = timeline.phases.map((phase) => [
    phaseTitles[phase.name],
    phase.subject === undefined ? '' : forMarkdownCode(phase.subject),
    lengthText(phase.length),
    graceShareText(phase, timeline),
  ]);
  return folded('Phases', table(['phase', 'of', 'length', 'of the grace period'], rows));
}

function findings({ verdict }: Report): string {
  const items = verdict.findings.map(
    ({ severity, code, message, advice }) =>
      `- **${severity}** \`${code}\`: ${forMarkdown(message, 2000)}${advice === undefined ? '' : `. ${forMarkdown(advice, 2000)}`}`,
  );
  const gates = verdict.gates.map(({ message }) => `- gate ${forMarkdown(message, 2000)}`);
  return folded('Findings', [...items, ...gates].join('\n'));
}

function limits({ timeline }: Report): string {
  const gaps = timeline.gaps.map(
    ({ resource, cause }) => `- no access: ${forMarkdownCode(resource)} (${forMarkdown(cause)})`,
  );
  const assumed = timeline.assumes.map((name) => `- assumption: ${forMarkdownCode(name)}`);
  return folded('Accuracy', [...gaps, ...assumed].join('\n'));
}

const offset = (at: Interval, zero: number): string => `${offsetText(at, zero)}s`;

const folded = (summary: string, body: string): string =>
  body === '' ? '' : `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n');
}
