/** Many reports on stdout: documents one by one or as one, or a table at a terminal and lines in a pipe; the summary last. */
import { timelineOf } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { Trace } from '../model/trace.ts';
import { canRepaint, penFor, styleOf } from '../render/palette.ts';
import { endedPodLine, rolloutCardLines } from '../render/rollout-card.ts';
import { createRolloutLive } from '../render/rollout-table.ts';
import type { Audience, LookOptions } from './run.ts';
import type { ExitReport } from '../model/report.ts';
import { reportOf, type Report } from '../verdict/report.ts';
import type { RolloutSummary } from '../verdict/rollout.ts';
import { PodexitError } from '../errors.ts';
import { jsonText } from '../render/json.ts';
import { rolloutNumbers } from '../verdict/rollout-summary.ts';
import { workloadKinds } from './target.ts';
import { shownText, type FinishOptions } from './finish.ts';
import type { Ports } from './ports.ts';
import type { Traces } from './traces.ts';
import type { ExitOptions } from './trace-options.ts';
import { exitReportOf } from '../verdict/exit-report.ts';
import { publish } from './publish.ts';
import { finishFiles, ownNames } from './report-files.ts';

export interface RolloutOutput {
  /** Something was observed: for what is kept up to date. `target`: `deployment/checkout`. */
  step?(traces: Traces, target: string): void;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say?(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close?(): void;
  ended(report: Report): Promise<void>;
  end(reports: readonly ExitReport[], summary: RolloutSummary): Promise<void>;
}

/** Throws `usage.output` for formats that are one document, of which many make none. */
export function rolloutOutput({ format, look }: Pick<ExitOptions, 'format' | 'look'>, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const each = async (report: Report): Promise<string> => shownText(report, format, look, ports);
  switch (format.kind) {
    case 'json':
      return jsonOutput(ports);
    case 'ndjson':
      return {
        ended: async (report) => stdout.write(await each(report)),
        end: async (_items, summary) => stdout.write(`${jsonText(summary)}\n`),
      };
    case 'yaml':
      return {
        ended: async (report) => stdout.write(`---\n${await each(report)}`),
        end: async (_items, summary) => stdout.write(`---\n${jsonText(summary, 2)}\n`),
      };
    case 'live':
    case 'lines':
      return rolloutTerminal(format.kind, look, ports);
    case 'html':
    case 'markdown':
    case 'junit':
      return documentOutput(format.kind, ports);
    case 'wide':
      return {
        ended: async (report) => stdout.write(`${await each(report)}\n`),
        end: async () => {},
      };
    case 'name':
      return { ended: async (report) => stdout.write(await each(report)), end: async () => {} };
    default:
      throw new PodexitError(
        'usage.output',
        `-o ${format.kind} is one document for one pod, and several are traced`,
        'Use another format, e.g. -o json, or write one document for each pod with --report.',
      );
  }
}

/** One page about all pods. */
function documentOutput(kind: 'html' | 'markdown' | 'junit', { stdout }: Ports): RolloutOutput {
  const reports: Report[] = [];
  return {
    ended: async (report) => void reports.push(report),
    end: async (_items, summary) => {
      const { renderRollout } = await import('./documents.ts');
      stdout.write(await renderRollout(kind, numbersOf(summary, reports), reports));
    },
  };
}

/** One document: the RolloutReport of all pods. */
function jsonOutput({ stdout }: Ports): RolloutOutput {
  const reports: Report[] = [];
  return {
    ended: async (report) => void reports.push(report),
    end: async (exits, summary) => {
      const { probes, ...rest } = summary;
      const document = {
        apiVersion: 'podexit/v1',
        kind: 'RolloutReport',
        workload: workloadOf(summary.target),
        summary: { ...rest, sentence: numbersOf(summary, reports).sentence },
        exits,
        probes,
        // Of all pods alike; each has its own images.
        run: exits[0]?.run && { ...exits[0].run, image: undefined },
      };
      stdout.write(`${jsonText(document, 2)}\n`);
    },
  };
}

const numbersOf = ({ target, exitCode, unseen, probes }: RolloutSummary, reports: readonly Report[]) =>
  rolloutNumbers(target, reports, { codes: [exitCode], unseen, probes });

/** `deployment/checkout` as kind and name; several pods have all their names; a selector is its own name. */
function workloadOf(target: string): { kind: string; name: string } {
  const [kind = '', name] = target.split('/');
  if (kind === 'pod') return { kind: 'Pod', name: target.replaceAll('pod/', '') };
  const kinds = ['Node', ...Object.values(workloadKinds).map((one) => one.kind)];
  const known = kinds.find((one) => one.toLowerCase() === kind);
  return known !== undefined && name !== undefined ? { kind: known, name } : { kind: 'Selector', name: target };
}

/** The live table where the terminal can be painted over and `live` is wanted, else lines. */
function rolloutTerminal(kind: 'live' | 'lines', look: LookOptions, ports: Ports): RolloutOutput {
  const { env, platform, stdout } = ports;
  const live = kind === 'live' && canRepaint({ env, isTty: stdout.isTty, platform });
  return live ? liveOutput(look, ports) : linesOutput(look, ports);
}

const styleFor = (look: LookOptions, { stdout, env, platform }: Ports) =>
  styleOf(look, { env, isTty: stdout.isTty, platform });

function linesOutput(look: LookOptions, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const pen = penFor(styleFor(look, ports));
  const columns = stdout.isTty ? stdout.columns() : Infinity;
  const reports: Report[] = [];
  return {
    ended: async (report) => {
      reports.push(report);
      stdout.write(`${endedPodLine(pen, report, look.timestamps)}\n`);
    },
    end: async (_items, summary) => {
      const lines = rolloutCardLines(numbersOf(summary, reports), { pen, columns, flags: look.reach });
      stdout.write(['', ...lines].map((line) => `${line}\n`).join(''));
    },
  };
}

function liveOutput(look: LookOptions, ports: Ports): RolloutOutput {
  const { stdout, stderr, clock } = ports;
  const live = createRolloutLive({
    write: (text) => stdout.write(text),
    style: styleFor(look, ports),
    columns: () => stdout.columns(),
    rows: () => stdout.rows(),
    clock,
    timestamps: look.timestamps,
    flags: look.reach,
  });
  const stopResizing = stdout.onResize(() => live.resize());
  const timelines = createTimelines();
  const reports: Report[] = [];
  return {
    step: (traces, target) =>
      live.show(() => {
        const open = traces.keys().flatMap((key) => timelines(key, traces.get(key)) ?? []);
        const namespace = (open[0] ?? reports[0]?.timeline)?.pod.metadata.namespace ?? '';
        const ended = reports.map((report) => ({ timeline: report.timeline, report }));
        return { target, namespace, pods: [...ended, ...open.map((timeline) => ({ timeline }))] };
      }),
    ended: async (report) => {
      reports.push(report);
      live.ended(report);
    },
    say: (text) => {
      if (!stderr.isTty) return false;
      live.say(text);
      return true;
    },
    end: async (_items, summary) => {
      stopResizing();
      live.end(numbersOf(summary, reports));
    },
    close: () => {
      stopResizing();
      live.close();
    },
  };
}

/** The timeline of each pod, concluded anew only where its trace has changed since the last painting. */
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

export interface Results {
  readonly reports: ExitReport[];
  /** Of files that could not be written. */
  readonly codes: number[];
  /** Takes each trace at its end, as the log has it. */
  audience(traces: Traces, target: string): Audience;
  /** The trace has come to its end, or the run has. */
  take(traces: Traces, key: string): void;
  /** All that was taken has been shown. */
  written(): Promise<void>;
}

/** `reported`: where reports and codes are kept. */
export function createResults(
  options: FinishOptions & { reported?: Pick<Results, 'reports' | 'codes'> },
  output: RolloutOutput,
  ports: Ports,
): Results {
  const { reports, codes } = options.reported ?? { reports: [], codes: [] };
  const nameOf = ownNames();
  let writing: Promise<void> = Promise.resolve();
  const show = async (report: Report, pod: ExitReport['pod']): Promise<void> => {
    await output.ended(report);
    codes.push(await finishFiles(report, nameOf(pod), options.reports, ports));
    await publish(report, options.publish, options.format, ports);
  };
  const take = (traces: Traces, key: string): void => {
    const trace = traces.get(key);
    const report = trace && reportOf(trace, options.policy);
    traces.close(key, report?.timeline.replacement?.uid);
    if (!report) return;
    const exit = exitReportOf(report);
    reports.push(exit);
    writing = writing.then(() => show(report, exit.pod));
  };
  return {
    reports,
    codes,
    audience: (traces, target) => ({
      step: (_trace, observation, key) => {
        output.step?.(traces, target);
        if (key !== undefined && observation.kind === 'timer' && observation.pod === key) take(traces, key);
      },
    }),
    take,
    written: () => writing,
  };
}
