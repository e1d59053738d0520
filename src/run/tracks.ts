/** The traces of a live run. One ends when its pod is gone and the last facts have arrived, or at --timeout. */
import { asObject, type JsonObject } from '../model/observe/read.ts';
import type { Trace } from '../model/trace.ts';
import { afterInput } from './clock.ts';
import type { StreamHealth } from './stream-health.ts';
import type { Run } from './live-run.ts';
import { sharedStreamDelayMs, nextStep } from './ending.ts';
import type { Probing } from './probing.ts';
import { createTimeLimit, type TimeLimit } from './time-limit.ts';
import { onePod } from './traces.ts';
import type { ApiResponse } from '../kube/cluster.ts';
import { tryGetPod } from '../kube/get.ts';
import { millisecondsOf } from '../model/assumptions.ts';
import { uidOf } from './watched.ts';

interface Track {
  trace: Trace | undefined;
  readonly timeLimit: TimeLimit;
  isOver: boolean;
  cancelSettling: () => void;
}

interface RunControl {
  /** ms during which data from a suspension may still be unread. */
  unreadMs(): number;
  /** Ends the run. */
  end(): void;
  isLeaving(): boolean;
}

export function createTracks(run: Run, control: RunControl) {
  const { several } = run.options;
  const tracks = new Map<string, Track>();
  let isFinishing = false;
  const track = (key: string): Track => {
    const known = tracks.get(key);
    if (known) return known;
    const timeLimit = createTimeLimit(run.options, () => giveUp(run, key, control, (name) => endTrace(key, name)));
    const fresh = { trace: undefined, timeLimit, isOver: false, cancelSettling: () => {} };
    tracks.set(key, fresh);
    return fresh;
  };
  const openTraces = (): number => [...tracks.values()].filter(({ isOver }) => !isOver).length;
  const endIfDone = (): void => {
    if (!isFinishing || !several || openTraces() > 0) return;
    if (run.probing) finishProbing(run, run.probing, '', endIfDone);
    else control.end();
  };
  /** Ends one trace; in a run about one pod also the run. */
  const endTrace = (key: string, name: TraceEnd): void => {
    const one = track(key);
    const at = run.options.clock.now();
    if (one.isOver) return;
    if (!several) return name === 'over' ? control.end() : run.endWith({ at, kind: 'timer', name });
    one.isOver = true;
    cancelTimers(one);
    run.deliver({ at, kind: 'timer', name, pod: key });
    several.ended(key);
    endIfDone();
  };
  const checkEnd = (key: string): void => {
    const one = tracks.get(key);
    if (!one?.trace || one.isOver || control.isLeaving() || run.signal.aborted) return;
    const next = nextCheck(run, one.trace, control.unreadMs);
    if (next === undefined) return;
    if (run.probing && !several) return finishProbing(run, run.probing, key, () => checkEnd(key));
    if (typeof next === 'string') return endTrace(key, next);
    one.cancelSettling();
    one.cancelSettling = run.options.clock.setTimeout(() => checkEnd(key), next);
  };
  const checkSoon = onceEachTurn(checkEnd);
  if (!several) track(onePod);
  return {
    /** Takes the newest state of a trace. */
    take(trace: Trace, key: string): void {
      const one = track(key);
      const isBegun = one.trace !== undefined && !one.trace.deletion && trace.deletion !== undefined;
      one.trace = trace;
      if (isBegun) afterInput(() => run.onDeletion?.(trace));
      if (!run.signal.aborted && !one.isOver) one.timeLimit.follow(trace);
      checkSoon(key);
    },
    traceOf: (key: string): Trace | undefined => tracks.get(several ? key : onePod)?.trace,
    traces: (): Trace[] => [...tracks.values()].flatMap(({ trace }) => trace ?? []),
    openTraces,
    limitByGrace: (seconds: number): void => void (several || track(onePod).timeLimit.byGrace(seconds)),
    /** Checks for each trace whether it has ended. */
    checkAll: (): void => tracks.forEach((_, key) => checkEnd(key)),
    /** Starts no further trace: the run ends when the open ones have ended. */
    finish: (): void => void ((isFinishing = true), endIfDone()),
    cancel: (): void => tracks.forEach(cancelTimers),
  };
}

/** Waits until all input is read and shown: a trace that ends asks each of its streams. */
function onceEachTurn(consider: (key: string) => void): (key: string) => void {
  const keys = new Set<string>();
  const considerAll = (): void => {
    const all = [...keys];
    keys.clear();
    all.forEach(consider);
  };
  return (key) => {
    if (keys.size === 0) afterInput(considerAll);
    keys.add(key);
  };
}

