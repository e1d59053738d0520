/** What a step in GitHub Actions leaves behind. Pure: who writes it, and where to, is decided elsewhere. */
import type { Report } from '../verdict/report.ts';
import { markdownSections } from './markdown.ts';
import { podText } from './pod-facts.ts';
import { forCommand, forCommandProperty } from './safe-text.ts';

/** The cap of a step summary; more of it is an error of the step. */
export const summaryBytes = 1024 * 1024;

/** Workflow commands, one line each and without newlines: one for what caused the exit code, one for lost requests. */
export function githubAnnotations({ timeline, verdict, answer }: Report): string[] {
  const { exitCode, gates, outcome } = verdict;
  const pod = podText(timeline);
  const fix = answer.fix[0];
  const advice = fix ? [`fix: ${fix.reason}`, fix.command] : [];
  const isGood = outcome === 'graceful' || outcome === 'removed';
  const failed = gates.filter(({ passed }) => !passed);
  const level = exitCode === 0 ? 'warning' : 'error';
  return [
    ...(isGood ? [] : [command(level, `${answer.word}: ${pod}`, [answer.headline, answer.why, ...advice])]),
    ...failed.map(({ name, message }) => command(level, `gate ${name}: ${pod}`, [message])),
    ...(isGood && failed.length === 0 && answer.traffic.judgement === 'at-risk'
      ? [command('warning', `traffic at risk: ${pod}`, [answer.traffic.reason, answer.traffic.measured, ...advice])]
      : []),
  ];
}

/** Markdown for `$GITHUB_STEP_SUMMARY`, within its cap. */
export function githubSummary(report: Report, limit = summaryBytes): string {
  const cut = '*The rest was left out: a step summary holds no more.*\n';
  let text = '';
  for (const section of markdownSections(report)) {
    if (bytes(text) + bytes(section) + bytes(cut) + 2 > limit) return `${text}${cut}`;
    text += `${section}\n\n`;
  }
  return text;
}

/** Only the line feeds between our own lines become line feeds. */
function command(name: string, title: string, lines: readonly (string | undefined)[]): string {
  const text = lines.flatMap((line) => (line === undefined ? [] : forCommand(line))).join('%0A');
  return `::${name} title=${forCommandProperty(`podexit ${title}`)}::${text}`;
}

const bytes = (text: string): number => new TextEncoder().encode(text).length;
