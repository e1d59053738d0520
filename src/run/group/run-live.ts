/**
 * A live run: one set-up of its streams, recording, time limits and signals, however many pods it is about. It is a
 * source of raw observations: run-deletion.ts opens the streams and sends the DELETE, tracks.ts ends
 * each trace. The run ends when its pod is gone and the last facts have arrived, by --timeout, or by a signal.
 * Everything that decides this is a raw observation too, so that a recording of the run replays to the same reports.
 */
import type { PodexitError } from '../../errors.ts';
import type { Pod } from '../../model/kube.ts';
import type { Interrupted, Began, Deliver, Mode, RawObservation } from '../../model/observation.ts';
import { afterInput } from '../clock.ts';
import { leaveOnSignals, deletionProgress, type DeletionProgress } from '../ending/leaving.ts';
import type { TraceOptions } from '../options.ts';
import { warnOn } from '../ports.ts';
import { run, type RunOptions } from '../run.ts';
import type { Session } from '../session.ts';
import type { CommandOptions, LiveOptions, Run } from '../streams/live-run.ts';
import type { Group, GroupListener } from './group.ts';
import { setMaxListeners } from 'node:events';
import type { Trace } from '../../model/trace.ts';
import { createTracks } from '../ending/tracks.ts';
import { onePod } from '../traces/traces.ts';
import { runDeletion } from '../deleting/run-deletion.ts';
import { createStreamHealth, watchSuspension } from '../streams/stream-health.ts';

interface LiveSetUp<T> extends Pick<RunOptions, 'traces' | 'audience'> {
  readonly group: Group;
  readonly listener?: GroupListener;
  /** Ends the wait for further pods; open traces continue to their end. */
  readonly finishOn?: AbortSignal;
  /** Called before a signal ends the run. */
  onSignal?(signal: Interrupted['signal'], live: Live): void;
  /** Called at the end, while signals are still handled. `isRecorded`: no recording is incomplete. */
  end(how: { isRecorded: boolean; interruptedBy: Interrupted['signal'] | undefined }): Promise<T>;
}

/** The one pod of a run: the pod that was found, or the first of a group that terminates. */
export interface TracedPod extends Pick<LiveSetUp<unknown>, 'group' | 'listener' | 'finishOn'> {
  /** Which of several terminating pods is traced. */
  wants?(pod: Pod): boolean;
  /** `attach.not-started` (exit 3): no pod terminated. */
  notStarted?(): PodexitError;
  close?(): void;
}

type RunLiveOptions = CommandOptions & Pick<TraceOptions, 'record' | 'logText' | 'timeoutMs'>;

/** V8's heap grows to several times of what is kept: of 254 MiB these save 150 on bench:watch, of 187 40 with 500 pods. */
export const heapBounds = ['--heap-growing-percent=40', '--semi-space-growth-factor=1'];

/** Throws `record.unwritable`, and the error that ends the run. */
export async function runLive<T>(session: Session, options: RunLiveOptions, setUp: LiveSetUp<T>): Promise<T> {
  const { cluster, deadline, ports } = session;
  const { clock, stdout, version } = ports;
  const { group, listener, traces, audience } = setUp;
  const { logText } = options;
  // Before the screen is used: an unwritable file is an error, and nothing has begun.
  const warn = warnOn(ports);
  const recorder =
    options.record === undefined
      ? undefined
      : (await import('../../output/report-files.ts')).recorderFor(options.record, logText, ports, ({ message }) =>
          warn(`the recording ${options.record} is incomplete: ${message}; the trace continues`),
        );
  if (!group.isOne) heapBounds.forEach((await import('node:v8')).setFlagsFromString);
  const defaultMs = stdout.isTty && !group.isEndless ? null : 'by-grace';
  const timeoutMs = options.timeoutMs === undefined ? defaultMs : options.timeoutMs;
  const { until } = deadline;
  const live = liveSource({ ...options, cluster, clock, group, listener, timeoutMs, until, version, warn });
  setUp.finishOn?.addEventListener('abort', live.finish, { once: true });
  let interruptedBy: Interrupted['signal'] | undefined;
  const stopListening = leaveOnSignals(ports, (signal) => {
    interruptedBy = signal;
    setUp.onSignal?.(signal, live);
    live.interrupt(signal);
  });
  try {
    await run({ ...live, logText, traces, record: recorder?.write, audience, afterInput });
    return await setUp.end({ isRecorded: !recorder?.failure, interruptedBy });
  } finally {
    live.stop();
    stopListening();
    recorder?.close();
  }
}

export type Live = ReturnType<typeof liveSource>;