function cancelTimers({ timeLimit, cancelSettling }: Track): void {
  timeLimit.cancel();
  cancelSettling();
}

/** The name of the timer that ends a trace in the log. */
type TraceEnd = 'timeout' | 'settled' | 'over';

/** The next step of a trace: its end, or ms until the next check; undefined: wait for more observations. */
function nextCheck({ options, streams }: Run, trace: Trace, unreadMs: () => number): TraceEnd | number | undefined {
  const now = options.clock.now();
  const { several } = options;
  const step = several ? nextStep(trace, onlyIfLost(streams), now, sharedStreamDelayMs) : nextStep(trace, streams, now);
  if (step.kind === 'end') return 'over';
  if (step.kind === 'go-on') return undefined;
  const wait = step.kind === 'wait' ? step.until - now : unreadMs();
  if (wait <= 0) return step.kind === 'settled' ? 'settled' : 'over';
  if (!several) streams.doubt();
  return wait;
}

/** Checks for the end only after the last probe request was answered. */
function finishProbing(run: Run, probing: Probing, key: string, onFinished: () => void): void {
  if (run.isProbingOver) return;
  run.isProbingOver = true;
  void probing
    .finish(() => run.traceOf(key))
    .then(() => {
      run.probing = undefined;
      onFinished();
    })
    .catch(run.fail);
}

/** Waits until everything that arrived during a suspension was read. */
function giveUp(run: Run, key: string, control: RunControl, end: (name: TraceEnd) => void): void {
  const wait = control.unreadMs();
  const again = (): void => giveUp(run, key, control, end);
  if (wait > 0) return void run.timers.set(`waking/${key}`, run.options.clock.setTimeout(again, wait));
  void readPodOnceMore(run, key)
    .then(() => end('timeout'))
    .catch(run.fail);
}

/**
 * Shared streams are not asked at each pod's end whether they have delivered everything, because that would be most of
 * all requests. A run waits for them only if one is known to be lost.
 */
const onlyIfLost = (streams: StreamHealth) => ({
  areComplete: () => !streams.isComingBack(),
  isComingBack: () => streams.isComingBack(),
});

/** ms; short, because the user's --timeout is already over. */
const lastReadTimeoutMs = 1000;

/**
 * Delivers the result of one last GET. Without an answer in time that shows the pod, the pod's stream counts as lost
 * unless it delivered something just before: its silence then proves no more than that of the server.
 */
async function readPodOnceMore(run: Run, key: string): Promise<void> {
  const { clock, cluster } = run.options;
  const trace = run.traceOf(key);
  const pod = trace?.pod?.value.metadata;
  if (!trace?.deletion || trace.gone || !pod) return;
  const place = { namespace: pod.namespace ?? run.options.namespace, name: pod.name };
  const tooLong = new AbortController();
  const cancel = clock.setTimeout(() => tooLong.abort(), lastReadTimeoutMs);
  const begun = clock.now();
  const answer = await tryGetPod(cluster, place, AbortSignal.any([run.signal, tooLong.signal])).finally(cancel);
  for (const rawObservation of answer?.dated ?? []) run.deliver(rawObservation);
  const found = answer && readLook(answer);
  if (!found) return run.streams.lose(run.pods.stream, begun - millisecondsOf('delivery-lag'));
  if (!found.object || uidOf(found.object) !== trace.uid) reportMissed(run, trace, found.at);
  run.deliver({ kind: 'looked', ...found, ...run.ofPod(key) });
}

type Look = { at: number; sentAt: number; object?: JsonObject };

/** The pod, or a proof that it does not exist. A login page, a proxy's own answer or a refusal prove nothing. */
function readLook({ at, sentAt, status, body }: ApiResponse): Look | undefined {
  const object = asObject(body);
  if (status === 200 && object['kind'] === 'Pod') return { at, sentAt, object };
  return status === 404 && object['kind'] === 'Status' ? { at, sentAt } : undefined;
}

/** The pod is gone and its stream did not report it: everything since its last state may be missing. */
function reportMissed({ deliver, pods, ofPod }: Run, trace: Trace, at: number): void {
  deliver({
    kind: 'gap',
    at,
    stream: pods.stream,
    ...ofPod(trace.uid ?? ''),
    from: trace.pod?.at ?? at,
    to: at,
    cause: 'disconnected',
  });
}
