/** What happens with the report of a finished run: stdout, report files, publishing, exit code. */
import { PodexitError } from '../../errors.ts';
import type { Trace } from '../../model/trace.ts';
import { signalCodes, worstCode } from '../../verdict/exit-code.ts';
import { reportOf } from '../../advice/report.ts';
import type { Stage } from '../../output/view.ts';
import type { Ports } from '../ports.ts';
import { leftBy } from '../ending/leaving.ts';
import { defaultReadSeconds } from '../ending/time-limit.ts';
import { exitViews } from '../../output/documents.ts';
import { publishReport } from '../../output/publish.ts';
import { fileOfPod, writeReports, isForEachPod } from '../../output/report-files.ts';
import type { TraceOptions } from '../options.ts';
import { timelineOf } from '../../infer/conclude.ts';
import { factsAwaitedUntil, hasNoReplacement } from '../ending/trace-end.ts';

export type FinishOptions = Pick<TraceOptions, 'policy' | 'reports' | 'format' | 'publish'>;

/** Shows the report, writes the files, publishes it, and returns the worst exit code of the report and of `codes`. */
export async function finish(
  trace: Trace,
  options: FinishOptions,
  stage: Stage,
  ports: Ports,
  codes: readonly number[] = [],
): Promise<number> {
  const report = reportOf(trace, options.policy);
  if (!report) return withoutReport(trace);
  const shown = stage.end(report);
  // If stdout is closed, the files are still written.
  await shown.catch(() => undefined);
  // A file of each pod is named after the one pod.
  const { name } = report.timeline.pod.metadata;
  const own = options.reports.map((file) => (isForEachPod(file) ? fileOfPod(file, name) : file));
  const files = await writeReports(exitViews, report, own, ports);
  await publishReport(report, options.publish, options.format, ports);
  await shown;
  return worstCode([report.verdict.exitCode, files, ...codes]);
}

/** The pod was never seen. Returns the exit code if the reader of stdout went away, else throws what happened. */
function withoutReport({ interrupted, timedOut, began }: Trace): number {
  const pod = `pod "${began?.value.name ?? '?'}" in namespace "${began?.value.namespace ?? '?'}"`;
  if (interrupted?.value === 'SIGPIPE') return signalCodes.SIGPIPE;
  if (interrupted) throw leftBy(interrupted.value, `interrupted before ${pod} had been read`);
  const limit = timedOut ? ` within ${began?.value.timeoutSeconds ?? defaultReadSeconds} s` : '';
  throw new PodexitError(
    'pod.unread',
    `${pod} could not be read${limit}`,
    'Nothing was deleted. -v=6 logs all requests.',
  );
}

/** One sentence about the missing replacement; undefined if it became ready or was not waited for. */
export function missingReplacementText(trace: Trace): string | undefined {
  const { began, gone, timedOut } = trace;
  if (!began?.value.waitReplacement || !gone) return undefined;
  const { replacement } = timelineOf(trace) ?? {};
  const pod = `pod "${began.value.name}" is gone`;
  if (hasNoReplacement(trace)) return `${pod}, and nothing will replace it`;
  if (!timedOut || factsAwaitedUntil(trace) !== undefined) return undefined;
  const state = replacement?.startedAt ? 'ready' : replacement?.scheduledAt ? 'started' : 'scheduled';
  const fate = replacement ? `its replacement "${replacement.name}" was not ${state}` : 'no replacement of it was seen';
  return `${pod}, but ${fate} by --timeout`;
}
