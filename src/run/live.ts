/**
 * A live exit as a source of sightings: what conduct.ts opens and sends, and how it ends: when the pod is gone and the
 * last facts are in, by --timeout, or when somebody leaves. Everything that it decides on becomes a sighting, so that a
 * recording of the run replays to the same report.
 */
import { setMaxListeners } from 'node:events';
import type { Cluster } from '../kube/cluster.ts';
import type { Began, Gap, Interrupted, Mode, Sighting, StreamName } from '../model/observation.ts';
import type { Trace } from '../model/trace.ts';
import type { Clock } from './clock.ts';
import { conduct } from './conduct.ts';
import type { HowFar } from './how-far.ts';
import { howFar } from './how-far.ts';
import type { Lanes } from './lanes.ts';
import { createLanes } from './lanes.ts';
import { lookOnceMore } from './last-look.ts';
import type { Later } from './later.ts';
import { createLater } from './later.ts';
import { nextStep } from './next-step.ts';
import { lookAtNamespace } from './open-lanes.ts';
import type { Queue } from './queue.ts';
import { createQueue } from './queue.ts';
import { watchSuspension } from './suspension.ts';
import type { ProbeSettings } from '../probe/settings.ts';
import type { Probing } from './probing.ts';
import type { FoundPod } from './found-pod.ts';
import { createTimeLimit } from './time-limit.ts';
import type { TimeLimit } from './time-limit.ts';

export interface LiveOptions extends FoundPod {
  cluster: Cluster;
  clock: Clock;
  namespace: string;
  mode: Exclude<Mode, 'check'>;
  /** Sent with the request; null leaves it to the pod. */
  graceSeconds: number | null;
  /** The user named a grace: then a pod that is already terminating gets one more DELETE. */
  insist: boolean;
  /** ms; null: never; `by-grace`: effective grace + 120 s. */
  timeoutMs: number | null | 'by-grace';
  /** Client ms at which that time is over, where some of it was spent before the run. */
  until?: number | undefined;
  waitReplacement: boolean;
  followLogs: boolean;
  /** Requests that are sent meanwhile (--probe). */
  probes?: readonly ProbeSettings[];
  /** What they say of who sends them. */
  userAgent?: string;
  /** Ask again for as long as a budget refuses the eviction. */
  retryEvict?: boolean;
  /** One sentence for stderr. */
  warn(message: string): void;
}

export interface Live {
  sightings: AsyncIterable<Sighting>;
  /** To be told of each new trace: the source ends by it. */
  onTrace(trace: Trace): void;
  /** Ends the run with the report so far; the deletion itself goes on. */
  interrupt(signal: Interrupted['signal']): void;
  /** Closes what is still open: for whoever takes no more sightings, also before their end. */
  stop(): void;
  /** How far the deletion is by now. */
  readonly howFar: HowFar;
}

/** What all parts of one run share. */
export interface Run {
  readonly options: LiveOptions;
  /** Aborted when the run is over. */
  readonly signal: AbortSignal;
  readonly lanes: Lanes;
  readonly timeLimit: TimeLimit;
  readonly timers: Map<string, () => void>;
  /** What is opened after the burst of news that the DELETE sets off. */
  readonly later: Later;
  /** Streams whose refusal has been said. */
  readonly warned: Set<StreamName>;
  trace: Trace | undefined;
  /** A DELETE (or an eviction) has been sent. */
  requested: boolean;
  /** While requests are sent. */
  probing?: Probing | undefined;
  isFinishing?: boolean;
  /** Hands a sighting over; resolves when it has been taken. Held back until `begin`. */
  deliver(this: void, sighting: Sighting): Promise<void>;
  /** Tells how the run began, before all that was seen until now: only the pod can tell its mode. */
  begin(this: void, mode: Mode): void;
  /** Ends the run with an error. */
  fail(this: void, error: unknown): void;
  /** Tells one more sighting and ends. */
  last(this: void, sighting: Sighting): void;
}

export function liveSource(options: LiveOptions): Live {
  const { clock } = options;
  const queue = createQueue<Sighting>();
  const { put, begin } = heldUntilBegun(options, queue);
  const stop = new AbortController();
  // One listener for each stream and request that is open: more than Node's guess of what is a leak.
  setMaxListeners(0, stop.signal);
  const tell = (sighting: Sighting): void => void put(sighting);
  const suspension = watchSuspension(clock, () => run.lanes.streams(), tell);
  const close = (): boolean => {
    if (stop.signal.aborted) return false;
    suspension.cancel();
    run.timeLimit.cancel();
    run.timers.forEach((cancel) => cancel());
    options.before?.stop();
    stop.abort();
    return true;
  };
  const end = (): void => void (close() && queue.end());
  let leaving = false;
  const run: Run = {
    options,
    signal: stop.signal,
    lanes: createLanes(() => consider()),
    timeLimit: createTimeLimit(options, () => giveUp(run, suspension.unread)),
    timers: new Map(),
    later: createLater(clock, stop.signal),
    warned: new Set(),
    trace: undefined,
    requested: false,
    deliver: async (sighting) => {
      suspension.before(sighting.at).forEach(tell);
      await put(sighting);
    },
    begin,
    fail: (error) => void (close() && queue.fail(error)),
    last: (sighting) => {
      if (leaving || stop.signal.aborted) return;
      leaving = true;
      // Left before the pod was known: what was asked for is all that can be told.
      begin(options.mode);
      untoldOnLeaving(run).forEach((gap) => void queue.put(gap));
      void queue.put(sighting).then(end);
    },
  };
  const consider = (): void =>
    void (leaving || stop.signal.aborted || goOn(run, { end, again: consider, unread: suspension.unread }));
  void conduct(run).catch(run.fail);
  return {
    sightings: queue,
    onTrace: (trace) => {
      learn(run, trace);
      if (!stop.signal.aborted) run.timeLimit.follow(trace);
      consider();
    },
    interrupt: (signal) => run.last({ at: clock.now(), kind: 'interrupted', signal }),
    stop: end,
    get howFar() {
      return howFar(run.trace, run.requested);
    },
  };
}