export function liveSource(options: LiveOptions) {
  const { clock, group, listener = {} } = options;
  const { deliver, begin, ...delivery } = createDelivery(options, (error) => run.fail(error));
  const stop = new AbortController();
  // Each open stream and request has one listener: more than Node's leak warning allows.
  setMaxListeners(0, stop.signal);
  const suspension = watchSuspension(clock, () => run.streams.names(), deliver);
  const finish = (failure?: { error: unknown }): void => {
    if (stop.signal.aborted) return;
    suspension.cancel();
    tracks.cancel();
    run.timers.forEach((cancel) => cancel());
    stop.abort();
    delivery.finish(failure);
  };
  const run: Run = {
    options,
    group,
    listener,
    signal: stop.signal,
    streams: createStreamHealth(() => tracks.checkAll()),
    timers: new Map(),
    warned: new Set(),
    requested: false,
    probing: undefined,
    onDeletion: undefined,
    traceOf: (key) => tracks.traceOf(key),
    traces: () => tracks.traces(),
    ofPod: (uid) => (group.isOne ? {} : { pod: uid }),
    deliver: (rawObservation) => {
      suspension.before(rawObservation.at).forEach(deliver);
      deliver(rawObservation);
    },
    begin,
    suspension,
    end: () => finish(),
    fail: (error) => finish({ error }),
    endWith: (rawObservation) => {
      if (stop.signal.aborted) return;
      // The run may end before the pod was read: then `began` has the mode that was asked for.
      begin(options.mode);
      run.probing?.flush();
      gapsOfUnsureStreams(run).forEach(deliver);
      deliver(rawObservation);
      finish();
    },
  };
  const tracks = createTracks(run);
  void runDeletion(run).catch(run.fail);
  return {
    /** Delivers everything that the run observes. Throws the error that ends the run, also one of `deliver`. */
    source: delivery.to,
    /** Must be called with each new trace that it awaits: it decides when the run ends. */
    onTrace: (trace: Trace, key = onePod): void => tracks.take(trace, key),
    awaits: tracks.awaits,
    /** Ends the run with what is known so far; deletions continue on the server. */
    interrupt: (signal: Interrupted['signal']): void => run.endWith({ at: clock.now(), kind: 'interrupted', signal }),
    /** Takes no further pod: the run ends when all open traces have ended. */
    finish: tracks.finish,
    /** Closes everything that is still open, even before the end. */
    stop: () => finish(),
    progressOf: (trace: Trace | undefined): DeletionProgress => deletionProgress(trace, run.requested),
  };
}

/** Streams that may have kept something back, without those that have an open gap: not of one container's log only. */
function gapsOfUnsureStreams({ streams, options, traceOf }: Run): RawObservation[] {
  const open = traceOf(onePod)?.gaps.filter(
    ({ value: { to, container } }) => to === undefined && container === undefined,
  );
  return streams
    .unsure()
    .filter(({ stream }) => !open?.some(({ value }) => value.stream === stream))
    .map(({ stream, since: from }) => ({ at: options.clock.now(), kind: 'gap', stream, from, cause: 'disconnected' }));
}

/** Delivers one observation at a time, even if taking one delivers the next. `began` comes first in every recording. */
function createDelivery(options: LiveOptions, onTakeError: (error: unknown) => void) {
  const openedAt = options.clock.now();
  const waiting: RawObservation[] = [];
  let [hasBegun, isTaking, isOver] = [false, false, false];
  let take: Deliver | undefined;
  let settle = { resolve: (): void => {}, reject: (_: unknown): void => {} };
  const over = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  // The run may fail before `to` is called.
  over.catch(() => undefined);
  /** A nested call returns at once: the outer call takes what is new. */
  const takeWaiting = (): void => {
    if (!take || !hasBegun || isTaking) return;
    isTaking = true;
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) take(next);
    } catch (error) {
      onTakeError(error);
    } finally {
      isTaking = false;
    }
  };
  return {
    deliver(rawObservation: RawObservation): void {
      if (isOver) return;
      waiting.push(rawObservation);
      takeWaiting();
    },
    begin(mode: Mode): void {
      if (hasBegun) return;
      hasBegun = true;
      const at = Math.max(waiting[0]?.at ?? options.clock.now(), openedAt);
      const asked = mode !== 'attach' && at > openedAt + 2000 && { askedAt: openedAt };
      waiting.unshift({ at, ...asked, ...beganOf(options, mode) });
      takeWaiting();
    },
    /** Passes everything delivered before and after to `taking`. Resolves at the end. */
    to(this: void, taking: Deliver): Promise<void> {
      take = taking;
      takeWaiting();
      return over;
    },
    /** Ignores everything that is delivered later. */
    finish(failure?: { error: unknown }): void {
      isOver = true;
      if (failure) settle.reject(failure.error);
      else settle.resolve();
    },
  };
}

function beganOf(options: LiveOptions, mode: Mode): Began {
  const { group, graceSeconds, timeoutMs, waitReplacement } = options;
  return {
    kind: 'began',
    mode,
    namespace: group.namespace,
    name: group.isOne ? (group.named?.[0]?.name ?? '') : '',
    target: group.isOne ? undefined : group.target,
    next: group.isNext,
    graceSeconds: mode === 'attach' ? null : graceSeconds,
    timeoutSeconds: typeof timeoutMs === 'number' ? timeoutMs / 1000 : null,
    waitReplacement,
    command: options.command,
    version: options.version,
    context: options.cluster.contextName,
  };
}
