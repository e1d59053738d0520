/** What a run shows as it goes on: lines, or at a terminal the live view with lines above it. */
import type { Timeline } from '../../infer/timeline.ts';
import { createChatterLimit, timelineOf } from '../../infer/conclude.ts';
import { createLines, createSortedLines } from './lines.ts';
import { createLive, type LiveView } from './live.ts';
import { canRepaint, styleOf } from '../palette.ts';
import type { Format } from '../formats.ts';
import type { LookOptions, View } from '../view.ts';
import type { OutputPorts } from '../ports.ts';

export function openTerminal(kind: Format['kind'], look: LookOptions, ports: OutputPorts): View {
  const options = viewOptions(look, ports);
  const lines = { ...options, columns: ports.stdout.isTty ? options.columns : undefined };
  if (look.isSorted) return createSortedLines(lines);
  if (!isRepainted(kind, ports)) return withTimelines(createLines(lines));
  const live = createLive(options);
  return { ...withTimelines(live), ...repainting(ports, live) };
}

/** Whether the live view is requested and the terminal can show it; else there are lines. */
export const isRepainted = (kind: Format['kind'], { stdout, env }: OutputPorts): boolean =>
  kind === 'live' && canRepaint({ env, isTty: stdout.isTty });

/** The options of a view on stdout. */
export const viewOptions = (look: LookOptions, { stdout, env, platform, clock }: OutputPorts) => ({
  ...look,
  flags: look.connectionFlags,
  style: styleOf(look, { env, isTty: stdout.isTty, platform }),
  write: (text: string): void => stdout.write(text),
  columns: (): number => stdout.columns(),
  rows: (): number => stdout.rows(),
  clock,
});

/** What an output does with a view that repaints. */
export function repainting(
  { stdout, stderr }: OutputPorts,
  view: Pick<LiveView, 'resize' | 'suspend' | 'say' | 'close'>,
) {
  const unsubscribe = [stdout.onResize(() => view.resize()), stdout.onSuspend(() => view.suspend())];
  return {
    say(text: string): boolean {
      if (stderr.isTty) view.say(text);
      return stderr.isTty;
    },
    close(): void {
      unsubscribe.forEach((stop) => stop());
      view.close();
    },
  };
}

/** Shows the timeline after each observation. During a burst of log lines, which narrow little, it is rarely recomputed. */
function withTimelines(view: Pick<LiveView, 'step' | 'end'>): View {
  const isWorthIt = createChatterLimit();
  let timeline: Timeline | undefined;
  return {
    step(trace, observation) {
      if (isWorthIt(trace, observation)) timeline = timelineOf(trace);
      view.step(timeline, observation);
    },
    end: (report) => view.end(report),
  };
}
