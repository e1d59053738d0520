/** What a step in GitHub Actions leaves behind. Pure: who writes it, and where to, is decided elsewhere. */
import type { ExitReport, Finding, Gate, Severity } from '../model/report.ts';
import { markdownSections } from './markdown.ts';
import { forCommand, forCommandProperty } from './safe-text.ts';
import { outcomeSentence } from './outcome-text.ts';

/** GitHub shows ten annotations of a kind for a step and drops the rest without a word. */
const mostAnnotations = 10;

/** The cap of a step summary; more of it is an error of the step. */
export const summaryBytes = 1024 * 1024;

const commands: Record<Severity, string> = { error: 'error', warning: 'warning', info: 'notice' };
const weight: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/** Workflow commands, one line each and without newlines: gates that failed, then findings, the gravest first. */
export function githubAnnotations(report: ExitReport): string[] {
  const { findings, gates, outcome, exitCode } = report.verdict;
  const failed = gates.filter(({ passed }) => !passed);
  const gravest = [...findings].sort((a, b) => weight[a.severity] - weight[b.severity]);
  const all = [
    ...failed.map((gate) => gateAnnotation(report, gate)),
    ...gravest.map((finding) => annotation(report, finding)),
  ];
  if (all.length > 0) return all.slice(0, mostAnnotations);
  if (exitCode === 0) return [];
  return [command('error', `podexit ${outcome}: pod ${report.pod.name}`, [outcomeSentence(report)])];
}

/** Markdown for `$GITHUB_STEP_SUMMARY`, within its cap. */
export function githubSummary(report: ExitReport, limit = summaryBytes): string {
  const cut = '*The rest was left out: a step summary holds no more.*\n';
  let text = '';
  for (const section of markdownSections(report)) {
    if (bytes(text) + bytes(section) + bytes(cut) + 2 > limit) return `${text}${cut}`;
    text += `${section}\n\n`;
  }
  return text;
}

function annotation({ pod }: ExitReport, { severity, code, message, advice }: Finding): string {
  return command(commands[severity], `podexit ${code}: pod ${pod.name}`, [
    message,
    ...(advice === undefined ? [] : [advice]),
  ]);
}

/** A gate that fails is an error, unless the run was told only to warn. */
function gateAnnotation({ pod, verdict }: ExitReport, { name, message }: Gate): string {
  return command(verdict.exitCode === 0 ? 'warning' : 'error', `podexit gate ${name}: pod ${pod.name}`, [message]);
}

/** Only the line feeds between our own lines become line feeds. */
function command(name: string, title: string, lines: readonly string[]): string {
  return `::${name} title=${forCommandProperty(title)}::${lines.map((line) => forCommand(line)).join('%0A')}`;
}

const bytes = (text: string): number => new TextEncoder().encode(text).length;
