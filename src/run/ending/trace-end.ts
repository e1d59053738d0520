/** When the last facts about an ended pod have arrived, and its report is due. Loaded late (tracks.ts), as it needs the inference. */
import { millisecondsOf } from '../../model/assumptions.ts';
import { deletionOf } from '../../infer/deletion.ts';
import { triggerOf } from '../../infer/trigger.ts';
import type { Pod } from '../../model/kube.ts';
import { containersOf, controllerOf, isFinished, isRunning, statusesOf, type PodContainer } from '../../model/pod.ts';
import { wasStartedSince } from '../../infer/before-deletion.ts';
import { agesIn, isReplacementSlot, olderThanDeletion } from '../../infer/replacement.ts';
import { isOfNewerTemplate } from '../../infer/workload-changes.ts';
import { second } from '../../model/span.ts';
import type { SiblingFacts, Trace } from '../../model/trace.ts';
import type { Report } from '../../verdict/report.ts';
import type { Traces } from '../traces/traces.ts';
import { hasPodEnded } from './leaving.ts';

/** How long after DELETED the last facts may still arrive. */
const lastFactsMs = 2 * second;

/** Client ms until which more facts are awaited; 0: none are. Undefined: the pod is still there, or to be replaced. */
export function factsAwaitedUntil(trace: Trace): number | undefined {
  if (!trace.gone) return hasPodEnded(trace) ? 0 : undefined;
  if (trace.began?.value.waitReplacement && !replaced(trace) && !hasNoReplacement(trace)) return undefined;
  return missingFacts(trace) ? settlesAt(trace, trace.gone.at) : causeAwaitedUntil(trace);
}

/** No pod will replace it: it has no owner or a Job that has counted it, or its owner or namespace wants no pod any more. */
export function hasNoReplacement(trace: Trace): boolean {
  const deletion = deletionOf(trace);
  if (!deletion) return false;
  const owner = controllerOf(deletion.pod)?.kind;
  if (owner === undefined || (owner === 'Job' && isFinished(deletion.pod))) return true;
  return ['namespace-deletion', 'scale-down'].includes(triggerOf(trace, deletion).kind);
}

/** The pod is gone and its replacement exists, but is not ready yet. */
export const awaitsReplacement = (trace: Trace): boolean =>
  trace.gone !== undefined && hasSuccessor(trace) && !replaced(trace) && !hasNoReplacement(trace);

const replaced = (trace: Trace): boolean => hasSuccessor(trace, ({ ready }) => ready !== undefined);

/** Whether a new sibling may be the replacement: it must fit the pod's place (StatefulSet ordinal, DaemonSet node). */
function hasSuccessor(trace: Trace, isEnough: (sibling: SiblingFacts) => boolean = () => true): boolean {
  const own = trace.deletion?.first.value ?? trace.pod?.value;
  const ageOf = agesIn(trace);
  const isWrittenBefore = olderThanDeletion(trace);
  const isReplacement = (own: Pod, one: SiblingFacts): boolean =>
    isReplacementSlot(own, one) && (!isWrittenBefore(one.pod) || isOfNewerTemplate(one, own));
  const mayTakeOver = (one: SiblingFacts): boolean =>
    one.pod.metadata.uid !== own?.metadata.uid && ageOf(one) === 'new' && (!own || isReplacement(own, one));
  for (const sibling of trace.siblings.values()) if (isEnough(sibling) && mayTakeOver(sibling)) return true;
  return false;
}

/** Client ms until which facts are awaited. A forced deletion has a short grace of its own (SIGNALS.md §2 "Force"). */
function settlesAt(trace: Trace, goneAt: number): number {
  if (!isForced(trace)) return goneAt + lastFactsMs;
  const grace = Math.max(2, Math.min(trace.deletion?.first.value.metadata.deletionGracePeriodSeconds ?? 0, 30));
  const latest = goneAt + grace * second + lastFactsMs;
  const logsEnd = endOfAllLogs(trace);
  return logsEnd === undefined ? latest : Math.min(latest, Math.max(goneAt, logsEnd) + lastFactsMs);
}

/** Client ms at which the last container ended; undefined unless each log was followed to a clean end. */
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

