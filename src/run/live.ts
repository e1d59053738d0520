/**
 * A live run as a source of raw observations: what run-deletion.ts opens and sends, and how each trace ends. It ends when its pod
 * is gone and the last facts are in, by --timeout, or by a signal. Everything that decides this is a raw observation too, so that
 * a recording of the run replays to the same reports.
 */
import { setMaxListeners } from 'node:events';
import type { Cluster } from '../kube/cluster.ts';
import type { Began, Gap, Mode, RawObservation, StreamName } from '../model/observation.ts';
import { createTracks } from './tracks.ts';
import { onePod } from './traces.ts';
import { runDeletion } from './run-deletion.ts';
import { deletionProgress } from './leaving.ts';
import { createStreamHealth } from './stream-health.ts';
import type { Live, LiveOptions, Run } from './live-run.ts';
import type { Deadline } from './time-limit.ts';
import type { Ports } from './ports.ts';
import type { ExitOptions } from './trace-options.ts';
import { podTarget } from './watched.ts';
import type { Clock } from './clock.ts';

export function liveSource(options: LiveOptions): Live {
  const { clock, several } = options;
  const queue = createQueue<RawObservation>();
  const { put, begin } = heldUntilBegun(options, queue);
  const stop = new AbortController();
  // One listener for each stream and request that is open: more than Node's guess of what is a leak.
  setMaxListeners(0, stop.signal);
  const deliver = (rawObservation: RawObservation): void => void put(rawObservation);
  const suspension = watchSuspension(clock, () => run.streams.names(), deliver);
  const close = (): boolean => {
    if (stop.signal.aborted) return false;
    suspension.cancel();
    tracks.cancel();
    run.timers.forEach((cancel) => cancel());
    stop.abort();
    return true;
  };
  const end = (): void => void (close() && queue.end());
  let isLeaving = false;
  const run: Run = {
    options,
    signal: stop.signal,
    streams: createStreamHealth(() => void (isLeaving || tracks.considerAll())),
    timers: new Map(),
    warned: new Set(),
    pods: several?.pods ?? podTarget(options.namespace, options.name),
    requested: false,
    probing: undefined,
    onDeletion: undefined,
    traceOf: (key) => tracks.traceOf(key),
    traces: () => tracks.traces(),
    ofPod: (uid) => (several ? { pod: uid } : {}),
    limitByGrace: (seconds) => tracks.limitByGrace(seconds),
    deliver: async (rawObservation) => {
      suspension.before(rawObservation.at).forEach(deliver);
      await put(rawObservation);
    },
    begin,
    fail: (error) => void (close() && queue.fail(error)),
    last: (rawObservation) => {
      if (isLeaving || stop.signal.aborted) return;
      isLeaving = true;
      // Left before the pod was known: what was asked for is all that is known.
      begin(options.mode);
      run.probing?.flush();
      unsureStreams(run).forEach((gap) => void queue.put(gap));
      void queue.put(rawObservation).then(end);
    },
  };
  const tracks = createTracks(run, { unread: suspension.unread, end, isLeaving: () => isLeaving });
  void runDeletion(run).catch(run.fail);
  return {
    rawObservations: queue,
    onTrace: (trace, key = onePod) => tracks.take(trace, key),
    interrupt: (signal) => run.last({ at: clock.now(), kind: 'interrupted', signal }),
    finish: tracks.finish,
    stop: end,
    going: tracks.going,
    progressOf: (key) => deletionProgress(run.traceOf(key), run.requested),
  };
}

/** What has been delivered as lost is not delivered again. */
const unsureStreams = ({ streams, options, traceOf }: Run): RawObservation[] =>
  streams
    .unsure()
    .filter(({ stream }) => !traceOf(onePod)?.gaps.some(({ value }) => isOpenGapOf(stream, value)))
    .map(({ stream, since }) => ({
      at: options.clock.now(),
      kind: 'gap',
      stream,
      from: since,
      cause: 'disconnected',
    }));

/** Of the whole stream: each container's log is a stream of its own. */
const isOpenGapOf = (stream: StreamName, gap: Gap): boolean =>
  gap.stream === stream && gap.to === undefined && gap.container === undefined;

/** `began` comes first in every recording, also where streams delivered something before it could be written. */
function heldUntilBegun(
  options: LiveOptions,
  queue: Queue<RawObservation>,
): Pick<Run, 'begin'> & { put: Run['deliver'] } {
  const held: RawObservation[] = [];
  const openedAt = options.clock.now();
  let begun = false;
  return {
    put: async (rawObservation) => void (begun ? await queue.put(rawObservation) : held.push(rawObservation)),
    begin: (mode) => {
      if (begun) return;
      begun = true;
      void queue.put({ at: Math.max(held[0]?.at ?? options.clock.now(), openedAt), ...beganOf(options, mode) });
      held.forEach((rawObservation) => void queue.put(rawObservation));
    },
  };
}

