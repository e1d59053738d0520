/** Where else a report goes: GitHub Actions and an OpenTelemetry collector. */
import { appendFile, stat } from 'node:fs/promises';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Format } from './formats.ts';
import type { OutputPorts } from './ports.ts';

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
  const { env, stderr } = ports;
  if (isForGithub(where, ports)) {
    const { githubAnnotations } = await import('./machine/github.ts');
    annotate(githubAnnotations(report), where, format, ports);
  }
  if (sendsTraces(where, ports)) {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version: ports.version });
    if (failure !== undefined) stderr.write(`podexit: the trace was not exported: ${failure}\n`);
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
  const { githubSummary, summaryBytes } = await import('./machine/github.ts');
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
