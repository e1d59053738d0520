/**
 * What happens with the report of a finished run: stdout, report files, publishing, exit code. Over several pods each
 * report is shown and written as its pod ends, and the summary with its probes at the end.
 */
import { PodexitError } from '../../errors.ts';
import type { Trace, ProbeFacts } from '../../model/trace.ts';
import { signalCodes, worstCode, gateFailed, type Policy } from '../../verdict/policy.ts';
import { reportOf } from '../../advice/report.ts';
import type { Stage } from '../../output/view.ts';
import type { Ports } from '../ports.ts';
import { leftBy, defaultReadSeconds } from '../ending/leaving.ts';
import { exitViews, rolloutViews } from '../../output/documents.ts';
import { publishReport, annotate, gateAnnotations, publishPod, publishSummary } from '../../output/publish.ts';
import { fileOfPod, writeReports, isForEachPod, uniquePodNames } from '../../output/report-files.ts';
import type { TraceOptions } from '../options.ts';
import { timelineOf } from '../../infer/conclude.ts';
import { factsAwaitedUntil, hasNoReplacement, createTraceReports } from '../ending/trace-end.ts';
import type { Observation } from '../../model/observation.ts';
import { rolloutSections } from '../../output/machine/markdown.ts';
import type { SeveralView, SoFar } from '../../output/several.ts';
import type { Report } from '../../verdict/report.ts';
import { rolloutNumbers, type RolloutExtras } from '../../verdict/rollout.ts';
import type { Traces } from '../traces/traces.ts';
import { probeReportOf, probeResultsOf } from '../../infer/probes.ts';
import type { Gate, MarkName, ProbeReport } from '../../model/report.ts';
import { lostWithin, withImpliedLoss } from '../../verdict/gates.ts';

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

/** Reports each trace at its end, also in files, and the summary at the end of the run. */
export function createResults(
  { policy, reports: files, publish: where, format }: FinishOptions,
  soFar: Pick<SoFar, 'target' | 'held'>,
  traces: Traces,
  output: SeveralView,
  ports: Ports,
) {
  const { target } = soFar;
  const reports: Report[] = [];
  const fileCodes: number[] = [];
  const nameOf = uniquePodNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report): Promise<void> => {
    await output.ended?.(report);
    const own = files.filter(isForEachPod).map((file) => fileOfPod(file, nameOf(report.timeline.pod.metadata)));
    fileCodes.push(await writeReports(exitViews, report, own, ports));
    await publishPod(report, where, format, ports);
  };
  const take = (report: Report): void => {
    reports.push(report);
    writing = writing.then(() => show(report));
  };
  const taken = createTraceReports(traces, (trace) => reportOf(trace, policy), take);
  return {
    traces,
    reports: reports as readonly Report[],
    take: (observations: readonly Observation[]): void => output.take?.({ ...soFar, traces, reports }, observations),
    step: output.step,
    ...taken,
    /** Resolves when all reports have been shown. */
    written: (): Promise<void> => writing,
    /** Prints the summary. Returns the worst exit code of all. */
    async end({ codes = [], ...extras }: Omit<RolloutExtras, 'probes'> = {}, isShown = true): Promise<number> {
      const gates = lossGates(traces.probes(), policy);
      const failed = gates.flatMap(({ passed }) => (passed || policy.warnOnly ? [] : gateFailed));
      const numbers = rolloutNumbers(target, reports, {
        ...extras,
        gates,
        codes: [...codes, ...fileCodes, ...failed],
        probes: probeReportsOf(traces.probes(), reports),
      });
      const rollout = { numbers, reports };
      if (isShown) await output.end(rollout);
      const whole = files.filter((file) => !isForEachPod(file));
      const code = await writeReports(rolloutViews, rollout, whole, ports);
      if (!isShown) return code;
      annotate(gateAnnotations(numbers, numbers.target), where, format, ports);
      await publishSummary(() => rolloutSections(numbers, reports), where, ports);
      return worstCode([numbers.exitCode, code]);
    },
  };
}

/** The probes of a run, by number. */
type Probes = ReadonlyMap<number, ProbeFacts>;

/** One entry for each --probe: the measurements of `--probe pod` are merged over all pods. */
function mergedByTarget(probes: Probes): Map<number, ProbeFacts> {
  const all = new Map<string, ProbeFacts>();
  for (const [probe, facts] of [...probes].sort(([one], [other]) => one - other)) {
    const { target, pod } = facts.started.value;
    const key = pod === undefined ? `${probe}` : target;
    const known = all.get(key);
    const slices = known && [...known.slices, ...facts.slices].sort((one, other) => one.at - other.at);
    all.set(key, slices ? { ...known, slices } : facts);
  }
  return new Map([...all.values()].map((facts) => [facts.started.value.probe, facts]));
}

/** Measurements of the whole run: before its first deletion, until its last pod was gone, and after that. */
export function probeReportsOf(probes: Probes, reports: readonly Report[]): ProbeReport[] {
  const timesOf = (name: MarkName): number[] =>
    reports.flatMap(({ timeline }) => timeline.marks.filter((mark) => mark.name === name).map(({ at }) => at.earliest));
  const moments = {
    requested: Math.min(...timesOf('requested'), ...timesOf('accepted')),
    removed: Math.max(-Infinity, ...timesOf('removed')),
  };
  return probeResultsOf(mergedByTarget(probes), moments).map(probeReportOf);
}

/** `--max-lost` over the whole run, including losses while no pod was terminating; implied by a probe. */
export function lossGates(probes: Probes, { gates }: Pick<Policy, 'gates'>): Gate[] {
  const results = probeResultsOf(probes, {});
  const limits = gates.flatMap((gate) => (gate.kind === 'max-lost' ? [lostWithin(results, gate)] : []));
  return withImpliedLoss(results, limits);
}
