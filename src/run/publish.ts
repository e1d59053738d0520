/** Where else a report goes: GitHub Actions and an OpenTelemetry collector. None of it changes the exit code. */
import { appendFile, stat } from 'node:fs/promises';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';

export interface Publish {
  /** Absent: where GITHUB_ACTIONS is `true`. */
  readonly github?: boolean;
  /** `auto`: where the environment names a collector. */
  readonly otlp: 'always' | 'auto' | 'never';
}

/** Publishes it there, each part loaded only where it is asked for. A failure is a warning on stderr. */
export async function publish(report: Report, { github, otlp }: Publish, format: Format, ports: Ports): Promise<void> {
  const { env } = ports;
  if (github ?? env['GITHUB_ACTIONS'] === 'true') await publishToGithub(report, format, ports);
  // Empty counts as not set, as in OpenTelemetry's specification.
  const named = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (otlp === 'always' || (otlp === 'auto' && named)) {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version: ports.version });
    if (failure !== undefined) ports.stderr.write(`podexit: the trace was not exported: ${failure}\n`);
  }
}

/**
 * Annotations as workflow commands, the report in the step's summary; one that cannot be written is a warning: what the step is
 * about has been done. The runner reads commands from both streams of a step (actions/runner, ScriptHandler: one OutputManager
 * each), though only stdout is documented: so they go to stdout beside lines for people, and to stderr beside data.
 */
async function publishToGithub(report: Report, format: Format, { stdout, stderr, env }: Ports): Promise<void> {
  const { githubAnnotations, githubSummary, summaryBytes } = await import('../render/github.ts');
  const commands = ['lines', 'live', 'text'].includes(format.kind) ? stdout : stderr;
  for (const annotation of githubAnnotations(report)) commands.write(`${annotation}\n`);
  const file = env['GITHUB_STEP_SUMMARY'] ?? '';
  if (file === '') return;
  try {
    // All that a step writes counts against its cap, and more than that is an error of the step.
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    const room = summaryBytes - size;
    if (room > 0) await appendFile(file, githubSummary(report, room));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    stderr.write(`podexit: the step summary ${file} could not be written (${code ?? message})\n`);
  }
}
