/** Many reports on stdout: one document or several, a table at a terminal or lines in a pipe; the summary last. */
import { timelineOf } from '../../infer/conclude.ts';
import type { Pod } from '../../model/kube.ts';
import type { Observation } from '../../model/observation.ts';
import type { Trace } from '../../model/trace.ts';
import { linesOfPod, type LinesOfPod } from '../../output/machine/ndjson-view.ts';
import { isRepainted, repainting, viewOptions } from '../../output/text/views.ts';
import { penFor } from '../../output/palette.ts';
import { endedPodLines, rolloutCardLines } from '../../output/text/rollout-card.ts';
import { createRolloutLive } from '../../output/text/rollout-table.ts';
import type { LookOptions } from '../../output/view.ts';
import { reportOf, type Report } from '../../verdict/report.ts';
import { rolloutNumbers, summaryOf, type RolloutExtras, type RolloutNumbers } from '../../verdict/rollout.ts';
import { lossCodes, probeReportsOf } from '../probing/probe-results.ts';
import { jsonText } from '../../output/machine/json.ts';
import { workloadKinds } from '../choosing/target.ts';
import type { FinishOptions } from './finish.ts';
import type { Ports } from '../ports.ts';
import { createTraceReports, type Traces } from '../traces/traces.ts';
import type { TraceOptions } from '../options.ts';
import { exitReportOf } from '../../verdict/exit-report.ts';
import {
  uniquePodNames,
  publish,
  renderDocument,
  renderRollout,
  serialise,
  writeReports,
} from '../../output/documents.ts';

/** What is known of a run so far. */
interface SoFar {
  /** `deployment/checkout`. */
  readonly target: string;
  /** The pods that have not ended. */
  readonly traces: Traces;
  /** The pods that have ended. */
  readonly reports: readonly Report[];
}

export interface RolloutOutput {
  /** Called with each observation and its trace, for output that is kept up to date. */
  step?(soFar: SoFar, trace: Trace, observation: Observation): void;
  /** Shows a message without damaging the display; false: the caller must write it to stderr. */
  say?(text: string): boolean;
  /** Restores the terminal, whatever happened. */
  close?(): void;
  ended?(report: Report): Promise<void> | void;
  end?(numbers: RolloutNumbers, reports: readonly Report[]): Promise<void> | void;
}

export function rolloutOutput({ format, look }: Pick<TraceOptions, 'format' | 'look'>, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  switch (format.kind) {
    case 'json':
    case 'yaml':
    case 'jsonpath':
    case 'jsonpath-as-json':
      return {
        end: async (numbers, reports) => stdout.write(await serialise(format, rolloutReport(numbers, reports))),
      };
    case 'ndjson':
      return ndjsonOutput(ports);
    case 'live':
    case 'lines':
    case 'text':
      return isRepainted(format.kind, ports) ? liveOutput(look, ports) : linesOutput(look, ports);
    case 'html':
    case 'markdown':
    case 'junit':
    case 'wide': {
      const { kind } = format;
      return { end: async (numbers, reports) => stdout.write(await renderRollout(kind, numbers, reports)) };
    }
    case 'name':
      return { ended: async (report) => stdout.write(await renderDocument(format, report)) };
  }
}

/** Lines about all pods as they become known, each with its pod; a report when a pod has ended, the summary last. */
function ndjsonOutput(ports: Ports): RolloutOutput {
  const pods = new Map<string, LinesOfPod>();
  const linesOf = ({ namespace = '', name, uid }: Pod['metadata']): LinesOfPod => {
    const lines = pods.get(uid) ?? linesOfPod(ports, { namespace, name, uid });
    pods.set(uid, lines);
    return lines;
  };
  return {
    step(_soFar, trace, observation) {
      if (trace.pod && trace.deletion) linesOf(trace.pod.value.metadata).step(trace, observation);
    },
    ended: (report) => linesOf(report.timeline.pod.metadata).end(report),
    end: (numbers) => ports.stdout.write(`${jsonText({ type: 'summary', ...summaryOf(numbers) })}\n`),
  };
}

