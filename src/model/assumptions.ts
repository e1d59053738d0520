/**
 * What is assumed rather than proved, in one table: the API shows none of it. Each bound is generous for a loaded
 * node; a report lists those it leaned on under `assumes`, and none ever makes an instant "observed". Seconds.
 */
export const assumptions = {
  /** Two clocks drift apart by at most this much a second (NTP slews at 0.0005; free-running crystals at 0.0001). */
  'clock-drift': 0.001,
  /** From the kubelet's call to the signal's delivery: CRI, shim, kill(2). Measured on containerd: 0.001 to 0.006. */
  'signal-lag': 0.9,
  /** The same where the runtime starts a process for it (CRI-O, docker, unknown runtimes). */
  'signal-lag-exec': 2,
  /** The same through the guest of a sandboxed runtime (a runtimeClass is set). */
  'signal-lag-sandboxed': 5,
  /**
   * Where no Events may be read: the kubelet calls the runtime this soon after the status that acknowledges the deletion
   * arrived, and that call does not fail.
   */
  'kill-at-once': 0.5,
  /** A line is stamped when the runtime reads it, this much after it was written at the latest. */
  'log-stamp-lag': 0.1,
  /** What showed no life after its signal and ended with 137 in the second in which its grace ran out was killed. */
  'silent-kill': 1,
  /** A process ends this soon after SIGKILL; only one that waits for a disk or a device takes longer. */
  'kill-lag': 2,
  /** Where no status will report an end: a log that ended in order did so this soon after its container, not with its kubelet. */
  'log-end': 1,
  /**
   * The kubelet posts an Event this soon after its stamp, or after the one before it; a renewal of its Lease too. Dropped
   * where an arrival contradicts it, and unless the node's clock was known before, for an Event of the deletion, or by
   * another sign: a paused node posts late.
   */
  'event-lag': 1,
  /** A change of the API arrives this long after it was written at the latest, on a stream that is alive. */
  'delivery-lag': 2.5,
  /** The clocks of the API servers of one control plane are apart by less: NTP keeps them to milliseconds. */
  'server-skew': 1,
} as const;

export type AssumptionName = keyof typeof assumptions;

const ms = 1000;

/** Milliseconds of drift that may have built up over `elapsed` ms. */
export const driftOver = (elapsed: number): number => Math.abs(elapsed) * assumptions['clock-drift'];

/** Which signal lag holds, by the pod's runtimeClass and the scheme of its container ids. */
export function signalLag(runtimeClass: string | undefined, runtime: string | undefined): AssumptionName {
  if (runtimeClass !== undefined) return 'signal-lag-sandboxed';
  return runtime === 'containerd' ? 'signal-lag' : 'signal-lag-exec';
}

export const millisecondsOf = (name: AssumptionName): number => assumptions[name] * ms;
