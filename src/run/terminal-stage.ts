/** Output for a terminal: lines, or the live view with lines above it. */
import type { Timeline } from '../infer/timeline.ts';
import { createChatterLimit, timelineOf } from '../infer/conclude.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { createLines } from '../render/lines.ts';
import { createLive } from '../render/live.ts';
import { canRepaint, styleOf } from '../render/palette.ts';
import type { LookOptions, Stage } from './run.ts';
import type { Ports } from './ports.ts';

export function openTerminal(kind: 'lines' | 'live', look: LookOptions, ports: Ports): Stage {
  const { env, platform, stdout } = ports;
  const live = kind === 'live' && canRepaint({ env, isTty: stdout.isTty, platform });
  return live ? liveStage(look, ports) : linesStage(look, ports);
}

const styleFor = (look: LookOptions, { stdout, env, platform }: Ports) =>
  styleOf({ color: look.color, ascii: look.ascii }, { env, isTty: stdout.isTty, platform });

function linesStage(look: LookOptions, ports: Ports): Stage {
  const { stdout } = ports;
  const timelineNow = createTimelines();
  const lines = createLines({
    write: (text) => stdout.write(text),
    style: styleFor(look, ports),
    timestamps: look.timestamps,
    columns: stdout.isTty ? () => stdout.columns() : undefined,
    logs: look.logs,
    verbose: look.verbose,
    flags: look.reach,
  });
  return {
    step: (trace, observation) => lines.step(timelineNow(trace, observation), observation),
    end: async (_trace, report) => lines.end(report),
    say: () => false,
    close: () => {},
  };
}

function liveStage(look: LookOptions, ports: Ports): Stage {
  const { stdout, stderr, clock } = ports;
  const timelineNow = createTimelines();
  const live = createLive({
    write: (text) => stdout.write(text),
    style: styleFor(look, ports),
    columns: () => stdout.columns(),
    rows: () => stdout.rows(),
    clock,
    timestamps: look.timestamps,
    logs: look.logs,
    verbose: look.verbose,
    flags: look.reach,
  });
  const stopResizing = stdout.onResize(() => live.resize());
  return {
    step: (trace, observation) => live.step(timelineNow(trace, observation), observation),
    end: async (_trace, report) => live.end(report),
    say: (text) => {
      if (!stderr.isTty) return false;
      live.say(text);
      return true;
    },
    close: () => {
      stopResizing();
      live.close();
    },
  };
}

/** The timeline after each observation. During a burst of log lines, which narrow little, it is rarely recomputed. */
function createTimelines(): (trace: Trace, observation: Observation) => Timeline | undefined {
  const isWorthIt = createChatterLimit();
  let timeline: Timeline | undefined;
  return (trace, observation) => {
    if (isWorthIt(trace, observation)) timeline = timelineOf(trace);
    return timeline;
  };
}
