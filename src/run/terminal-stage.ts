/** Output for a terminal: lines, or the live view with lines above it. */
import type { Timeline } from '../infer/timeline.ts';
import { createChatterLimit, timelineOf } from '../infer/conclude.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import { createLines } from '../render/lines.ts';
import { createLive, type Live } from '../render/live.ts';
import { canRepaint, styleOf } from '../render/palette.ts';
import type { LookOptions, Stage } from './run.ts';
import type { Ports } from './ports.ts';

export const openTerminal = (kind: 'lines' | 'live', look: LookOptions, ports: Ports): Stage =>
  isRepainted(kind, ports) ? liveStage(look, ports) : linesStage(look, ports);

/** Whether the live view is requested and the terminal can show it; else there are lines. */
export const isRepainted = (kind: 'lines' | 'live', { stdout, env }: Ports): boolean =>
  kind === 'live' && canRepaint({ env, isTty: stdout.isTty });

/** The options of a view on stdout. */
export const viewOptions = (look: LookOptions, { stdout, env, platform, clock }: Ports) => ({
  ...look,
  flags: look.connectionFlags,
  style: styleOf(look, { env, isTty: stdout.isTty, platform }),
  write: (text: string): void => stdout.write(text),
  columns: (): number => stdout.columns(),
  rows: (): number => stdout.rows(),
  clock,
});

/** What an output does with a view that repaints. */
export function repainting({ stdout, stderr }: Ports, view: Pick<Live, 'resize' | 'say' | 'close'>) {
  const stopResizing = stdout.onResize(() => view.resize());
  return {
    say(text: string): boolean {
      if (stderr.isTty) view.say(text);
      return stderr.isTty;
    },
    close(): void {
      stopResizing();
      view.close();
    },
  };
}

function linesStage(look: LookOptions, ports: Ports): Stage {
  const timelineNow = createTimelines();
  const options = viewOptions(look, ports);
  const lines = createLines({ ...options, columns: ports.stdout.isTty ? options.columns : undefined });
  return {
    step: (trace, observation) => lines.step(timelineNow(trace, observation), observation),
    end: async (report) => lines.end(report),
    say: () => false,
    close: () => {},
  };
}

function liveStage(look: LookOptions, ports: Ports): Stage {
  const timelineNow = createTimelines();
  const live = createLive(viewOptions(look, ports));
  return {
    step: (trace, observation) => live.step(timelineNow(trace, observation), observation),
    end: async (report) => live.end(report),
    ...repainting(ports, live),
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