/** All pods as one document. */
function rolloutReport(numbers: RolloutNumbers, reports: readonly Report[]): object {
  const { probes, ...summary } = summaryOf(numbers);
  const exits = reports.map(exitReportOf);
  return {
    apiVersion: 'podexit/v1',
    kind: 'RolloutReport',
    workload: workloadOf(summary.target),
    summary,
    exits,
    probes,
    // The same for all pods, except their images.
    run: exits[0]?.run && { ...exits[0].run, image: undefined },
  };
}

/** Splits `deployment/checkout` into kind and name. Several pods become a list of names; a selector is its name. */
function workloadOf(target: string): { kind: string; name: string } {
  // A node may have a selector behind its name.
  const [kind = '', name] = target.split(' ', 1).join('').split('/');
  if (kind === 'pod') return { kind: 'Pod', name: target.replaceAll('pod/', '') };
  const kinds = ['Node', ...Object.values(workloadKinds).map((one) => one.kind)];
  const known = kinds.find((one) => one.toLowerCase() === kind);
  return known !== undefined && name !== undefined ? { kind: known, name } : { kind: 'Selector', name: target };
}

function linesOutput(look: LookOptions, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const { style, flags } = viewOptions(look, ports);
  const pen = penFor(style);
  const columns = stdout.isTty ? stdout.columns() : Infinity;
  return {
    ended: (report) => stdout.write(`${endedPodLines(pen, report, look.timestamps).join('\n')}\n`),
    end(numbers) {
      const lines = rolloutCardLines(numbers, { pen, columns, flags });
      stdout.write(['', ...lines].map((line) => `${line}\n`).join(''));
    },
  };
}

function liveOutput(look: LookOptions, ports: Ports): RolloutOutput {
  const live = createRolloutLive(viewOptions(look, ports));
  const { say, close } = repainting(ports, live);
  return {
    step: (soFar) => live.show(() => tableOf(soFar)),
    say,
    close,
    ended: live.ended,
    end(numbers) {
      live.end(numbers);
      close();
    },
  };
}

/** The table of all pods: first those that have ended. */
function tableOf({ target, traces, reports }: SoFar) {
  const ended = reports.map((report) => ({ timeline: report.timeline, report }));
  const open = traces.keys().flatMap((key) => {
    const trace = traces.get(key);
    const timeline = trace && timelineOf(trace);
    return timeline?.deleted ? [{ timeline }] : [];
  });
  const namespace = (open[0] ?? ended[0])?.timeline.pod.metadata.namespace ?? '';
  return { target, namespace, pods: [...ended, ...open] };
}

export type Results = ReturnType<typeof createResults>;

/** Reports each trace at its end, also in files, and the summary at the end of the run. */
export function createResults(
  { policy, reports: files, publish: where, format }: FinishOptions,
  target: string,
  traces: Traces,
  output: RolloutOutput,
  ports: Ports,
) {
  const reports: Report[] = [];
  const fileCodes: number[] = [];
  const nameOf = uniquePodNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report): Promise<void> => {
    await output.ended?.(report);
    fileCodes.push(await writeReports(report, files, ports, nameOf(report.timeline.pod.metadata)));
    await publish(report, where, format, ports);
  };
  const take = (report: Report): void => {
    reports.push(report);
    writing = writing.then(() => show(report));
  };
  const taken = createTraceReports(traces, (trace) => reportOf(trace, policy), take);
  return {
    traces,
    reports: reports as readonly Report[],
    /** Reports a trace at its end in the log. */
    step(trace: Trace, observation: Observation, key?: string): void {
      output.step?.({ target, traces, reports }, trace, observation);
      taken.step(observation, key);
    },
    /** Reports the traces that are still open when the run ends. */
    takeRest: taken.takeRest,
    /** Resolves when all reports have been shown. */
    written: (): Promise<void> => writing,
    /** Prints the summary. Returns the worst exit code of all. */
    async end({ codes = [], ...extras }: Omit<RolloutExtras, 'probes'> = {}): Promise<number> {
      const numbers = rolloutNumbers(target, reports, {
        ...extras,
        codes: [...codes, ...fileCodes, ...lossCodes(traces.probes(), policy)],
        probes: probeReportsOf(traces.probes(), reports),
      });
      await output.end?.(numbers, reports);
      return numbers.exitCode;
    },
  };
}
