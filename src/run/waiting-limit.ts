/** When a pipeline stops waiting for a workload's next pod, where no --timeout says it. */
import type { Clock } from './clock.ts';
import type { Raw } from './watched.ts';
import { asRaw } from './watched.ts';

export interface WaitingLimit {
  /** Aborted when it is reached. */
  readonly signal: AbortSignal;
  /** For messages: how long nothing has terminated, and why that was enough. */
  text(): string;
  /** A pod of the workload: the largest grace counts. */
  saw(pod: Raw): void;
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

/** s; beyond the grace, as where one pod is traced (time-limit.ts). */
const beyondGrace = 120;
/** s; what Kubernetes gives a pod that asks for none. */
const usualGrace = 30;

/** The default of --timeout for a workload: its largest grace and 120 s since the start or the last pod's end. Never while `isBusy`. */
export function createWaitingLimit({ clock, timeoutMs, stdout }: Waited, isBusy = (): boolean => false): WaitingLimit {
  const over = new AbortController();
  const graces = new Set<number>();
  let since = clock.now();
  let cancel = (): void => {};
  let isOn = timeoutMs === undefined && !stdout.isTty;
  const grace = (): number => (graces.size === 0 ? usualGrace : Math.max(...graces));
  const arm = (): void => {
    cancel();
    const left = since + (grace() + beyondGrace) * 1000 - clock.now();
    if (isOn) cancel = clock.setTimeout(() => void (isBusy() || over.abort()), Math.max(0, left));
  };
  arm();
  return {
    signal: over.signal,
    text: () => `${grace() + beyondGrace} s (the largest grace, ${grace()} s, and ${beyondGrace} s)`,
    saw(pod) {
      const seconds = asRaw(pod['spec'])['terminationGracePeriodSeconds'];
      const known = typeof seconds === 'number' ? seconds : usualGrace;
      if (graces.has(known)) return;
      graces.add(known);
      arm();
    },
    again() {
      since = clock.now();
      arm();
    },
    cancel() {
      isOn = false;
      cancel();
    },
  };
}
