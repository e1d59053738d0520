/**
 * What a run shows as it goes on: lines, or at a terminal the live view, in which changes scroll by, and the frame below
 * them is repainted, at most ten times a second.
 */
import type { Timeline } from '../../infer/timeline.ts';
import type { Observation } from '../../model/observation.ts';
import type { Report } from '../../verdict/report.ts';
import { iconOf, lastLines } from './card.ts';
import { frame } from './frame.ts';
import { createChangeLines } from './history.ts';
import { createLines, createSortedLines, endLines } from './lines.ts';
import { canRepaint, penOn } from '../palette.ts';
import { closingText } from '../pod-facts.ts';
import type { OutputPorts } from '../ports.ts';
import { createPainting } from './screen.ts';
import { createChatterLimit, timelineOf } from '../../infer/conclude.ts';
import type { Format } from '../formats.ts';
import type { LookOptions, View, ViewOptions } from '../view.ts';

export function createLive(look: LookOptions, ports: OutputPorts) {
  const options = viewOptions(look, ports);
  const { pen, columns, flags } = options;
  const history = createChangeLines(options);
  let timeline: Timeline | undefined;
  const { add, leave, say, close } = createPainting(pen, ports, (width, rows) =>
    timeline ? frame(timeline, Math.max(ports.clock.now(), timeline.now), { columns: width, rows, pen, flags }) : [],
  );
  return {
    say,
    close,
    /** `next` is undefined until the pod has been seen. */
    step: (next: Timeline | undefined, observation: Observation) => {
      timeline = next;
      add(history.step(next, observation));
    },
    /** Replaces the frame by the card, or after Ctrl-C by its closing sentence. */
    end: (report: Report) => {
      // run/ending/leaving.ts has already printed what happens to the pod.
      if (report.verdict.exitCode > 128 && !look.verbose)
        return leave(lastLines({ pen, columns: columns() }, iconOf(report), closingText(report)));
      leave([...history.rest(report.timeline), '', ...endLines(report, { ...options, columns: columns() })]);
    },
  };
}

export function openTerminal(kind: Format['kind'], look: LookOptions, ports: OutputPorts): View {
  if (look.isSorted) return createSortedLines(viewOptions(look, ports));
  return withTimelines(isRepainted(kind, ports) ? createLive(look, ports) : createLines(viewOptions(look, ports)));
}

/** Whether the live view is requested and the terminal can show it; else there are lines. */
export const isRepainted = (kind: Format['kind'], { stdout, env }: OutputPorts): boolean =>
  kind === 'live' && canRepaint({ env, isTty: stdout.isTty });

/** The options of a view on stdout. */
export const viewOptions = (look: LookOptions, ports: OutputPorts): ViewOptions => ({
  ...look,
  pen: penOn(look, ports),
  write: (text) => ports.stdout.write(text),
  columns: () => (ports.stdout.isTty ? ports.stdout.columns() : Infinity),
});

/** Shows the timeline after each observation. During a burst of log lines, which narrow little, it is rarely recomputed. */
function withTimelines(view: Pick<ReturnType<typeof createLive>, 'step' | 'end'>): View {
  const isWorthIt = createChatterLimit();
  let timeline: Timeline | undefined;
  return {
    ...view,
    step(trace, observation) {
      if (isWorthIt(trace, observation)) timeline = timelineOf(trace);
      view.step(timeline, observation);
    },
  };
}
