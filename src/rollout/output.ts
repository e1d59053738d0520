/** Many reports on stdout: documents one by one or as one, or a table at a terminal and lines in a pipe; the summary last. */
import { timelineOf } from '../infer/conclude.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { linesOfPod, type LinesOfPod } from '../run/ndjson-stage.ts';
import { canRepaint, penFor, styleOf, type Style } from '../render/palette.ts';
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
import { ownNames, publish, renderRollout, shownText, writeReports } from '../run/documents.ts';

/** The observation that a trace has just taken; `key`: of that trace. */
interface Seen {
  readonly trace: Trace;
  readonly observation: Observation;
  readonly key: string | undefined;
}

export interface RolloutOutput {
  /** Something was observed: for what is kept up to date. `target`: `deployment/checkout`. */
  step?(traces: Traces, target: string, seen: Seen): void;
  /** A message for the person, where it must not tear the picture; false: it goes to stderr as it is. */
  say?(text: string): boolean;
  /** Gives the terminal back, whatever happened. */
  close?(): void;
  ended(report: Report): Promise<void>;
  end(numbers: RolloutNumbers): Promise<void>;
}

/** One that shows all reports at its end, or keeps them up to date. */
function ofAll(
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

/** Throws `usage.output` for formats that are one document, of which many make none. */
export function rolloutOutput({ format, look }: Pick<ExitOptions, 'format' | 'look'>, ports: Ports): RolloutOutput {
  const { stdout } = ports;
  const each = async (report: Report): Promise<string> => shownText(report, format, look, ports);
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
      return rolloutTerminal(format.kind, look, ports);
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

/** The lines of all pods as they become known, each with its pod; a report line when one has ended, the summary last. */
function ndjsonOutput(ports: Ports): RolloutOutput {
  const pods = new Map<string, LinesOfPod>();
  const linesOf = ({ namespace = '', name, uid }: Pod['metadata']): LinesOfPod => {
    const lines = pods.get(uid) ?? linesOfPod(ports, { namespace, name, uid });
    pods.set(uid, lines);
    return lines;
  };
  return ofAll(
    () => ({
      step(_traces, _target, { trace, observation }) {
        if (trace.pod && trace.deletion) linesOf(trace.pod.value.metadata).step(trace, observation);
      },
      end: async (numbers) => ports.stdout.write(`${jsonText({ type: 'summary', ...summaryOf(numbers) })}\n`),
    }),
    (report) => linesOf(report.timeline.pod.metadata).end(report),
  );
}

/** One page about all pods. */
const documentOutput = (kind: 'html' | 'markdown' | 'junit', { stdout }: Ports): RolloutOutput =>
  ofAll((reports) => ({
    end: async (numbers) => stdout.write(await renderRollout(kind, numbers, reports)),
  }));

/** One document: the RolloutReport of all pods. */
const jsonOutput = ({ stdout }: Ports): RolloutOutput =>
  ofAll((reports) => ({
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
        // Of all pods alike; each has its own images.
        run: exits[0]?.run && { ...exits[0].run, image: undefined },
      };
      stdout.write(`${jsonText(document, 2)}\n`);
    },
  }));

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
  const terminal = { env, isTty: stdout.isTty, platform };
  const style = styleOf(look, terminal);
  return kind === 'live' && canRepaint(terminal) ? liveOutput(look, style, ports) : linesOutput(look, style, ports);
}

function linesOutput(look: LookOptions, style: Style, { stdout }: Ports): RolloutOutput {
  const pen = penFor(style);
  const columns = stdout.isTty ? stdout.columns() : Infinity;
  const end = async (numbers: RolloutNumbers): Promise<void> => {
    const lines = rolloutCardLines(numbers, { pen, columns, flags: look.reach });
    stdout.write(['', ...lines].map((line) => `${line}\n`).join(''));
  };
  const show = (report: Report): void => stdout.write(`${endedPodLine(pen, report, look.timestamps)}\n`);
  return ofAll(() => ({ end }), show);
}

function liveOutput(look: LookOptions, style: Style, { stdout, stderr, clock }: Ports): RolloutOutput {
  const live = createRolloutLive({
    write: (text) => stdout.write(text),
    style,
    columns: () => stdout.columns(),
    rows: () => stdout.rows(),
    clock,
    timestamps: look.timestamps,
    flags: look.reach,
  });
  const stopResizing = stdout.onResize(() => live.resize());
  const timelines = createTimelines();
  const outputOf = (reports: readonly Report[]): Omit<RolloutOutput, 'ended'> => ({
    step: (traces, target) =>
      live.show(() => {
        const open = traces.keys().flatMap((key) => timelines(key, traces.get(key)) ?? []);
        const namespace = (open[0] ?? reports[0]?.timeline)?.pod.metadata.namespace ?? '';
        const ended = reports.map((report) => ({ timeline: report.timeline, report }));
        return { target, namespace, pods: [...ended, ...open.map((timeline) => ({ timeline }))] };
      }),
    say: (text) => {
      if (stderr.isTty) live.say(text);
      return stderr.isTty;
    },
    end: async (numbers) => {
      stopResizing();
      live.end(numbers);
    },
    close: () => {
      stopResizing();
      live.close();
    },
  });
  return ofAll(outputOf, (report) => live.ended(report));
}

/** The timeline of each pod, concluded again only where its trace has changed since the last painting. */
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

/** How a run over several pods ended, beside its reports. */
interface End {
  /** As its summary names it. */
  target: string;
  /** Exit codes of all that is no report. */
  codes?: readonly number[];
  /** Names of pods that went without a report. */
  unseen?: readonly string[];
  /** Why the rollout did not come to its end, where it is not known to have. */
  incomplete?: string | undefined;
}

export interface Results {
  readonly reports: readonly Report[];
  /** Takes each trace at its end, as the log has it. */
  audience(target: string): Audience;
  /** Takes the traces that have come to no end: the run has. */
  takeRest(): void;
  /** All that was taken has been shown. */
  written(): Promise<void>;
  /** Prints the summary. The exit code: the worst of all. */
  end(end: End): Promise<number>;
}

/** Reports each trace when it is over, in files too, and all of them at the end. */
export function createResults(options: FinishOptions, traces: Traces, output: RolloutOutput, ports: Ports): Results {
  const reports: Report[] = [];
  const fileCodes: number[] = [];
  const nameOf = ownNames();
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
        output.step?.(traces, target, { trace, observation, key });
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
