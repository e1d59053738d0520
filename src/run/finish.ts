/** What is done with the report of a finished run: stdout, report files, GitHub Actions, an OpenTelemetry collector, exit code. */
import { appendFile, stat } from 'node:fs/promises';
import { PodexitError } from '../errors.ts';
import type { Trace } from '../model/trace.ts';
import { signalCodes, worstCode } from '../verdict/exit-code.ts';
import type { Policy } from '../verdict/policy.ts';
import { reportOf, type Report } from '../verdict/report.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import type { Stage } from './run.ts';
import type { Format } from './formats.ts';
import type { Ports } from './ports.ts';
import { unreadSeconds } from './time-limit.ts';
import { writeReports } from './documents.ts';
import type { ReportFile } from './writable.ts';
import { timelineOf } from '../infer/conclude.ts';
import { triggerText } from '../render/mark-text.ts';
import { endingOf, isHopeless } from './ending.ts';

export interface FinishOptions {
  policy: Policy;
  reports: readonly ReportFile[];
  /** What stdout speaks. */
  format: Format;
  publish: Publish;
}

/** Shows the report, writes the files, publishes it, and returns the exit code. `failed`: something else could not be done. */
export async function finish(
  trace: Trace,
  options: FinishOptions,
  stage: Stage,
  ports: Ports,
  failed: boolean,
): Promise<number> {
  const report = reportOf(trace, options.policy);
  if (!report) return leftUnread(trace);
  const shown = stage.end(trace, report);
  // A closed stdout is no reason to lose the files.
  await shown.catch(() => undefined);
  const files = await writeReports(report, options.reports, ports);
  await publish(report, options.publish, options.format, ports);
  await shown;
  return worstCode([report.verdict.exitCode, files, ...(failed ? [1] : [])]);
}

/** No pod was ever seen: the code where the reader of stdout is gone, else it throws what happened. */
function leftUnread({ interrupted, timers, began }: Trace): number {
  const pod = `pod "${began?.value.name ?? '?'}" in namespace "${began?.value.namespace ?? '?'}"`;
  if (interrupted?.value === 'SIGPIPE') return signalCodes.SIGPIPE;
  if (interrupted)
    throw new PodexitError('run.left', `interrupted before ${pod} had been read`, 'Nothing was deleted.', {
      exitCode: signalCodes[interrupted.value],
    });
  if (timers.some(({ value }) => value === 'timeout'))
    throw new PodexitError(
      'pod.unread',
      `${pod} could not be read within ${began?.value.timeoutSeconds ?? unreadSeconds} s`,
      'Nothing was deleted. See what is asked and answered with: -v=6',
    );
  throw new PodexitError(
    'trace.empty',
    'nothing was observed of the pod',
    'Run it again, or check that the recording holds the pod.',
  );
}

/** Exit code where what was waited for did not come. */
export const notReplaced = 3;

/** One sentence; undefined where it was not asked for, or came. */
export function unreplaced(trace: Trace): string | undefined {
  const { began, gone, timers } = trace;
  if (!began?.value.waitReplacement || !gone) return undefined;
  const { trigger, replacement } = timelineOf(trace) ?? {};
  const pod = `pod "${began.value.name}" is gone`;
  if (isHopeless(trace)) return `${pod}, and nothing will replace it: ${triggerText[trigger?.kind ?? 'unknown']}`;
  const isLate = timers.some(({ value }) => value === 'timeout');
  if (!isLate || endingOf(trace).kind !== 'open') return undefined;
  const fate = replacement ? `its replacement "${replacement.name}" was not ready` : 'no replacement of it was seen';
  return `${pod}, but ${fate} by --timeout`;
}

/** Where else a report goes. */
export interface Publish {
  /** Absent: where GITHUB_ACTIONS is `true`. */
  readonly github?: boolean;
  /** `auto`: where the environment names a collector. */
  readonly otlp: 'always' | 'auto' | 'never';
}

/** Annotates in GitHub Actions and exports a trace, where asked for. A failure is a warning on stderr; the exit code stays. */
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
