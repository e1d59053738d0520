/** Where else a report goes: the annotations and summary of a step in GitHub Actions, and an OpenTelemetry collector. */
import { appendFile, stat } from 'node:fs/promises';
import type { Gate } from '../model/report.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Format } from './formats.ts';
import type { OutputPorts } from './ports.ts';
import { podText } from './pod-facts.ts';
import { forCommand, forCommandProperty } from './safe-text.ts';

export interface Publish {
  /** Absent: only if GITHUB_ACTIONS is `true`. */
  readonly github?: boolean;
  /** `auto`: only if the environment names a collector. */
  readonly otlp: 'always' | 'auto' | 'never';
}

/** GitHub annotations and summary and an OpenTelemetry trace, if configured. A failure only warns; the exit code stays. */
export async function publishReport(report: Report, where: Publish, format: Format, ports: OutputPorts): Promise<void> {
  await publishPod(report, where, format, ports);
  await publishSummary(async () => (await import('./machine/markdown.ts')).markdownSections(report), where, ports);
}

const isForGithub = ({ github }: Publish, { env }: OutputPorts): boolean => github ?? env['GITHUB_ACTIONS'] === 'true';

/**
 * The same without the summary, for one of several pods. The runner reads commands from both streams of a step
 * (actions/runner, ScriptHandler: one OutputManager each), though only stdout is documented: annotations go to stdout if
 * stdout has lines for people, else to stderr.
 */
export async function publishPod(report: Report, where: Publish, format: Format, ports: OutputPorts): Promise<void> {
  annotate(githubAnnotations(report), where, format, ports);
  if (sendsTraces(where, ports)) {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), ports);
    if (failure !== undefined) ports.stderr.write(`podexit: the trace was not exported: ${failure}\n`);
  }
}

/** An empty endpoint counts as not set, as in OpenTelemetry's specification. */
export const sendsTraces = ({ otlp }: Publish, { env }: Pick<OutputPorts, 'env'>): boolean =>
  otlp === 'always' ||
  (otlp === 'auto' && Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']));

export function annotate(annotations: readonly string[], where: Publish, format: Format, ports: OutputPorts): void {
  if (!isForGithub(where, ports)) return;
  const commands = ['lines', 'live', 'text'].includes(format.kind) ? ports.stdout : ports.stderr;
  for (const annotation of annotations) commands.write(`${annotation}\n`);
}

type Sections = () => string[] | Promise<string[]>;
/** The step's summary. If it cannot be written, that is only a warning, because the step has done its work. */
export async function publishSummary(sections: Sections, where: Publish, ports: OutputPorts): Promise<void> {
  const file = ports.env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '' || !isForGithub(where, ports)) return;
  try {
    // Everything that a step writes counts towards the size limit; exceeding it fails the step.
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    const room = summaryBytes - size;
    if (room > 0) await appendFile(file, githubSummary(await sections(), room));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    ports.stderr.write(`podexit: the step summary ${file} could not be written (${code ?? message})\n`);
  }
}

/** GitHub's limit for a step summary: a larger one makes the step fail. */
const summaryBytes = 1024 * 1024;

/** Workflow commands without newlines: one for a bad outcome and one per failed gate, else one for clients that found no backend. */
export function githubAnnotations({ timeline, verdict, answer }: Report): string[] {
  const { exitCode, gates, outcome } = verdict;
  const pod = podText(timeline);
  const advice = answer.fix.slice(0, 1).flatMap(({ reason, command }) => [`fix: ${reason}`, command]);
  const isGood = outcome === 'graceful' || outcome === 'removed';
  const { grade, reason, measured } = answer.traffic;
  const isUnserved = isGood && gates.every(({ passed }) => passed) && (grade === 'outage' || grade === 'misrouted');
  return [
    ...(isGood ? [] : [command(levelOf(exitCode), `${answer.word}: ${pod}`, [answer.headline, answer.why, ...advice])]),
    ...gateAnnotations(verdict, pod),
    ...(isUnserved ? [command('warning', `traffic ${grade}: ${pod}`, [reason, measured, ...advice])] : []),
  ];
}

/** One for each failed gate of a pod or of a whole run. */
export const gateAnnotations = (
  { gates, exitCode }: { gates: readonly Gate[]; exitCode: number },
  subject: string,
): string[] =>
  gates.flatMap(({ name, passed, message }) =>
    passed ? [] : [command(levelOf(exitCode), `gate ${name}: ${subject}`, [message])],
  );

const levelOf = (exitCode: number): string => (exitCode === 0 ? 'warning' : 'error');

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
