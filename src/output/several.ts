/** What stdout shows of a run over several pods: one document, a table at a terminal, or lines; the summary last. */
import { timelineOf } from '../infer/conclude.ts';
import type { Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Report } from '../verdict/report.ts';
import { rolloutViews, summaryLine, type RolloutResult } from './documents.ts';
import { isDocument, type Format } from './formats.ts';
import { linesOfPod, type LinesOfPod } from './machine/ndjson.ts';
import type { OutputPorts } from './ports.ts';
import { render } from './render.ts';
import { endedPodLines, rolloutCardLines } from './text/rollout-card.ts';
import { createRolloutFacts } from './text/rollout-facts.ts';
import { createRolloutLive } from './text/rollout-table.ts';
import { isRepainted, repainting, viewOptions } from './text/live.ts';
import type { LookOptions, View } from './view.ts';

export interface SoFar {
  /** `deployment/checkout`. */
  readonly target: string;
  /** The pods that have not ended. */
  readonly traces: { keys(): readonly string[]; get(key: string): Trace | undefined };
  /** The pods that have ended. */
  readonly reports: readonly Report[];
  /** Why pods that must leave their node are still there: a refused eviction; by namespace and name. */
  readonly held?: ReadonlyMap<string, string>;
}

export interface SeveralView extends Pick<View, 'say' | 'close'> {
  /** Called with all that arrived together, for output that is kept up to date; then with each trace that it concerns. */
  take?(soFar: SoFar, observations: readonly Observation[]): void;
  step?(this: void, trace: Trace, observation: Observation): void;
  ended?(report: Report): Promise<void> | void;
  end(rollout: RolloutResult): Promise<void> | void;
}

export function severalView(format: Format, look: LookOptions, ports: OutputPorts): SeveralView {
  if (isDocument(format))
    return { end: async (rollout) => ports.stdout.write(await render(format, rolloutViews, rollout)) };
  if (format.kind === 'ndjson') return ndjsonView(ports);
  return isRepainted(format.kind, ports) ? liveView(look, ports) : linesView(look, ports);
}

/** Lines about all pods as they become known, each with its pod; a report when a pod has ended, the summary last. */
function ndjsonView(ports: OutputPorts): SeveralView {
  const pods = new Map<string, LinesOfPod>();
  const linesOf = ({ namespace = '', name, uid }: Pod['metadata']): LinesOfPod => {
    const lines = pods.get(uid) ?? linesOfPod(ports, { namespace, name, uid });
    pods.set(uid, lines);
    return lines;
  };
  return {
    step(trace, observation) {
      if (trace.pod && trace.deletion) linesOf(trace.pod.value.metadata).step(trace, observation);
    },
    ended: (report) => linesOf(report.timeline.pod.metadata).end(report),
    end: ({ numbers }) => ports.stdout.write(summaryLine(numbers)),
  };
}

function linesView(look: LookOptions, ports: OutputPorts): SeveralView {
  const { write, columns, ...options } = viewOptions(look, ports);
  return {
    ended: (report) => write(`${endedPodLines(options.pen, report, look.timestamps).join('\n')}\n`),
    end: ({ numbers }) => write(`\n${rolloutCardLines(numbers, { ...options, columns: columns() }).join('\n')}\n`),
  };
}

function liveView(look: LookOptions, ports: OutputPorts): SeveralView {
  const live = createRolloutLive(viewOptions(look, ports));
  const { say, close } = repainting(ports, live);
  const { take, facts } = createRolloutFacts();
  return {
    take(soFar, observations) {
      take(observations);
      live.show(() => ({ ...tableOf(soFar), ...facts() }));
    },
    say,
    close,
    ended: live.ended,
    end({ numbers }) {
      live.end(numbers);
      close();
    },
  };
}

/** The table of all pods: first those that have ended. */
function tableOf({ target, traces, reports, held = new Map() }: SoFar) {
  const ended = reports.map((report) => ({ timeline: report.timeline, report }));
  const open = traces.keys().flatMap((key) => {
    const trace = traces.get(key);
    const timeline = trace && timelineOf(trace);
    return timeline?.deleted ? [{ timeline }] : [];
  });
  const namespace = (open[0] ?? ended[0])?.timeline.pod.metadata.namespace ?? '';
  return { target, namespace, pods: [...ended, ...open], held };
}