function learn(run: Run, trace: Trace): void {
  const isNews = isSomebodyElses(run, trace);
  run.trace = trace;
  // The namespace was well when it was looked at, and what ends now may be all of it.
  if (isNews) run.later.add(() => void lookAtNamespace(run));
}

/** The deletion of a pod that was waited for; a namespace that may not be read is not asked for twice. */
const isSomebodyElses = ({ trace, requested }: Run, next: Trace): boolean =>
  trace !== undefined &&
  !trace.deletion &&
  next.deletion !== undefined &&
  !requested &&
  next.refused.every(({ value }) => value.stream !== 'namespace');

/** Not before what came during a standstill has been read. */
function giveUp(run: Run, unread: () => number): void {
  const { clock } = run.options;
  const wait = unread();
  if (wait > 0)
    run.timers.set(
      'waking',
      clock.setTimeout(() => giveUp(run, unread), wait),
    );
  else
    void lookOnceMore(run)
      .then(() => run.last({ at: clock.now(), kind: 'timer', name: 'timeout' }))
      .catch(run.fail);
}

/** What the trace and the streams say of the end: it is here, it is no longer waited for, or it is looked at again. */
function goOn(run: Run, { end, again, unread }: { end(): void; again(): void; unread(): number }): void {
  const { clock } = run.options;
  if (!run.trace) return;
  if (run.trace.gone) run.later.hurry();
  const step = nextStep(run.trace, run.lanes, clock.now());
  if (step.kind === 'go-on') return;
  if (run.probing) return finishProbing(run, run.probing, again);
  if (step.kind === 'end') return end();
  const wait = step.kind === 'wait' ? step.until - clock.now() : unread();
  if (wait <= 0) return run.last({ at: clock.now(), kind: 'timer', name: 'settled' });
  run.lanes.doubt();
  run.timers.get('settled')?.();
  run.timers.set('settled', clock.setTimeout(again, wait));
}

/** The end is not considered before the last request was answered. */
function finishProbing(run: Run, probing: Probing, again: () => void): void {
  if (run.isFinishing) return;
  run.isFinishing = true;
  void probing
    .finish(() => run.trace)
    .then(() => {
      run.probing = undefined;
      again();
    })
    .catch(run.fail);
}

function untoldOnLeaving(run: Run): Sighting[] {
  run.probing?.flush();
  return untoldStreams(run);
}

/** What has been told as lost already is told once. */
const untoldStreams = ({ lanes, options, trace }: Run): Sighting[] =>
  lanes
    .unsure()
    .filter(({ stream }) => !trace?.gaps.some(({ value }) => isOpenGapOf(stream, value)))
    .map(({ stream, since }) => ({
      at: options.clock.now(),
      kind: 'gap',
      stream,
      from: since,
      cause: 'disconnected',
    }));

/** Of the whole stream: each container's log is a lane of its own. */
const isOpenGapOf = (stream: StreamName, gap: Gap): boolean =>
  gap.stream === stream && gap.to === undefined && gap.container === undefined;

/** `began` comes first in every recording, also where streams told something before it could be said. */
function heldUntilBegun(options: LiveOptions, queue: Queue<Sighting>): Pick<Run, 'begin'> & { put: Run['deliver'] } {
  const held: Sighting[] = [];
  const openedAt = options.clock.now();
  let begun = false;
  return {
    put: async (sighting) => void (begun ? await queue.put(sighting) : held.push(sighting)),
    begin: (mode) => {
      if (begun) return;
      begun = true;
      void queue.put({ at: Math.max(held[0]?.at ?? options.clock.now(), openedAt), ...beganOf(options, mode) });
      held.forEach((sighting) => void queue.put(sighting));
    },
  };
}

const beganOf = ({ namespace, name, graceSeconds, timeoutMs, waitReplacement }: LiveOptions, mode: Mode): Began => ({
  kind: 'began',
  mode,
  namespace,
  name,
  graceSeconds: mode === 'attach' ? null : graceSeconds,
  timeoutSeconds: typeof timeoutMs === 'number' ? timeoutMs / 1000 : null,
  waitReplacement,
});
