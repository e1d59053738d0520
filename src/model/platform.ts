/** Who ended a pod or took its node away, by the Events of platforms (SIGNALS.md §4). Pure. */

interface PlatformRule {
  readonly about: 'Pod' | 'Node';
  readonly reason: RegExp;
  /** Matches the message, or the component that wrote it, if the reason alone is ambiguous. */
  readonly says?: RegExp;
  readonly from?: RegExp;
  /** Completes "deleted …". */
  readonly by: string;
  /** The first part of the message explains it: `Evicted pod: Underutilized`. */
  readonly isExplained?: true;
}

const endsNode = /^(InstanceStopping|InstanceTerminating|TerminateScheduled|ASGLifecycle)$/;

// The reasons are those of karpenter 1.x, autoscaler (core/scaledown/actuation/drain.go), VPA (updater/restriction),
// descheduler (evictions.go), aws-node-termination-handler and the kubelet's shutdown manager.
const rules: readonly PlatformRule[] = [
  { about: 'Pod', reason: /^(Evicted|Disrupted)$/, from: /karpenter/i, by: 'by Karpenter', isExplained: true },
  { about: 'Pod', reason: /^ScaleDown$/, by: 'by the cluster autoscaler, which removes the node' },
  { about: 'Pod', reason: /^EvictedByVPA$/, by: 'by the vertical pod autoscaler, to change its resources' },
  { about: 'Pod', reason: /^(?!EvictionFailed)/, from: /descheduler/, by: 'by the descheduler' },
  { about: 'Node', reason: /^(SpotInterruption|SpotInterrupted)$/, by: 'after the spot interruption of its node' },
  { about: 'Node', reason: /^(PreemptScheduled|VMPreempted)$/, by: 'after the preemption of its spot node' },
  { about: 'Node', reason: endsNode, by: 'after the cloud provider announced the end of its node' },
  { about: 'Node', reason: /^DisruptionTerminating$/, by: 'after Karpenter chose its node', isExplained: true },
  { about: 'Node', reason: /^ScaleDown$/, by: 'after the cluster autoscaler chose its node' },
  { about: 'Node', reason: /^Shutdown$/, says: /detected shutdown event/, by: 'after its node began to shut down' },
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
  const cause = rule?.isExplained && /: (\w[\w ]*)$/.exec(message)?.[1];
  return cause ? `${rule?.by} (${cause})` : rule?.by;
}
