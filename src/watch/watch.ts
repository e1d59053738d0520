/** `watch`: follows every exit of a namespace or a cluster until it is stopped. */
import { PodexitError } from '../errors.ts';
import type { Interrupted, Observation } from '../model/observation.ts';
import { asObject } from '../model/observe/read.ts';
import { reportOf } from '../advice/report.ts';
import { signalCodes } from '../verdict/exit-code.ts';
import type { Report } from '../verdict/report.ts';
import { runLive } from '../run/group/run-live.ts';
import type { Group, GroupListener } from '../run/group/group.ts';
import { sayingThrough, warnOn, type Ports } from '../run/ports.ts';
import { inSession, type Session } from '../run/session.ts';
import { missedText } from '../run/streams/pod-observer.ts';
import { isTerminatingPod } from '../run/streams/watched.ts';
import type { TraceOptions } from '../run/options.ts';
import { createTraceReports } from '../run/traces/traces.ts';
import { narrowPod } from '../model/kube.ts';
import { createContainerEnds } from './container-ends.ts';
import { createGaps } from './gaps.ts';
import { watchedGroup } from './group.ts';
import { gapText, type WatchedExit } from './lines.ts';
import type { WatchOptions } from './options.ts';
import { createServices } from './services.ts';
import { mostRows, type WatchState } from './table.ts';
import { createExitCounts, placeOfPod } from './exit-counts.ts';
import { watchedTraces } from './traces.ts';
import { watchView, type WatchView } from './view.ts';

/** Returns 0 after Ctrl-C or SIGTERM. Throws PodexitError if the pods cannot be watched. */
export function watchExits(options: WatchOptions, terminal: Ports): Promise<number> {
  let view: WatchView | undefined;
  const ports = sayingThrough((text) => view?.say?.(text), terminal);
  return inSession(traceOptions(options), ports, async (session, traced) => {
    const group = await watchedGroup(session, options);
    const watch = createWatch(session, group);
    view = watchView(options.format, traced.look, terminal, watch.state);
    try {
      return await follow(session, traced, watch, view);
    } finally {
      view.close?.();
    }
  });
}

/** A watch only attaches: it deletes nothing, asks nothing, and prints its own way. */
const traceOptions = ({ target, ...options }: WatchOptions): TraceOptions & { pods: 'all' } => ({
  ...options,
  pods: 'all',
  target: target ?? { kind: 'selector', labels: '', fields: '' },
  mode: 'attach',
  ignoreNotFound: false,
  interactive: false,
  graceSeconds: null,
  insist: false,
  waitReplacement: false,
  retryEvict: false,
  logText: false,
  format: { kind: 'lines' },
  reports: [],
  policy: { gates: [], warnOnly: false },
  publish: { github: false, otlp: 'never' },
});

type Watch = ReturnType<typeof createWatch>;

/** What a watch counts, and what its table shows. */
function createWatch({ ports }: Session, group: Group) {
  const since = ports.clock.now();
  const tally = createExitCounts();
  const services = createServices(() => {});
  const last: WatchedExit[] = [];
  let terminating = (): number => 0;
  return {
    group,
    tally,
    services,
    take(exit: WatchedExit): void {
      if (exit.kind === 'pod') {
        const { timeline, verdict } = exit.report;
        tally.exit(placeOfPod(timeline.pod, timeline.workload), verdict.outcome);
      } else tally.end(placeOfPod(exit.end.pod), exit.end);
      last.push(exit);
      if (last.length > mostRows.last) last.shift();
    },
    /** How many pods terminate now. */
    counts: (open: () => number): void => void (terminating = open),
    state: (): WatchState => ({
      target: group.target,
      since,
      last,
      exits: tally.numbers().exits,
      terminating: terminating(),
      worst: tally.worst(mostRows.worst),
      services: services.fewestReady(mostRows.services),
    }),
  };
}

async function follow(session: Session, options: TraceOptions, watch: Watch, view: WatchView): Promise<number> {
  const { ports } = session;
  const { group, tally } = watch;
  const warn = warnOn(ports);
  const take = (exit: WatchedExit): void => {
    watch.take(exit);
    view.exit(exit);
  };
  const ends = createContainerEnds((end) => take({ kind: 'container', end }));
  const gaps = createGaps(ports.clock, (gap) => {
    tally.gap();
    view.gap?.(gap);
    warn(gapText(gap, options.look.timestamps));
  });
  const traces = watchedTraces(() => true, false, {
    seen(o: Observation) {
      ends.take(o);
      gaps.take(o);
      watch.services.take(o);
    },
    dropped: () => tally.dropped(),
  });
  watch.counts(() => traces.keys().length);
  const onReport = (report: Report): void => take({ kind: 'pod', report });
  const reports = createTraceReports(traces, (trace) => reportOf(trace, options.policy), onReport);
  const listener: GroupListener = {
    // A pod that was removed at once has a trace: its removal shows how.
    missed(pod, why) {
      if (isTerminatingPod(pod)) return;
      tally.unseen(placeOfPod(narrowPod(asObject(pod))));
      warn(missedText(pod, why));
    },
  };
  warn(`watching the pods of ${group.target}; Ctrl-C prints a summary`);
  const end = (interruptedBy: Interrupted['signal'] | undefined): number => {
    gaps.flush();
    const open = traces.keys().length;
    view.end(tally.numbers(), open);
    if (interruptedBy === 'SIGPIPE') return signalCodes.SIGPIPE;
    if (interruptedBy) return 0;
    throw new PodexitError(
      'watch.ended',
      `the pods of ${group.target} can no longer be watched`,
      'What was counted until now is above. Start it again once the pods may be watched.',
    );
  };
  return runLive(session, options, {
    group,
    listener,
    traces,
    logText: false,
    audience: { step: (_trace, observation, key) => reports.step(observation, key) },
    end: async ({ interruptedBy }) => Promise.resolve(end(interruptedBy)),
  });
}
