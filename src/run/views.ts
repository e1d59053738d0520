/** What a run shows as it goes on: lines, at a terminal the live view with lines above it, or ndjson for programs. */
import type { Timeline } from '../infer/timeline.ts';
import { createChatterLimit, timelineOf } from '../infer/conclude.ts';
import type { Observation } from '../model/observation.ts';
import { printTime } from '../model/stamps.ts';
import type { Trace } from '../model/trace.ts';
import { createLines } from '../render/lines.ts';
import { createLive, type Live } from '../render/live.ts';
import { createNdjson, type PodOfLine } from '../render/ndjson.ts';
import { canRepaint, styleOf } from '../render/palette.ts';
import { exitReportOf, gapReport, markReport } from '../verdict/exit-report.ts';
import type { Report } from '../verdict/report.ts';
import type { Format } from './formats.ts';
import type { LookOptions, View } from './run.ts';
import type { Ports } from './ports.ts';

export function openTerminal(kind: Format['kind'], look: LookOptions, ports: Ports): View {
  const options = viewOptions(look, ports);
  if (!isRepainted(kind, ports))
    return withTimelines(createLines({ ...options, columns: ports.stdout.isTty ? options.columns : undefined }));
  const live = createLive(options);
  return { ...withTimelines(live), ...repainting(ports, live) };
}

/** Whether the live view is requested and the terminal can show it; else there are lines. */
export const isRepainted = (kind: Format['kind'], { stdout, env }: Ports): boolean =>
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
export function repainting({ stdout, stderr }: Ports, view: Pick<Live, 'resize' | 'suspend' | 'say' | 'close'>) {
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
function withTimelines(view: Pick<Live, 'step' | 'end'>): View {
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

export type LinesOfPod = ReturnType<typeof linesOfPod>;

/**
 * `-o ndjson`: marks and gaps as they become known, and the report at the end.
 *
 * Marks are printed again only after an observation about the pod, which adds to the trace's notes. A `Date` header
 * alone prints nothing: what it narrows is printed with the next observation, or with the report. At its end a run asks
 * each of its streams; ten answers would come between the last watch lines and their marks. `pod`: only in a run over
 * several pods.
 */
export function linesOfPod({ stdout }: Pick<Ports, 'stdout'>, pod?: PodOfLine) {
  const ndjson = createNdjson((lines) => stdout.write(lines), pod);
  let printed: Trace['notes'];
  const isWorthIt = createChatterLimit();
  return {
    step(trace: Trace, observation: Observation): void {
      if (trace.notes === printed || observation.kind === 'dated' || !isWorthIt(trace, observation)) return;
      printed = trace.notes;
      const { marks = [], gaps = [] } = timelineOf(trace) ?? {};
      const at = printTime(trace.now, 'earlier');
      const reports = marks.map((mark) => ({ ...markReport(mark), provisional: mark.provisional }));
      ndjson.marks(at, reports);
      ndjson.gaps(at, gaps.map(gapReport));
    },
    end: (report: Report): void => ndjson.end(exitReportOf(report)),
  };
}