function beganOf(options: LiveOptions, mode: Mode): Began {
  const { namespace, name, graceSeconds, timeoutMs, waitReplacement, several } = options;
  return {
    kind: 'began',
    mode,
    namespace: several?.namespace ?? namespace,
    name,
    target: several?.target,
    next: several?.isNext,
    graceSeconds: mode === 'attach' ? null : graceSeconds,
    timeoutSeconds: typeof timeoutMs === 'number' ? timeoutMs / 1000 : null,
    waitReplacement,
    command: options.command,
    version: options.version,
    context: options.cluster.contextName,
  };
}

/** What runs over one pod and over several have in common. */
export function liveOptions(
  cluster: Cluster,
  options: ExitOptions,
  { until }: Deadline,
  { clock, stdout, version }: Ports,
): Omit<LiveOptions, 'name' | 'warn'> {
  const timeoutMs = options.timeoutMs === undefined ? (stdout.isTty ? null : 'by-grace') : options.timeoutMs;
  return { ...options, cluster, clock, namespace: cluster.namespace, timeoutMs, until, version };
}

export interface Queue<T> extends AsyncIterable<T> {
  put(item: T): Promise<void>;
  /** No more items; those that are in still come out. */
  end(): void;
  /** The consumer gets this error once everything before it came out. */
  fail(error: unknown): void;
}

export function createQueue<T>(): Queue<T> {
  const waiting: { item: T; taken: () => void }[] = [];
  let finished: { error?: unknown } | undefined;
  let wake = (): void => {};

  async function* drain(): AsyncGenerator<T> {
    try {
      for (;;) {
        const next = waiting[0];
        if (next) {
          yield next.item;
          waiting.shift();
          next.taken();
        } else if (finished) {
          if ('error' in finished) throw finished.error;
          return;
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      finished ??= {};
      waiting.splice(0).forEach(({ taken }) => taken());
    }
  }

  const finish = (how: { error?: unknown }): void => {
    finished ??= how;
    wake();
  };
  return {
    put: (item) =>
      finished
        ? Promise.resolve()
        : new Promise((taken) => {
            waiting.push({ item, taken });
            wake();
          }),
    end: () => finish({}),
    fail: (error) => finish({ error }),
    [Symbol.asyncIterator]: drain,
  };
}

export interface Suspension {
  /** To be asked before something that arrived at `at` is delivered: what has to be delivered first. */
  before(at: number): RawObservation[];
  /**
   * ms from now on in which what arrived during a standstill may still be unread, so that nobody gives up meanwhile:
   * timers come first on waking, and a connection that broke has to be made again.
   */
  unread(this: void): number;
  cancel(): void;
}

const tickMs = 1000;
/**
 * Beyond the tick itself. Standstills of 2 s are noticed whenever they begin, so that less than that adds to how late
 * a change may arrive (`delivery-lag`, 2.5 s). A busy machine is late too: then intervals get wider, and nothing else happens.
 */
const lateMs = 1000;

const readingMs = 5000;

/** `streams`: those whose changes may have waited. `deliver` gets what a late tick shows. */
export function watchSuspension(
  clock: Clock,
  streams: () => Iterable<StreamName>,
  deliver: (rawObservation: RawObservation) => void,
): Suspension {
  /** Client ms: the process ran then. */
  let awakeAt = clock.now();
  let last: { since: number; at: number } | undefined;
  const resumed = (since: number, at: number): RawObservation[] => {
    last = { since, at };
    return [...new Set(streams())].map((stream) => ({ kind: 'resumed', at, stream, since }));
  };
  const before = (at: number): RawObservation[] => {
    const since = awakeAt;
    awakeAt = Math.max(awakeAt, at);
    if (at - since > tickMs + lateMs) return resumed(since, at);
    // Read on waking too, by another stream, a moment before what was delivered first.
    return last && at < last.at && at - last.since > tickMs + lateMs ? resumed(last.since, at) : [];
  };
  const tick = (): void => {
    before(clock.now()).forEach(deliver);
    cancel = clock.setTimeout(tick, tickMs);
  };
  let cancel = clock.setTimeout(tick, tickMs);
  const unread = (): number => {
    const now = clock.now();
    before(now).forEach(deliver);
    return Math.max(0, (last?.at ?? -Infinity) + readingMs - now);
  };
  return { before, unread, cancel: () => cancel() };
}
