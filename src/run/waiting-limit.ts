/** When a pipeline stops waiting for a workload's next pod, where no --timeout says it. */
import type { Clock } from './clock.ts';
import { beyondGraceSeconds, unreadSeconds, usualGraceSeconds } from './time-limit.ts';
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

export interface WaitingLimit {
  /** Aborted when it is reached. */
  readonly signal: AbortSignal;
  /** For messages: how long nothing has terminated, and why that was enough. */
  text(): string;
  /** The pods have been listed. */
  listed(): void;
  /** A pod of the workload: the largest grace counts. */
  saw(pod: Raw): void;
  /** Counts no longer, until `again`: a command runs. */
  pause(): void;
  /** One has ended: counts from now. */
  again(): void;
  cancel(): void;
}

interface Waited {
  readonly clock: Clock;
  /** Absent: the default; any other value is a limit of its own, or none. */
  readonly timeoutMs?: number | null | undefined;
  readonly stdout: { readonly isTty: boolean };
}

/**
 * The default of --timeout for a workload: 60 s until its pods have been listed, then its largest grace and 120 s since the
 * start or the last pod's end. Never while `isBusy`.
 */
export function createWaitingLimit({ clock, timeoutMs, stdout }: Waited, isBusy = (): boolean => false): WaitingLimit {
  const over = new AbortController();
  let grace: number | undefined;
  let since = clock.now();
  let cancel = (): void => {};
  let isOn = timeoutMs === undefined && !stdout.isTty;
  let areListed = false;
  let isPaused = false;
  const seconds = (): number => (areListed ? (grace ?? usualGraceSeconds) + beyondGraceSeconds : unreadSeconds);
  const arm = (): void => {
    cancel();
    const left = since + seconds() * 1000 - clock.now();
    if (isOn && !isPaused) cancel = clock.setTimeout(() => void (isBusy() || over.abort()), Math.max(0, left));
  };
  const listed = (): void => {
    if (areListed) return;
    areListed = true;
    arm();
  };
  arm();
  return {
    signal: over.signal,
    text: () =>
      areListed
        ? `${seconds()} s (the largest grace, ${grace ?? usualGraceSeconds} s, and ${beyondGraceSeconds} s)`
        : `${unreadSeconds} s, as the pods could not be listed`,
    listed,
    saw(pod) {
      const own = asRaw(pod['spec'])['terminationGracePeriodSeconds'];
      const known = typeof own === 'number' ? own : usualGraceSeconds;
      listed();
      if (grace !== undefined && known <= grace) return;
      grace = known;
      arm();
    },
    pause() {
      isPaused = true;
      cancel();
    },
    again() {
      isPaused = false;
      since = clock.now();
      arm();
    },
    cancel() {
      isOn = false;
      cancel();
    },
  };
}
