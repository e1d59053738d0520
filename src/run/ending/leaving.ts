/**
 * Leaving early: by a signal, because stdout was closed, or at a time limit: --timeout, by default after 60 s without its
 * pod, then 120 s after its grace.
 */
import { PodexitError } from '../../errors.ts';
import type { Interrupted } from '../../model/observation.ts';
import { signalCodes } from '../../verdict/policy.ts';
import type { Cluster } from '../../kube/cluster.ts';
import { unlessAborted } from '../../kube/env.ts';
import type { Ports } from '../ports.ts';
import { isFinished } from '../../model/pod.ts';
import type { Trace } from '../../model/trace.ts';
import { asNumber, asObject, type JsonObject } from '../../model/observe/read.ts';
import type { Clock } from '../../output/ports.ts';
import type { LiveOptions } from '../streams/live-run.ts';

/** Interrupts on the first signal or a closed stdout; exits at once on a second signal. Returns how to unsubscribe. */
export function leaveOnSignals(ports: Ports, interrupt: (signal: Interrupted['signal']) => void): () => void {
  let isInterrupted = false;
  const interruptOnce = (signal: Interrupted['signal']): void => {
    isInterrupted = true;
    interrupt(signal);
  };
  // For example `| head`: nobody reads the rest.
  void ports.stdout.closed.then(() => void (isInterrupted || interruptOnce('SIGPIPE')));
  return ports.onSignal((signal) => (isInterrupted ? ports.leave(signalCodes[signal]) : interruptOnce(signal)));
}

/** For work that prints nothing before it ends: on a signal, throws `run.left` with `fate` and aborts `left`. */
export async function unlessInterrupted<T>(
  ports: Pick<Ports, 'onSignal'>,
  work: (left: AbortSignal) => Promise<T>,
  fate = (): string => 'Nothing was deleted.',
): Promise<T> {
  const leaving = new AbortController();
  const unsubscribe = ports.onSignal((signal) => leaving.abort(signal));
  const interrupted = (): PodexitError => leftBy(leaving.signal.reason as Interrupted['signal'], 'interrupted', fate());
  return unlessAborted(leaving.signal, work, interrupted).finally(unsubscribe);
}

/** The error of a run that a signal ended early. */
export const leftBy = (signal: Interrupted['signal'], what: string, fate = 'Nothing was deleted.'): PodexitError =>
  new PodexitError('run.left', `${signal}: ${what}`, fate, { exitCode: signalCodes[signal] });

/** The pod is gone, or the kubelet ended it without a deletionTimestamp (SIGNALS.md trap 31): no deletion will follow. */
export function hasPodEnded({ gone, began, deletion, pod }: Trace): boolean {
  if (gone || deletion || began?.value.mode !== 'attach' || !pod || !isFinished(pod.value)) return gone !== undefined;
  const kubeletReasons = ['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded', 'NodeShutdown'];
  return kubeletReasons.includes(pod.value.status.reason ?? '');
}

export type DeletionProgress =
  | 'not-asked'
  /** Flow control rejected every request so far: none was executed. */
  | 'turned-away'
  /** A request was sent, and its result is unknown. */
  | 'asked'
  | 'under-way'
  | 'gone';

/** `requested`: a request was sent, even if the trace does not show it yet. Flow control (429) rejects before it executes. */
export function deletionProgress(trace: Trace | undefined, requested: boolean): DeletionProgress {
  if (trace?.gone) return 'gone';
  const answers = trace?.requests.map(({ answer }) => answer?.value.status) ?? [];
  if (trace?.deletion || answers.some((status) => status !== undefined && status < 300)) return 'under-way';
  if (!requested) return 'not-asked';
  return answers.length > 0 && answers.every((status) => status === 429) ? 'turned-away' : 'asked';
}

/** One sentence about what happens to the pod after we leave, with a command to look at it. */
export function fateOf(
  progress: DeletionProgress,
  { namespace, name, connectionFlags }: Pick<Cluster, 'namespace' | 'connectionFlags'> & { name: string },
): string {
  const look = `look with: kubectl get pod ${name} -n ${namespace}${connectionFlags} -w`;
  const fate = briefFate(progress, `pod "${name}"`);
  return progress === 'not-asked' || progress === 'gone' ? fate : `${fate}; ${look}`;
}

/** The same without the command. */
export const briefFate = (progress: DeletionProgress, pod: string): string =>
  ({
    'not-asked': `${pod} was not deleted by this command`,
    'turned-away': `the API server throttled the delete of ${pod} (429), which is not retried`,
    asked: `the deletion of ${pod} was requested, but it is not known whether the server accepted it`,
    'under-way': `${pod} is still terminating`,
    gone: `${pod} is gone already`,
  })[progress];

/** How long after its grace period a deletion may take. */
const beyondGraceSeconds = 120;
/** How long the default limit waits for the pod to be read. */
export const defaultReadSeconds = 60;
const readMs = defaultReadSeconds * 1000;
const defaultGraceSeconds = 30;

