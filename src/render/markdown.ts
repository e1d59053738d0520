/** `-o markdown`: the exit as a page for a pull request, an incident or a step summary. */
import type { ExitReport, Instant } from '../model/report.ts';
import { weaker } from '../verdict/figures.ts';
import { formatSeconds } from './duration.ts';
import { graceShare } from './grace-share.ts';
import { mermaidZero, renderMermaid } from './mermaid.ts';
import { formatBounds, zeroOf } from './offsets.ts';
import { deletedBy, exitCodeWords, gateWord, outcomeSentence, outcomeWord } from './outcome-text.ts';
import { forMarkdown, forMarkdownCode } from './safe-text.ts';
import { shownIn } from './shown.ts';
import { describeLasted, describeUsed } from './summary.ts';

export function renderMarkdown(report: ExitReport): string {
  return `${markdownSections(report).join('\n\n')}\n`;
}

/** The page in parts that stand by themselves, the most important first. */
export function markdownSections(report: ExitReport): string[] {
  const sections = [heading, findings, gates, containers, phases, timeline, marks, doubts];
  return sections.map((section) => section(report)).filter((text) => text !== '');
}

function heading(report: ExitReport): string {
  const { pod, grace, verdict } = report;
  const used = describeUsed(report);
  const by = deletedBy(report);
  const facts = [
    `exit code ${forMarkdown(exitCodeWords(report))}`,
    ...(report.mode === 'check' ? [] : [describeLasted(report)?.replace(/^/, 'gone after ') ?? 'not seen to be gone']),
    used === undefined ? `grace ${grace.effectiveSeconds}s` : `${used} of its ${grace.effectiveSeconds}s grace used`,
    ...(by === undefined ? [] : [`deleted by ${by}`]),
    ...(pod.node === undefined ? [] : [`node ${forMarkdownCode(pod.node)}`]),
    ...(pod.owner === undefined ? [] : [`owner ${forMarkdownCode(`${pod.owner.kind}/${pod.owner.name}`)}`]),
  ];
  const symbol = report.mode === 'check' ? '•' : symbols[verdict.outcome];
  const title = `## ${symbol} ${outcomeWord(report)}: pod ${forMarkdownCode(pod.name)} in ${forMarkdownCode(pod.namespace)}`;
  return `${title}\n\n${forMarkdown(outcomeSentence(report), 2000)}\n\n${facts.join(' · ')}`;
}

const symbols: Record<ExitReport['verdict']['outcome'], string> = {
  graceful: '✓',
  removed: '✓',
  killed: '✗',
  oom: '✗',
  failed: '✗',
  forced: '✗',
  overran: '✗',
  stuck: '…',
  'not-started': '…',
  unknown: '?',
};

function findings({ verdict }: ExitReport): string {
  if (verdict.findings.length === 0) return '';
  const items = verdict.findings.map(({ severity, code, message, advice }) => {
    const next = advice === undefined ? '' : `\n  Next step: ${forMarkdown(advice, 2000)}`;
    return `- **${severity}** \`${code}\`: ${forMarkdown(message, 2000)}${next}`;
  });
  return `### Findings\n\n${items.join('\n')}`;
}

function gates({ verdict }: ExitReport): string {
  const rows = verdict.gates.map((gate) => [
    forMarkdownCode(gate.name),
    gate.passed ? gateWord(gate) : '**failed**',
    forMarkdown(gate.message, 2000),
  ]);
  return table('### Gates', ['gate', 'result', ''], rows);
}

/** None of a check: its containers have not ended. */
function containers(report: ExitReport): string {
  if (report.mode === 'check') return '';
  const at = offset(report);
  const rows = report.containers.map(({ name, kind, outcome, preStop, stopSignal, kill, exit }) => [
    forMarkdownCode(name),
    kind,
    outcome,
    preStop === undefined ? '' : `${preStop.kind}, ${preStop.outcome}`,
    at(stopSignal, name) + (stopSignal?.signal === undefined ? '' : ` ${forMarkdownCode(stopSignal.signal)}`),
    at(kill, name),
    at(exit?.at, name),
    exit === undefined ? '' : `${exit.code}${exit.reason ? ` ${forMarkdownCode(exit.reason)}` : ''}`,
  ]);
  return table('### Containers', ['name', 'kind', 'outcome', 'preStop', 'stop signal', 'kill', 'exit', 'code'], rows);
}

function phases(report: ExitReport): string {
  const at = offset(report);
  const rows = report.phases.map((phase) => {
    const { name, subject, start, end, seconds } = phase;
    const basis = weaker(start.basis, end.basis);
    const about = subject === undefined ? '' : forMarkdownCode(subject);
    return [name, about, at(start, subject), formatSeconds(seconds, basis), graceShare(phase) ?? '', basis];
  });
  return table('### Phases', ['phase', 'of', 'from', 'lasted', 'of grace', 'basis'], rows);
}

function timeline(report: ExitReport): string {
  if (report.phases.length + report.marks.length === 0) return '';
  const zero = mermaidZero(report);
  const moved = zero === 0 ? '' : `\n\nThe diagram shows no time below 0: its ${zero} s is the +0 of the tables.`;
  return `### Timeline\n\n\`\`\`mermaid\n${renderMermaid(report)}\`\`\`${moved}`;
}

/** In the order of the report: no effect before its cause. */
function marks(report: ExitReport): string {
  const at = offset(report);
  const zero = zeroOf(report);
  const rows = report.marks.map(({ name, subject, at: instant, note }) => [
    at(instant, subject),
    name,
    subject === undefined ? '' : forMarkdownCode(subject),
    note === undefined ? '' : forMarkdown(note),
    instant.basis,
    formatBounds(zero, instant),
  ]);
  const listed = table('', ['offset', 'mark', 'of', 'note', 'basis', 'lies within'], rows);
  return listed && details(`Marks (${rows.length})`, listed);
}

function doubts({ gaps, assumes, clocks }: ExitReport): string {
  const lines = [
    ...gaps.map(({ resource, from, to, cause }) =>
      [
        `- gap in ${forMarkdownCode(resource)} from ${forMarkdown(from)}`,
        to && `to ${forMarkdown(to)}`,
        `(${forMarkdown(cause)})`,
      ]
        .filter(Boolean)
        .join(' '),
    ),
    ...assumes.map(({ name, seconds }) => `- assumed: ${forMarkdownCode(name)} ${seconds}s`),
    ...Object.entries(clocks).map(
      ([name, { offsetMs }]) => `- the ${name} clock is ${offsetMs.min} … ${offsetMs.max} ms ahead of ours`,
    ),
  ];
  return lines.length === 0 ? '' : details('What is not certain', lines.join('\n'));
}

function offset(report: ExitReport): (instant: Instant | undefined, subject?: string) => string {
  const shown = shownIn(report);
  // A tilde between two others would strike the text through.
  return (instant, subject) => (instant === undefined ? '' : shown.offset(instant, subject).replace('~', '\\~'));
}

const details = (summary: string, body: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${body}\n\n</details>`;

function table(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = [line(columns), line(columns.map(() => '---')), ...rows.map(line)];
  return `${title === '' ? '' : `${title}\n\n`}${lines.join('\n')}`;
}
