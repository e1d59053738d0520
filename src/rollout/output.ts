/** Many reports on stdout: one document or several, a table at a terminal or lines in a pipe; the summary last. */
import { timelineOf } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { linesOfPod, type LinesOfPod } from '../run/ndjson-stage.ts';
import { isRepainted, repainting, viewOptions } from '../run/terminal-stage.ts';
import { penFor } from '../render/palette.ts';
import { endedPodLine, rolloutCardLines } from '../render/rollout-card.ts';
import { createRolloutLive } from '../render/rollout-table.ts';
import type { Audience, LookOptions } from '../run/run.ts';
import { reportOf, type Report } from '../verdict/report.ts';
import { rolloutNumbers, summaryOf, type RolloutNumbers } from '../verdict/rollout.ts';
import { lossCodes, probeReportsOf } from '../run/probe-results.ts';
import { PodexitError } from '../errors.ts';
import { jsonText } from '../render/json.ts';
import { workloadKinds } from '../run/target.ts';
import type { FinishOptions } from '../run/finish.ts';
import type { Ports } from '../run/ports.ts';
import type { Traces } from '../run/traces.ts';
import type { ExitOptions } from '../run/trace-options.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { uniquePodNames, publish, renderRollout, stdoutText, writeReports } from '../run/documents.ts';

export interface RolloutOutput {
  /** Called with each observation, for output that is kept up to date. `target`: `deployment/checkout`. */
  step?(traces: Traces, target: string, trace: Trace, observation: Observation): void;
  /** Shows a message without damaging the display; false: the caller must write it to stderr. */
  say?(text: string): boolean;
  /** Restores the terminal, whatever happened. */
  close?(): void;
  ended(report: Report): Promise<void>;
  end(numbers: RolloutNumbers): Promise<void>;
}

/** An output that shows all reports at its end, or keeps them up to date. */
function collectingReports(
  make: (reports: readonly Report[]) => Omit<RolloutOutput, 'ended'>,
  show?: (report: Report) => void,
): RolloutOutput {
  const reports: Report[] = [];
  const ended = async (report: Report): Promise<void> => {
    reports.push(report);
    show?.(report);
  };
  return { ...make(reports), ended };
}

