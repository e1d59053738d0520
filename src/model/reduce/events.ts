/** Events about the pod, its node and its owners. Each occurrence is kept once (SIGNALS.md §2.1). */
import { reasonsWithMessage, type Event } from '../kube.ts';
import { atMost, type Span } from '../span.ts';
import { parseEventName, parseFloor, parseTime, requestedAt } from '../stamps.ts';
import type { Occurrence, Seen, Trace } from '../trace.ts';
import { clockReached } from './clocks.ts';
import { factOf, addNote, withEntry } from './notes.ts';

/** Reasons that rules read whose message is not kept as it is. */
const reasonsWithoutMessage = new Set(['Pulling', 'Started', 'FailedPreStopHook', 'Unhealthy', 'ExceededGracePeriod']);

/** Whether rules read Events with this reason. */
const isKept = ({ reason, message = '', reportingComponent: component = '', involvedObject }: Event): boolean =>
  reasonsWithoutMessage.has(reason) ||
  reasonsWithMessage.has(reason) ||
  platformIn({ kind: involvedObject.kind, reason, message, component }) !== undefined;

/** `isOld`: the Event came in a list, so its arrival says little about when it happened. */
export function foldEvent(before: Trace, event: Event, seen: Seen, isOld: boolean): Trace {
  const trace = foldRefused(foldHeld(before, event, seen), event, seen);
  const stamped = foldKubeletStamps(trace, event, seen);
  if (!isKept(event) || !concerns(trace, event)) return stamped;
  const occurrence = occurrenceOf(event, seen, isOld);
  if (trace.events.some((one) => one.id === occurrence.id && one.count === occurrence.count)) return stamped;
  const events = [...withoutRepeats(stamped.events, occurrence), occurrence].slice(-maxEvents);
  const about = occurrence.about.container ?? `${occurrence.about.kind} ${occurrence.about.name}`;
  const times = event.count > 1 ? ` (x${event.count})` : '';
  return addNote({ ...stamped, events }, seen, `Event ${event.reason} about ${about}${times}`);
}

/** A volume or a network that another pod waits for: until it has them, none of its containers says why it waits. */
function foldHeld(trace: Trace, { reason, involvedObject: { uid = '' } }: Event, seen: Seen): Trace {
  const sibling = trace.siblings.get(uid);
  if (!sibling || sibling.started || !/^Failed(Mount|AttachVolume|CreatePodSandBox)$/.test(reason)) return trace;
  const held = sibling.held?.value === reason ? sibling.held : factOf(reason, seen);
  return { ...trace, siblings: withEntry(trace.siblings, uid, { ...sibling, held }) };
}

/** A pod that an owner may not create: only ReplicaSets have a condition that says so. Not from before the deletion. */
function foldRefused(
  trace: Trace,
  { reason, message, lastTimestamp, involvedObject: { uid = '' } }: Event,
  seen: Seen,
) {
  const owner = trace.owners.get(uid);
  const since = trace.deletion && requestedAt(trace.deletion.first.value);
  const isNew = since !== undefined && (parseFloor(lastTimestamp)?.hi ?? -Infinity) >= since;
  if (reason !== 'FailedCreate' || !owner || !isNew) return trace;
  return { ...trace, owners: withEntry(trace.owners, uid, { ...owner, failed: factOf(message ?? reason, seen) }) };
}

/** For a probe that keeps failing, the first and the newest failure are kept; other Events are rare. */
function withoutRepeats(events: readonly Occurrence[], fresh: Occurrence): readonly Occurrence[] {
  if (fresh.reason !== 'Unhealthy') return events;
  const same = events.filter((one) => one.id === fresh.id);
  return same.length < 2 ? events : events.filter((one) => one !== same.at(-1));
}

/** Enough for any exit. */
const maxEvents = 512;

/** Compares uids if the Event has one: TaintManagerEviction has none, and a successor has the same name (trap 21). */
function concerns({ uid: own }: Trace, { involvedObject: { kind, uid } }: Event): boolean {
  return kind !== 'Pod' || uid === undefined || own === undefined || uid === own;
}

function occurrenceOf(event: Event, seen: Seen, isOld: boolean): Occurrence {
  const { kind, name, fieldPath } = event.involvedObject;
  const named = parseEventName(event.metadata.name);
  return {
    id: event.metadata.uid || event.metadata.name,
    reason: event.reason,
    message: event.message ?? '',
    component: event.reportingComponent ?? '',
    about: { kind, name, container: /\{([^}]*)\}/.exec(fieldPath ?? '')?.[1] },
    count: event.count,
    time: timeOf(event, named),
    isOld,
    named,
    created: parseFloor(event.metadata.creationTimestamp),
    seq: seen.seq,
    at: seen.at,
  };
}

/** The name belongs to the first occurrence; of a repeated Event only the last whole second is known (trap 19). */
function timeOf(event: Event, named: number | undefined): Span {
  const first = named ?? parseTime(event.eventTime);
  if (event.count <= 1 && first !== undefined) return { lo: first, hi: first };
  return parseFloor(event.lastTimestamp) ?? parseFloor(event.firstTimestamp) ?? atMost(Infinity);
}

/** Only the kubelet uses the node's clock. Its API server may not be ours: its creationTimestamp proves nothing. */
function foldKubeletStamps(trace: Trace, event: Event, seen: Seen): Trace {
  if (event.reportingComponent !== 'kubelet' || !concerns(trace, event)) return trace;
  const stamp = parseEventName(event.metadata.name);
  const signed = foldLastEvent(trace, event, stamp, seen);
  return clockReached(clockReached(signed, 'node', stamp, seen), 'node', parseTime(event.lastTimestamp), seen);
}

/** The kubelet's last Event before the deletion, whatever it was about. */
function foldLastEvent(trace: Trace, { metadata }: Event, stamp: number | undefined, seen: Seen): Trace {
  const written = parseFloor(metadata.creationTimestamp);
  if (trace.deletion || stamp === undefined || !written) return trace;
  if (stamp <= (trace.nodeSigns.event?.value.stamp ?? -Infinity)) return trace;
  return { ...trace, nodeSigns: { ...trace.nodeSigns, event: factOf({ stamp, written }, seen) } };
}

/** Who ended a pod or took its node away, by the Events of platforms (SIGNALS.md §4). */
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
