/** Many pods at a terminal or in a pipe: a table that is kept up to date, or one line for each pod; then one card. */
import { timelineOf } from '../infer/conclusions.ts';
import type { Timeline } from '../infer/timeline.ts';
import type { Trace } from '../model/trace.ts';
import { canRepaint, penFor, styleOf } from '../render/palette.ts';
import { endedPodLine, rolloutCardLines } from '../render/rollout-card.ts';
import { createRolloutLive } from '../render/rollout-live.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutNumbers } from '../verdict/rollout-summary.ts';
import type { Ports } from './ports.ts';
import type { RolloutOutput } from './rollout-output.ts';
import type { LookOptions } from './stage.ts';

/** The live table where the terminal can be painted over and `live` is wanted, else lines. */
export function rolloutTerminal(kind: 'live' | 'lines', look: LookOptions, ports: Ports): RolloutOutput {
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
    tell: async (report) => {
      reports.push(report);
      stdout.write(`${endedPodLine(pen, report, look.timestamps)}\n`);
    },
    end: async (_items, summary) => {
      const numbers = rolloutNumbers(summary.target, reports, [summary.exitCode], summary.unseen);
      const lines = rolloutCardLines(numbers, { pen, columns, flags: look.reach });
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
    tell: async (report) => {
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
      live.end(rolloutNumbers(summary.target, reports, [summary.exitCode], summary.unseen));
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
