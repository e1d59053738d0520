/** Who ended a pod or took its node away, by the Events of platforms (SIGNALS.md §4). Pure. */

interface PlatformRule {
  readonly about: 'Pod' | 'Node';
  readonly reason: RegExp;
  /** Matches the message, if the reason alone is ambiguous. */
  readonly says?: RegExp;
  /** Matches the component that wrote it, for the same reason. */
  readonly from?: RegExp;
  /** Completes "deleted …". */
  readonly by: (message: string) => string;
}

/** The first part of a message that explains it: `Evicted pod: Underutilized`. */
const detail = (who: string, message: string): string => {
  const cause = /: (\w[\w ]*)$/.exec(message)?.[1];
  return cause === undefined ? who : `${who} (${cause})`;
};

// The reasons are those of karpenter 1.x, autoscaler (core/scaledown/actuation/drain.go), VPA (updater/restriction),
// descheduler (evictions.go), aws-node-termination-handler and the kubelet's shutdown manager.
const rules: readonly PlatformRule[] = [
  {
    about: 'Pod',
    reason: /^(Evicted|Disrupted)$/,
    from: /karpenter/i,
    by: (message) => detail('by Karpenter', message),
  },
  { about: 'Pod', reason: /^ScaleDown$/, by: () => 'by the cluster autoscaler, which removes the node' },
  { about: 'Pod', reason: /^EvictedByVPA$/, by: () => 'by the vertical pod autoscaler, to change its resources' },
  { about: 'Pod', reason: /^(?!EvictionFailed)/, from: /descheduler/, by: () => 'by the descheduler' },
  {
    about: 'Node',
    reason: /^(SpotInterruption|SpotInterrupted)$/,
    by: () => 'after the spot interruption of its node',
  },
  { about: 'Node', reason: /^(PreemptScheduled|VMPreempted)$/, by: () => 'after the preemption of its spot node' },
  {
    about: 'Node',
    reason: /^(InstanceStopping|InstanceTerminating|TerminateScheduled|ASGLifecycle)$/,
    by: () => 'after the cloud provider announced the end of its node',
  },
  {
    about: 'Node',
    reason: /^DisruptionTerminating$/,
    by: (message) => detail('after Karpenter chose its node', message),
  },
  { about: 'Node', reason: /^ScaleDown$/, by: () => 'after the cluster autoscaler chose its node' },
  {
    about: 'Node',
    reason: /^Shutdown$/,
    says: /detected shutdown event/,
    by: () => 'after its node began to shut down',
  },
];

type PlatformEvent = Readonly<Record<'kind' | 'reason' | 'message' | 'component', string>>;

/** Who ended the pod, if the Event says so: completes "deleted …". */
export function platformIn({ kind, reason, message, component }: PlatformEvent): string | undefined {
  const rule = rules.find(
    (one) =>
      one.about === kind &&
      one.reason.test(reason) &&
      (one.says?.test(message) ?? true) &&
      (one.from?.test(component) ?? true),
  );
  return rule?.by(message);
}
