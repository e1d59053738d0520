/** Where else a report goes: GitHub Actions and an OpenTelemetry collector. None of it changes the exit code. */
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
  if (github ?? env['GITHUB_ACTIONS'] === 'true') {
    const { publishToGithub } = await import('./github-actions.ts');
    await publishToGithub(report, format, ports);
  }
  // Empty counts as not set, as in OpenTelemetry's specification.
  const named = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  if (otlp === 'always' || (otlp === 'auto' && named)) {
    const { exportTrace } = await import('../export/export-trace.ts');
    const failure = await exportTrace(exitReportOf(report), { env, version: ports.version });
    if (failure !== undefined) ports.stderr.write(`podexit: the trace was not exported: ${failure}\n`);
  }
}
