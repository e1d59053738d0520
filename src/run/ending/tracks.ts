/** The traces of a live run. One ends when its pod is gone and the last facts have arrived, or at --timeout. */
import type { Observation } from '../../model/observation.ts';
import type { Trace } from '../../model/trace.ts';
import { afterInput } from '../clock.ts';
import type { Probing, Run } from '../streams/live-run.ts';
import type { End, endOf as EndOf } from './trace-end.ts';
import { createTimeLimit, hasPodEnded, type TimeLimit } from './leaving.ts';
import { onePod } from '../traces/traces.ts';
import { within } from '../../kube/env.ts';
import { lookOf, tryGet } from '../../kube/get.ts';
import { podPath } from '../../kube/resource-path.ts';
import { millisecondsOf } from '../../model/assumptions.ts';
import { uidOf } from '../streams/watched.ts';

/** ms in which shared streams deliver a pod's last changes, also once they are back: they confirm nothing. */
export const sharedStreamDelayMs = 500;

interface Track {
  trace: Trace | undefined;
  readonly timeLimit: TimeLimit;
  isOver: boolean;
  cancelSettling: () => void;
}

// oxlint-disable-next-line max-lines-per-function -- to be split: its parts share one state
export function createTracks(run: Run) {
  const { group, listener, options } = run;
  const { clock } = options;
  const tracks = new Map<string, Track>();
  let isFinishing = false;
  const track = (key: string): Track => {
    const known = tracks.get(key);
    if (known) return known;
    const timeLimit = createTimeLimit(options, () => giveUp(run, key, () => endTrace(key, 'timeout')));
    const one: Track = { trace: undefined, timeLimit, isOver: false, cancelSettling: () => {} };
    tracks.set(key, one);
    return one;
  };
  const endIfDone = (): void => {
    if (!isFinishing || group.isOne || [...tracks.values()].some(({ isOver }) => !isOver)) return;
    if (run.probing) finishProbing(run, run.probing, endIfDone);
    else run.end();
  };
  /** Ends one trace; in a group of one also the run. */
  const endTrace = (key: string, name: 'timeout' | End['name']): void => {
    const one = track(key);
    if (one.isOver) return;
    if (group.isOne) return name === 'over' ? run.end() : run.endWith({ at: clock.now(), kind: 'timer', name });
    one.isOver = true;
    cancelTimers(one);
    run.deliver({ at: clock.now(), kind: 'timer', name, pod: key });
    if (group.isEndless) afterInput(() => tracks.delete(key));
    listener.ended?.(key);
    endIfDone();
  };
  const checkEnd = (key: string): void => {
    const one = tracks.get(key);
    if (!one?.trace || one.isOver || run.signal.aborted) return;
    const end = plannedEnd(one.trace);
    if (!end) return;
    const wait = msUntil(run, end);
    if (wait > 0 && group.isOne) run.streams.doubt();
    if (run.probing && group.isOne) return finishProbing(run, run.probing, () => checkEnd(key));
    if (wait <= 0) return endTrace(key, end.name);
    one.cancelSettling();
    one.cancelSettling = clock.setTimeout(() => checkEnd(key), wait);
  };
  const checkAll = (): void => tracks.forEach((_, key) => checkEnd(key));
  const plannedEnd = createPlan(run, checkAll);
  const checkSoon = onceEachTurn(checkEnd);
  if (group.isOne) track(onePod);
  return {
    /** Whether it needs a trace after an observation: a change of another object cannot end the pod. */
    awaits(key: string, news: Observation): boolean {
      const trace = tracks.get(key)?.trace;
      return group.isOne || !trace || hasPodEnded(trace) || news.kind !== 'changed' || news.object.kind === 'Pod';
    },
    take(trace: Trace, key: string): void {
      const one = track(key);
      const isBegun = one.trace !== undefined && !one.trace.deletion && trace.deletion !== undefined;
      one.trace = trace;
      if (isBegun) afterInput(() => run.onDeletion?.(trace));
      if (!run.signal.aborted && !one.isOver) one.timeLimit.follow(trace);
      checkSoon(key);
    },
    traceOf: (key: string): Trace | undefined => tracks.get(group.isOne ? onePod : key)?.trace,
    traces: (): Trace[] => [...tracks.values()].flatMap(({ trace }) => trace ?? []),
    /** Checks for each trace whether it has ended; in an endless run after what a stream missed has come. */
    checkAll: (): void => void (group.isEndless ? clock.setTimeout(checkAll, sharedStreamDelayMs) : checkAll()),
    /** Starts no further trace: the run ends when the open ones have ended. */
    finish: (): void => void ((isFinishing = true), endIfDone()),
    cancel: (): void => tracks.forEach(cancelTimers),
  };
}