/** Throws `usage.output` for formats that are one document and cannot hold several reports. */
export function rolloutOutput({ format, look }: Pick<ExitOptions, 'format' | 'look'>, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const each = async (report: Report): Promise<string> => stdoutText(report, format, look, ports);
  switch (format.kind) {
    case 'json':
      return jsonOutput(ports);
    case 'ndjson':
      return ndjsonOutput(ports);
    case 'yaml':
      return {
        ended: async (report) => stdout.write(`---\n${await each(report)}`),
        end: async (numbers) => stdout.write(`---\n${jsonText(summaryOf(numbers), 2)}\n`),
      };
    case 'live':
    case 'lines':
      return isRepainted(format.kind, ports) ? liveOutput(look, ports) : linesOutput(look, ports);
    case 'html':
    case 'markdown':
    case 'junit':
      return documentOutput(format.kind, ports);
    case 'wide':
    case 'name': {
      const after = format.kind === 'wide' ? '\n' : '';
      return { ended: async (report) => stdout.write(`${await each(report)}${after}`), end: async () => {} };
    }
    default:
      throw new PodexitError(
        'usage.output',
        `-o ${format.kind} is one document for one pod, and several are traced`,
        'Use another format, e.g. -o json, or write one document for each pod with --report.',
      );
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
  return collectingReports(
    () => ({
      step(_traces, _target, trace, observation) {
        if (trace.pod && trace.deletion) linesOf(trace.pod.value.metadata).step(trace, observation);
      },
      end: async (numbers) => ports.stdout.write(`${jsonText({ type: 'summary', ...summaryOf(numbers) })}\n`),
    }),
    (report) => linesOf(report.timeline.pod.metadata).end(report),
  );
}

/** One page about all pods. */
const documentOutput = (kind: 'html' | 'markdown' | 'junit', { stdout }: Ports): RolloutOutput =>
  collectingReports((reports) => ({
    end: async (numbers) => stdout.write(await renderRollout(kind, numbers, reports)),
  }));

/** One document: the RolloutReport of all pods. */
const jsonOutput = ({ stdout }: Ports): RolloutOutput =>
  collectingReports((reports) => ({
    end: async (numbers) => {
      const { probes, ...summary } = summaryOf(numbers);
      const exits = reports.map(exitReportOf);
      const document = {
        apiVersion: 'podexit/v1',
        kind: 'RolloutReport',
        workload: workloadOf(summary.target),
        summary,
        exits,
        probes,
        // The same for all pods, except their images.
        run: exits[0]?.run && { ...exits[0].run, image: undefined },
      };
      stdout.write(`${jsonText(document, 2)}\n`);
    },
  }));

/** Splits `deployment/checkout` into kind and name. Several pods become a list of names; a selector is its name. */
function workloadOf(target: string): { kind: string; name: string } {
  const [kind = '', name] = target.split('/');
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
  const end = async (numbers: RolloutNumbers): Promise<void> => {
    const lines = rolloutCardLines(numbers, { pen, columns, flags });
    stdout.write(['', ...lines].map((line) => `${line}\n`).join(''));
  };
  const show = (report: Report): void => stdout.write(`${endedPodLine(pen, report, look.timestamps)}\n`);
  return collectingReports(() => ({ end }), show);
}

function liveOutput(look: LookOptions, ports: Ports): RolloutOutput {
  const live = createRolloutLive(viewOptions(look, ports));
  const { say, close } = repainting(ports, live);
  const timelines = createTimelines();
  const outputOf = (reports: readonly Report[]): Omit<RolloutOutput, 'ended'> => ({
    step: (traces, target) =>
      live.show(() => {
        const open = traces.keys().flatMap((key) => timelines(key, traces.get(key)) ?? []);
        const namespace = (open[0] ?? reports[0]?.timeline)?.pod.metadata.namespace ?? '';
        const ended = reports.map((report) => ({ timeline: report.timeline, report }));
        return { target, namespace, pods: [...ended, ...open.map((timeline) => ({ timeline }))] };
      }),
    say,
    end: async (numbers) => {
      live.end(numbers);
      close();
    },
    close,
  });
  return collectingReports(outputOf, (report) => live.ended(report));
}

/** The timeline of each pod, recomputed only if its trace has changed since the last repaint. */
function createTimelines(): (key: string, trace: Trace | undefined) => Timeline | undefined {
  const known = new Map<string, { readonly trace: Trace; readonly timeline: Timeline | undefined }>();
  return (key, trace) => {
    if (!trace) return undefined;
    const before = known.get(key);
    if (before?.trace === trace) return before.timeline;
    const timeline = timelineOf(trace);
    known.set(key, { trace, timeline });
    return timeline?.deleted ? timeline : undefined;
  };
}

/** How a run over several pods ended, besides its reports. */
interface End {
  /** The target as the summary names it. */
  target: string;
  /** Exit codes that do not come from reports. */
  codes?: readonly number[];
  /** Names of pods that went without a report. */
  unseen?: readonly string[];
  /** Why the rollout did not complete, if it is not known to have completed. */
  incomplete?: string | undefined;
}

export interface Results {
  readonly reports: readonly Report[];
  /** Reports each trace at its end in the log. */
  audience(target: string): Audience;
  /** Reports the traces that are still open when the run ends. */
  takeRest(): void;
  /** Resolves when all reports have been shown. */
  written(): Promise<void>;
  /** Prints the summary. Returns the worst exit code of all. */
  end(end: End): Promise<number>;
}

/** Reports each trace at its end, also in files, and the summary at the end of the run. */
export function createResults(options: FinishOptions, traces: Traces, output: RolloutOutput, ports: Ports): Results {
  const reports: Report[] = [];
  const fileCodes: number[] = [];
  const nameOf = uniquePodNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report): Promise<void> => {
    await output.ended(report);
    fileCodes.push(await writeReports(report, options.reports, ports, nameOf(report.timeline.pod.metadata)));
    await publish(report, options.publish, options.format, ports);
  };
  const take = (key: string): void => {
    const trace = traces.get(key);
    const report = trace && reportOf(trace, options.policy);
    traces.close(key, report?.timeline.replacement?.uid);
    if (!report) return;
    reports.push(report);
    writing = writing.then(() => show(report));
  };
  return {
    reports,
    audience: (target) => ({
      step: (trace, observation, key) => {
        output.step?.(traces, target, trace, observation);
        if (key !== undefined && observation.kind === 'timer' && observation.pod === key) take(key);
      },
    }),
    takeRest: () => traces.keys().forEach(take),
    written: () => writing,
    async end({ target, codes = [], unseen = [], incomplete }) {
      const numbers = rolloutNumbers(target, reports, {
        codes: [...codes, ...fileCodes, ...lossCodes(traces, options.policy)],
        unseen,
        incomplete,
        probes: probeReportsOf(traces, reports),
      });
      await output.end(numbers);
      return numbers.exitCode;
    },
  };
}
