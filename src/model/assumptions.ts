/** What is assumed, not proved: generous for a loaded node, listed under `assumes`, never "observed". Seconds. */
export const assumptions = {
  /** Two clocks drift apart by at most this much per second (NTP slews at 0.0005; free-running crystals at 0.0001). */
  'clock-drift': 0.001,
  /** From the kubelet's call to the signal's delivery: CRI, shim, kill(2). Measured on containerd: 0.001 to 0.006. */
  'signal-lag': 0.9,
  /** The same if the runtime starts a process for it (CRI-O, docker, unknown runtimes). */
  'signal-lag-exec': 2,
  /** The same through the guest of a sandboxed runtime (the pod has a runtimeClass). */
  'signal-lag-sandboxed': 5,
  /** Without Events: the kubelet calls the runtime within this time after the status that acknowledges the deletion. */
  'kill-at-once': 0.5,
  /** The runtime stamps a log line when it reads the line, at most this long after it was written; of a burst, ten times. */
  'log-stamp-lag': 0.1,
  /** A container without a sign of life after its signal, that ended with 137 as its grace ran out, was killed. */
  'silent-kill': 1,
  /** A process ends within this time after SIGKILL; only one that waits for a disk or a device takes longer. */
  'kill-lag': 2,
  /** Without a status about the exit: a cleanly ended log ended this soon after its container, not with its kubelet. */
  'log-end': 1,
  /**
   * The kubelet posts an Event within this time after its stamp, or after the Event before it; likewise a renewal of
   * its Lease. Dropped if an arrival contradicts it. For an Event of the deletion also dropped unless the node's clock
   * was known before, or by another sign: a paused node posts late.
   */
  'event-lag': 1,
  /** As the kubelet acknowledges the deletion, its view of the pod's containers is at most this old (it relists each second). */
  relist: 1,
  /** A change arrives at most this long after the API server stored it, on a stream that is alive. */
  'delivery-lag': 2.5,
  /** The clocks of a control plane's API servers differ by less than this: NTP keeps them to milliseconds. */
  'server-skew': 1,
} as const;

export type AssumptionName = keyof typeof assumptions;

/** The largest drift (ms) over `elapsed` ms. */
export const driftOver = (elapsed: number): number => Math.abs(elapsed) * assumptions['clock-drift'];

/** Which signal lag applies, by the pod's runtimeClass and the scheme of its container ids. */
export function signalLag(runtimeClass: string | undefined, runtime: string | undefined): AssumptionName {
  if (runtimeClass !== undefined) return 'signal-lag-sandboxed';
  return runtime === 'containerd' ? 'signal-lag' : 'signal-lag-exec';
}

export const millisecondsOf = (name: AssumptionName): number => assumptions[name] * 1000;