/** ms until a trace ends, at least until what arrived during a suspension is read. */
function msUntil({ options, suspension }: Run, { at, name }: End): number {
  const wait = at - options.clock.now();
  if (wait > 0 || name === 'over') return wait;
  suspension.notice();
  return suspension.unreadMs();
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

/** Checks for the end only after the last probe request was answered. */
function finishProbing(run: Run, probing: Probing, onFinished: () => void): void {
  if (run.isProbingOver) return;
  run.isProbingOver = true;
  void probing
    .finish()
    .then(() => {
      run.probing = undefined;
      onFinished();
    })
    .catch(run.fail);
}

/** The end of a trace as far as it is known. What decides it is loaded while the server handles the first DELETE. */
function createPlan({ streams, group, fail }: Run, onLoaded: () => void) {
  let endOf: typeof EndOf | undefined;
  let loading: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    ({ endOf } = await import('./trace-end.ts'));
    onLoaded();
  };
  return (trace: Trace): End | undefined => {
    const hasEnded = hasPodEnded(trace);
    if (hasEnded || trace.deletion || trace.requests.length > 0) loading ??= load().catch(fail);
    if (!hasEnded || !endOf) return undefined;
    const isComingBack = streams.isComingBack();
    // Shared streams are not asked at each pod's end whether they have delivered everything, because that would be most
    // of all requests. A run waits for them only if one is known to be lost.
    const areComplete = group.isOne ? streams.areComplete() : !isComingBack;
    return endOf(trace, { areComplete, isComingBack }, group.isOne ? 0 : sharedStreamDelayMs);
  };
}

/** Ends a trace at --timeout, after everything that arrived during a suspension was read. */
function giveUp(run: Run, key: string, end: () => void): void {
  // On waking this may be called before the tick that notices the suspension.
  run.suspension.notice();
  const wait = run.suspension.unreadMs();
  const again = (): void => giveUp(run, key, end);
  if (wait > 0) return void run.timers.set(`waking/${key}`, run.options.clock.setTimeout(again, wait));
  void readPodOnceMore(run, key).then(end).catch(run.fail);
}

/**
 * Delivers the result of one last GET, which gets 1 s, because --timeout is over. Without an answer that shows the pod, the
 * pod's stream counts as lost unless it delivered something just before: its silence then proves no more than the server's.
 */
async function readPodOnceMore(run: Run, key: string): Promise<void> {
  const { clock, cluster } = run.options;
  const { stream } = run.group.pods;
  const trace = run.traceOf(key);
  if (!trace?.deletion || trace.gone || !trace.pod) return;
  const pod = trace.pod.value.metadata;
  const path = podPath(pod.namespace ?? cluster.namespace, pod.name);
  const begun = clock.now();
  const asked = tryGet(cluster, path, { signal: run.signal });
  const answer = (await within(cluster.env, asked, 1000, run.signal))?.value;
  for (const rawObservation of answer?.dated ?? []) run.deliver(rawObservation);
  const found = answer && lookOf(answer);
  if (!found) return run.streams.lose(stream, begun - millisecondsOf('delivery-lag'));
  const { at, object } = found;
  // It is gone, and its stream did not report it: everything since its last state may be missing.
  if (!object || uidOf(object) !== trace.uid)
    run.deliver({ kind: 'gap', at, stream, ...run.ofPod(key), from: trace.pod.at, to: at, cause: 'disconnected' });
  run.deliver({ kind: 'looked', ...found, ...run.ofPod(key) });
}