const deletionMs = (graceSeconds = defaultGraceSeconds): number => (graceSeconds + beyondGraceSeconds) * 1000;

/** A limit that can be moved. Its signal is aborted when it is over, but not while `isBusy`. */
function createLimit(clock: Clock, isBusy = () => false) {
  const over = new AbortController();
  const ring = (): void => void (isBusy() || over.abort());
  let stop = (): void => {};
  let isCancelled = false;
  return {
    signal: over.signal,
    /** Moves the limit to `until` (client ms). */
    set(until: number): void {
      stop();
      if (!isCancelled) stop = clock.setTimeout(ring, Math.max(0, until - clock.now()));
    },
    /** Suspends the limit until it is set again. */
    pause: (): void => stop(),
    /** Ends the limit for good. */
    cancel(): void {
      isCancelled = true;
      stop();
    },
  };
}

export type TimeLimit = ReturnType<typeof createTimeLimit>;

/** Calls `over` once. The limit starts now, even if no answer has arrived yet. */
export function createTimeLimit(
  { clock, timeoutMs, until }: Pick<LiveOptions, 'clock' | 'timeoutMs' | 'until'>,
  over: () => void,
) {
  const limit = createLimit(clock);
  limit.signal.addEventListener('abort', over);
  if (timeoutMs !== null) limit.set(until ?? clock.now() + (timeoutMs === 'by-grace' ? readMs : timeoutMs));
  let graceIsOf: 'pod' | 'deletion' | undefined;
  return {
    /** Restarts the default limit from now, each time a better proof of the grace period is known. */
    follow({ began, pod, deletion }: Trace): void {
      if (timeoutMs !== 'by-grace' || !pod || graceIsOf === 'deletion') return;
      const deletionGrace = deletion?.first.value.metadata.deletionGracePeriodSeconds;
      if (deletionGrace === undefined && graceIsOf === 'pod') return;
      const podGrace = began?.value.graceSeconds ?? pod.value.spec.terminationGracePeriodSeconds;
      graceIsOf = deletionGrace === undefined ? 'pod' : 'deletion';
      limit.set(clock.now() + deletionMs(deletionGrace ?? podGrace));
    },
    cancel: limit.cancel,
  };
}

export type WaitingLimit = ReturnType<typeof createWaitingLimit>;

/**
 * The default --timeout for a workload: 60 s until its pods have been listed, then its largest grace period and 120 s,
 * from the start or from the last pod's end. Any `timeoutMs` turns it off. It never ends while `isBusy`.
 */
export function createWaitingLimit(
  { clock, timeoutMs, stdout }: { clock: Clock; timeoutMs?: number | null | undefined; stdout: { isTty: boolean } },
  isBusy = () => false,
) {
  const limit = createLimit(clock, isBusy);
  if (timeoutMs !== undefined || stdout.isTty) limit.cancel();
  let grace: number | undefined;
  let since = clock.now();
  let areListed = false;
  let isPaused = false;
  const ms = (): number => (areListed ? deletionMs(grace) : readMs);
  const arm = (): void => void (isPaused || limit.set(since + ms()));
  const update = (longest = grace): void => {
    [grace, areListed] = [longest, true];
    arm();
  };
  arm();
  return {
    signal: limit.signal,
    /** For messages: how long no pod has terminated, and what the limit consists of. */
    text: (): string =>
      areListed
        ? `${ms() / 1000} s (the longest grace period, ${grace ?? defaultGraceSeconds} s, plus ${beyondGraceSeconds} s)`
        : `${defaultReadSeconds} s, as the pods could not be listed`,
    listed(): void {
      if (!areListed) update();
    },
    /** A pod of the workload was seen: the largest grace period counts. */
    podSeen(pod: JsonObject): void {
      const seen = asNumber(asObject(pod['spec'])['terminationGracePeriodSeconds']) ?? defaultGraceSeconds;
      if (grace === undefined || seen > grace) update(seen);
    },
    /** Stops the limit while a command runs, until `restart`. */
    pause(): void {
      isPaused = true;
      limit.pause();
    },
    /** Restarts the limit from now: a pod or the command has ended. */
    restart(): void {
      isPaused = false;
      since = clock.now();
      arm();
    },
    cancel: limit.cancel,
  };
}

export type Deadline = ReturnType<typeof createDeadline>;

/** `timeoutMs` null: never. */
export function createDeadline(clock: Clock, timeoutMs: number | null) {
  const limit = createLimit(clock);
  let until = timeoutMs === null ? undefined : clock.now() + timeoutMs;
  if (until !== undefined) limit.set(until);
  return {
    signal: limit.signal,
    /** Client ms of the deadline; undefined: none. */
    get until(): number | undefined {
      return until;
    },
    /** Pauses the deadline during `work`, which waits for a person. */
    async pauseWhile<T>(work: () => Promise<T>): Promise<T> {
      limit.pause();
      const since = clock.now();
      try {
        return await work();
      } finally {
        if (until !== undefined) limit.set((until += clock.now() - since));
      }
    },
    cancel: limit.cancel,
  };
}
