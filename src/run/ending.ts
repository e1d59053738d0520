/** When a run is over: the pod is gone and the last facts are in. Pure; time is an input, so a replay ends alike. */
import { millisecondsOf } from '../model/assumptions.ts';
import { deletionOf } from '../infer/deletion.ts';
import { triggerOf } from '../infer/trigger.ts';
import type { Pod } from '../model/kube.ts';
import { containersOf, controllerOf, isFinished, isRunning, statusesOf, type ContainerSpec } from '../model/pod.ts';
import { wasStartedSince } from '../infer/before-deletion.ts';
import { agesIn, isReplacementSlot, olderThanDeletion } from '../infer/replacement.ts';
import { isOfNewerTemplate } from '../infer/workload-changes.ts';
import { second } from '../model/span.ts';
import type { SiblingFacts, Trace } from '../model/trace.ts';
import type { StreamHealth } from './stream-health.ts';

export type Ending =
  | { kind: 'open' }
  /** Facts are still expected, until this client time (ms). */
  | { kind: 'settling'; until: number }
  | { kind: 'done' };

/** After DELETED the last facts have at most 2 s to come in. */
const lastFacts = 2 * second;

export function endingOf(trace: Trace): Ending {
  if (!trace.gone) return endedUndeleted(trace) ? { kind: 'done' } : { kind: 'open' };
  if (trace.began?.value.waitReplacement && !replaced(trace) && !isHopeless(trace)) return { kind: 'open' };
  const missing = missingFacts(trace);
  return missing ? { kind: 'settling', until: settledAt(trace, trace.gone.at) } : { kind: 'done' };
}

/** The kubelet ends pods on its own without ever setting deletionTimestamp (trap 31): no deletion will begin. */
function endedUndeleted(trace: Trace): boolean {
  const pod = trace.pod?.value;
  const own = ['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded', 'NodeShutdown'];
  return (
    trace.began?.value.mode === 'attach' &&
    !trace.deletion &&
    pod !== undefined &&
    isFinished(pod) &&
    own.includes(pod.status.reason ?? '')
  );
}

/** Nobody will come in its place: it was scaled away, or its namespace goes with it. */
export function isHopeless(trace: Trace): boolean {
  const deletion = deletionOf(trace);
  return deletion !== undefined && ['namespace-deletion', 'scale-down'].includes(triggerOf(trace, deletion).kind);
}

/** The pod is gone, one that takes its place has come, and that is not ready yet. */
export const awaitsReplacement = (trace: Trace): boolean =>
  trace.gone !== undefined && hasSuccessor(trace) && !replaced(trace) && !isHopeless(trace);

const replaced = (trace: Trace): boolean => hasSuccessor(trace, ({ ready }) => ready !== undefined);

