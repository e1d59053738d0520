/** The annotations and the summary of a step in GitHub Actions, as text: documents.ts writes them. Pure. */
import type { Report } from '../../verdict/report.ts';
import type { RolloutNumbers } from '../../verdict/rollout.ts';
import { podText } from '../pod-facts.ts';
import { forCommand, forCommandProperty } from '../safe-text.ts';

/** GitHub's limit for a step summary: a larger one makes the step fail. */
export const summaryBytes = 1024 * 1024;

/** Workflow commands without newlines: one for a bad outcome and one per failed gate, else one for clients that found no backend. */
export function githubAnnotations({ timeline, verdict, answer }: Report): string[] {
  const { exitCode, gates, outcome } = verdict;
  const pod = podText(timeline);
  const advice = answer.fix.slice(0, 1).flatMap(({ reason, command }) => [`fix: ${reason}`, command]);
  const isGood = outcome === 'graceful' || outcome === 'removed';
  const failed = gates.filter(({ passed }) => !passed);
  const level = exitCode === 0 ? 'warning' : 'error';
  const { grade, reason, measured } = answer.traffic;
  const isUnserved = isGood && failed.length === 0 && (grade === 'outage' || grade === 'misrouted');
  return [
    ...(isGood ? [] : [command(level, `${answer.word}: ${pod}`, [answer.headline, answer.why, ...advice])]),
    ...failed.map(({ name, message }) => command(level, `gate ${name}: ${pod}`, [message])),
    ...(isUnserved ? [command('warning', `traffic ${grade}: ${pod}`, [reason, measured, ...advice])] : []),
  ];
}

/** The failed gates of a run over several pods. */
export const rolloutAnnotations = ({ target, gates, exitCode }: RolloutNumbers): string[] =>
  gates.flatMap(({ name, passed, message }) =>
    passed ? [] : [command(exitCode === 0 ? 'warning' : 'error', `gate ${name}: ${target}`, [message])],
  );

/** Sections of Markdown for `$GITHUB_STEP_SUMMARY`, within its cap. */
export function githubSummary(sections: readonly string[], limit = summaryBytes): string {
  const cut = '*The rest was left out: a step summary holds no more.*\n';
  let text = '';
  for (const section of sections) {
    if (Buffer.byteLength(text + section + cut) + 2 > limit) return `${text}${cut}`;
    text += `${section}\n\n`;
  }
  return text;
}

/** `%0A` is a line feed: only those between our own lines are kept. `at`: where GitHub shows it, `file=a.yaml,line=3,`. */
export function command(name: string, title: string, lines: readonly (string | undefined)[], at = ''): string {
  const text = lines.flatMap((line) => (line === undefined ? [] : forCommand(line))).join('%0A');
  return `::${name} ${at}title=${forCommandProperty(`podexit ${title}`)}::${text}`;
}