const mayRun = (trace: Trace, pod: Pod): PodContainer[] =>
  containersOf(pod).filter(
    ({ name }) =>
      statusesOf(pod).some((status) => status.name === name && isRunning(status.state)) ||
      (isForced(trace) && wasStartedSince(trace, pod, name)),
  );

function missingFacts(trace: Trace): boolean {
  const pod = trace.deletion?.first.value ?? trace.pod?.value;
  if (!pod) return false;
  const logs = [...trace.containers.values()].some(({ log }) => log.opened && !log.ended);
  const listed = [...trace.slices.values()].some((slice) => slice.states.at(-1)?.value.own !== undefined);
  const successor =
    ['ReplicaSet', 'StatefulSet', 'DaemonSet'].includes(controllerOf(pod)?.kind ?? '') &&
    trace.siblingsKnown &&
    !hasSuccessor(trace);
  const unfinished = mayRun(trace, pod).length > 0 && (logs || isForced(trace) || isKillingOnItsWay(trace));
  return unfinished || listed || successor;
}

/** A busy kubelet posts Events late, and without Killing little is certain. It may arrive before what came first, on another stream. */
function isKillingOnItsWay({ deletion, terminal, events, refused, namespaceEnding }: Trace): boolean {
  const mayHaveEvents = namespaceEnding === undefined && refused.every(({ value }) => value.stream !== 'events');
  const since = (deletion?.first.at ?? Infinity) - millisecondsOf('delivery-lag');
  const hasKilling = events.some(({ message, at }) => message.startsWith('Stopping container ') && at >= since);
  return terminal !== undefined && mayHaveEvents && !hasKilling;
}

/** The controller's Event may arrive after a pod that was quickly gone: the streams are independent of each other. */
function causeAwaitedUntil(trace: Trace): number {
  const deletion = deletionOf(trace);
  if (!deletion || !trace.gone || !controllerOf(deletion.facts.first.value)) return 0;
  const latest = deletion.facts.seenAt + millisecondsOf('delivery-lag');
  return trace.gone.at <= latest && triggerOf(trace, deletion).kind === 'unknown' ? latest : 0;
}

/** Forced deletion: no status will report the exits, so only time limits them. */
const isForced = (trace: Trace): boolean => trace.gone?.value === 'deleted' && !trace.terminal;

/** ms for a lost stream to reconnect and deliver the rest: more than the longest pause between two attempts. */
const reconnectTimeoutMs = 10_000;

/** How a trace ends, and from when on (client ms). `settled`: facts are missing, and no longer waited for. */
export interface End {
  name: 'over' | 'settled';
  at: number;
}

/**
 * Undefined: the end is not in sight yet. `areComplete`: the streams have delivered everything; `isComingBack`: one was
 * lost, and has not caught up yet. `quietMs`: how long to wait after the pod's removal.
 */
export function endOf(
  trace: Trace,
  { areComplete, isComingBack }: Record<'areComplete' | 'isComingBack', boolean>,
  quietMs: number,
): End | undefined {
  const factsAt = factsAwaitedUntil(trace);
  if (factsAt === undefined) return undefined;
  const endedAt = trace.gone?.at ?? trace.now;
  if (factsAt === 0 && areComplete) return { name: 'over', at: endedAt + quietMs };
  // The streams have 2 s to confirm that they have delivered everything.
  const streamsAt = areComplete ? 0 : endedAt + (isComingBack ? reconnectTimeoutMs : 2000);
  return { name: 'settled', at: Math.max(factsAt, streamsAt, endedAt + quietMs) };
}

/** Passes each report to `onReport` and closes its trace. A pod that was never seen has no report. */
export function createTraceReports(
  traces: Traces,
  reportOf: (trace: Trace) => Report | undefined,
  onReport: (report: Report) => void,
) {
  const ended = (key: string): void => {
    const trace = traces.get(key);
    const report = trace && reportOf(trace);
    traces.close(key, report?.timeline.replacement?.uid);
    if (report) onReport(report);
  };
  return {
    ended,
    /** Takes the traces that are still open when the run ends. */
    takeRest: (): void => traces.keys().forEach(ended),
  };
}