/** Who came and may take over; in another place it is not the one that is waited for. */
function hasSuccessor(trace: Trace, isEnough: (sibling: SiblingFacts) => boolean = () => true): boolean {
  const own = trace.deletion?.first.value ?? trace.pod?.value;
  const ageOf = agesIn(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const isMeant = (own: Pod, one: SiblingFacts): boolean =>
    isReplacementSlot(own, one) && (!isWrittenBefore(one.pod) || isOfNewerTemplate(one, own));
  const mayTakeOver = (one: SiblingFacts): boolean =>
    one.pod.metadata.uid !== own?.metadata.uid && ageOf(one) === 'new' && (!own || isMeant(own, one));
  for (const sibling of trace.siblings.values()) if (isEnough(sibling) && mayTakeOver(sibling)) return true;
  return false;
}

/** Client ms at which no more facts are waited for. A forced delete leaves the kubelet its own short grace (SIGNALS.md §2 "Force"). */
function settledAt(trace: Trace, goneAt: number): number {
  if (!isForced(trace)) return goneAt + lastFacts;
  const grace = Math.max(2, Math.min(trace.deletion?.first.value.metadata.deletionGracePeriodSeconds ?? 0, 30));
  const latest = goneAt + grace * second + lastFacts;
  const logsEnd = endOfAllLogs(trace);
  return logsEnd === undefined ? latest : Math.min(latest, Math.max(goneAt, logsEnd) + lastFacts);
}

/** Client ms; only where the log of each container that may have run was followed to an end in order: it ends with its container. */
function endOfAllLogs(trace: Trace): number | undefined {
  const pod = trace.deletion?.first.value ?? trace.pod?.value;
  if (!pod) return undefined;
  const ends = mayRun(trace, pod).map(({ name }) => {
    const { opened, ended } = trace.containers.get(name)?.log ?? {};
    return opened && ended?.value.clean ? ended.at : Infinity;
  });
  const last = Math.max(...ends);
  return Number.isFinite(last) ? last : undefined;
}

const mayRun = (trace: Trace, pod: Pod): ContainerSpec[] =>
  containersOf(pod).filter(
    ({ name }) =>
      statusesOf(pod).some((status) => status.name === name && isRunning(status.state)) ||
      (isForced(trace) && wasStartedSince(trace, pod, name)),
  );

function missingFacts(trace: Trace): boolean {
  const pod = trace.deletion?.first.value ?? trace.pod?.value;
  if (!pod) return false;
  const running = mayRun(trace, pod);
  const logs = [...trace.containers.values()].some(({ log }) => log.opened && !log.ended);
  const listed = [...trace.slices.values()].some((slice) => slice.states.at(-1)?.value.own !== undefined);
  const successor =
    ['ReplicaSet', 'StatefulSet', 'DaemonSet'].includes(controllerOf(pod)?.kind ?? '') &&
    trace.siblingsKnown &&
    !hasSuccessor(trace);
  const unfinished = running.length > 0 && (logs || isForced(trace) || isKillingOnItsWay(trace));
  return unfinished || listed || successor || isCauseOnItsWay(trace, pod);
}

/** A busy kubelet posts its Events late, and without its Killing little is certain of an exit. */
function isKillingOnItsWay({ deletion, terminal, events, refused, namespaceEnding }: Trace): boolean {
  const mayHaveEvents = namespaceEnding === undefined && refused.every(({ value }) => value.stream !== 'events');
  const hasKilling = events.some(({ reason, seq }) => reason === 'Killing' && seq > (deletion?.first.seq ?? Infinity));
  return terminal !== undefined && mayHaveEvents && !hasKilling;
}

/** Its controller's Event may come after a pod that went at once: the streams know nothing of one another. */
function isCauseOnItsWay(trace: Trace, pod: Pod): boolean {
  const deletion = deletionOf(trace);
  if (!deletion || !trace.gone || !controllerOf(pod)) return false;
  const wasQuick = trace.gone.at <= deletion.facts.seenAt + millisecondsOf('delivery-lag');
  return wasQuick && triggerOf(trace, deletion).kind === 'unknown';
}

/** Nobody will report these exits: only time says when they must be over. */
const isForced = (trace: Trace): boolean => trace.gone?.value === 'deleted' && !trace.terminal;

export type NextStep =
  | { kind: 'go-on' }
  /** Look again then (client ms), or when a stream says something. */
  | { kind: 'wait'; until: number }
  /** Everything is known. */
  | { kind: 'end' }
  /** Something is not, and no longer waited for. */
  | { kind: 'settled' };

/** ms for the streams to confirm that they have delivered everything. */
const doubtPatience = 2000;
/** ms for a stream that is lost to come back and deliver the rest: more than the longest pause between two tries. */
export const lostPatience = 10_000;

/** ms in which the streams that many pods share bring their last changes of one pod; none of them is asked. */
export const lastNewsMs = 500;

/** `quietMs`: from the pod's removal on. */
export function nextStep(
  trace: Trace,
  streams: Pick<StreamHealth, 'areWhole' | 'isComingBack'>,
  now: number,
  quietMs = 0,
): NextStep {
  const ending = endingOf(trace);
  if (ending.kind === 'open') return { kind: 'go-on' };
  const whole = streams.areWhole();
  const over = trace.gone?.at ?? trace.now;
  if (ending.kind === 'done' && whole)
    return now < over + quietMs ? { kind: 'wait', until: over + quietMs } : { kind: 'end' };
  const until = Math.max(
    ending.kind === 'settling' ? ending.until : 0,
    whole ? 0 : over + (streams.isComingBack() ? lostPatience : doubtPatience),
  );
  return now < until ? { kind: 'wait', until } : { kind: 'settled' };
}
