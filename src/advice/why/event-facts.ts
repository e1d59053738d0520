/** Events as facts with a time, and what each reason means for a pod that was stopped (SIGNALS.md §2.2). Pure. */
import type { CoreV1Event } from '@kubernetes/client-node';
import { narrowEvent } from '../../model/kube.ts';
import { asObject, asString, asText } from '../../model/observe/read.ts';
import { platformIn } from '../../model/reduce/events.ts';
import type { TriggerKind } from '../../model/report.ts';
import { isPlausibleTime, parseEventName } from '../../model/stamps.ts';
import type { WhyMoment } from './report.ts';

export type EventFacts = ReturnType<typeof factsOfEvent>[number];

/** Oldest first; an Event without a time is left out. */
export const factsOf = (events: readonly CoreV1Event[]): EventFacts[] =>
  events
    .flatMap(factsOfEvent)
    .filter(({ at }) => isPlausibleTime(at))
    .sort((a, b) => a.at - b.at);

/** A repeated Event is one with a count: its first and its last time each become a fact. */
function factsOfEvent(event: CoreV1Event) {
  const { metadata, reason, reportingComponent = '', involvedObject, count, ...stamps } = narrowEvent(event);
  const message = asText(event.message);
  const written = timeIn(stamps.firstTimestamp, stamps.eventTime, metadata.creationTimestamp);
  const named = parseEventName(metadata.name);
  // The nanoseconds in its name, if they agree with its timestamp.
  const first = named === undefined || Math.abs(named - written) > 3_600_000 ? written : Math.floor(named);
  const last = count > 1 ? timeIn(stamps.lastTimestamp, stamps.eventTime) : NaN;
  const facts = {
    ...involvedObject,
    reason,
    message,
    /** ms since the epoch, on the clock of the component that wrote it. */
    at: Number.isNaN(last) ? first : last,
    container:
      /\{([^}]+)\}$/.exec(involvedObject.fieldPath ?? '')?.[1] ?? /^Stopping container (\S+)$/.exec(message)?.[1],
    component: reportingComponent,
    /** The node whose kubelet wrote it. */
    host: asString(asObject(event.source)['host']),
    /** For its last time: how often it had happened by then. */
    times: 1,
  };
  const isRepeated = count > 1 && first < facts.at;
  return [...(isRepeated ? [{ ...facts, at: first }] : []), { ...facts, times: isRepeated ? count : 1 }];
}

/** The first timestamp that is present, in ms since the epoch; NaN if there is none or it is not a time. */
export const timeIn = (...stamps: unknown[]): number =>
  Date.parse(stamps.map(asString).find((one) => one !== undefined) ?? '');

export const isStop = ({ kind, reason, message }: Record<'kind' | 'reason' | 'message', string>): boolean =>
  kind === 'Pod' && reason === 'Killing' && message.startsWith('Stopping container ');

/** Timestamps are cut to whole seconds, and a cluster's clocks agree to about one second (SIGNALS.md trap 33). */
export const uncertaintyMs = 1000;

export const momentAt = ({ at, reason, kind }: EventFacts) => ({
  earliest: at - uncertaintyMs,
  latest: at + uncertaintyMs,
  source: `Event ${reason} of the ${kind.toLowerCase()}`,
});

/** What an Event means; the first row that matches counts. */
interface EventMeaning {
  about: 'Pod' | 'Node';
  reason: RegExp;
  /** Matches the message, if the reason alone is ambiguous. */
  says?: RegExp;
  name: string;
  what: string | ((facts: EventFacts) => string);
  /** It is the problem that a list of ended pods names. */
  isBad?: true;
  /** What caused the deletion, and who, if the Event says so. */
  cause?: { trigger: TriggerKind; by: string };
  /** Why its kubelet stopped the pod by itself, which deletes none. */
  isOwnStop?: true;
  /** Written by the pod's kubelet: the pod was still there. */
  provesPresence?: true;
}

const containerName = ({ container = 'a container' }: EventFacts): string => container;

/** What a probe got, without the body of the answer. */
const firstLine = ({ message }: EventFacts): string => message.split('\n')[0]?.slice(0, 120) ?? '';

/** `: permission denied`; empty if the runtime's answer is not in the Event. */
function runtimeAnswer({ message }: EventFacts): string {
  const answer = /desc = ([^"\\]{1,200})/.exec(message)?.[1]?.trimEnd();
  return answer ? `: ${answer}` : '';
}

// prettier-ignore
const eventMeanings: readonly EventMeaning[] = [
  { about: 'Pod', reason: /^Killing$/, says: /^Stopping container /, name: 'stopping', what: (one) => `kubelet started termination of ${containerName(one)}`, provesPresence: true },
  { about: 'Pod', reason: /^Killing$/, name: 'restarted', what: ({ message }) => message, isBad: true },
  { about: 'Pod', reason: /^FailedPreStopHook$/, name: 'prestop-failed', what: (one) => `preStop hook of ${containerName(one)} failed`, isBad: true, provesPresence: true },
  { about: 'Pod', reason: /^FailedKillPod$/, name: 'kill-failed', what: (one) => `the kubelet could not stop a container${runtimeAnswer(one)}`, isBad: true, provesPresence: true },
  { about: 'Pod', reason: /^ExceededGracePeriod$/, name: 'kill-failed', what: 'the runtime did not stop it within its grace period', isBad: true, provesPresence: true },
  { about: 'Pod', reason: /^Unhealthy$/, says: /^(Liveness|Startup)/, name: 'unhealthy', what: firstLine, isBad: true, provesPresence: true },
  { about: 'Pod', reason: /^Unhealthy$/, name: 'unhealthy', what: firstLine, provesPresence: true },
  { about: 'Pod', reason: /^BackOff$/, name: 'backoff', what: (one) => `${containerName(one)} ended, and its next start was put off`, isBad: true },
  { about: 'Pod', reason: /^Evicted$/, says: /low on resource|ephemeral|emptyDir|exceed/i, name: 'evicted', what: 'the kubelet evicted it: the node was short of a resource', isBad: true, isOwnStop: true },
  { about: 'Pod', reason: /^(Evict\w*|Descheduled|Disrupted|ScaleDown)$/, name: 'evicted', what: ({ message }) => message },
  { about: 'Pod', reason: /^Preempting$/, name: 'preempted', what: 'preempted by the kubelet for a critical pod', isOwnStop: true },
  { about: 'Pod', reason: /^Preempted$/, name: 'preempted', what: 'preempted by a higher-priority pod', cause: { trigger: 'preemption', by: 'the scheduler' } },
  { about: 'Pod', reason: /^TaintManagerEviction$/, says: /^Marking/, name: 'taint', what: 'its node got a NoExecute taint', cause: { trigger: 'taint', by: 'the taint manager' } },
  { about: 'Pod', reason: /^TaintManagerEviction$/, says: /^Cancelling/, name: 'taint-cancelled', what: 'the deletion for a NoExecute taint was cancelled' },
  { about: 'Pod', reason: /^DeviceTaintManagerEviction$/, says: /^Marking/, name: 'taint', what: 'its device got a NoExecute taint', cause: { trigger: 'device-taint', by: 'the device taint manager' } },
  { about: 'Pod', reason: /^NodeNotReady$/, name: 'node-not-ready', what: 'its node was not ready', isBad: true },
  { about: 'Pod', reason: /^DeadlineExceeded$/, name: 'deadline', what: 'activeDeadlineSeconds exceeded', isBad: true, isOwnStop: true },
  { about: 'Node', reason: /^(SystemOOM|OOMKilling)$/, name: 'node-oom', what: 'a process on its node was OOM-killed; no Event says in which pod' },
  { about: 'Node', reason: /^NodeNotSchedulable$/, name: 'cordoned', what: ({ name }) => `node ${name} was cordoned, as kubectl drain does first` },
  { about: 'Node', reason: /^NodeSchedulable$/, name: 'uncordoned', what: ({ name }) => `node ${name} was uncordoned` },
  { about: 'Node', reason: /^Shutdown$/, says: /cancel/i, name: 'node-shutdown-cancelled', what: ({ name }) => `the shutdown of node ${name} was cancelled` },
  { about: 'Node', reason: /^(NodeShutdown|Shutdown)$/, name: 'node-shutdown', what: ({ name }) => `node ${name} was shutting down`, isOwnStop: true },
  { about: 'Node', reason: /^Rebooted$/, name: 'node-rebooted', what: ({ name }) => `node ${name} was rebooted` },
  { about: 'Node', reason: /^(NodeNotReady|DeletingNode)$/, name: 'node-not-ready', what: ({ name, reason }) => `node ${name}: ${reason}` },
];

/** Undefined for a reason that says nothing about a shutdown. */
export function readEvent(facts: EventFacts) {
  const meaning = eventMeanings.find(
    ({ about, reason, says }) =>
      about === facts.kind && reason.test(facts.reason) && (says?.test(facts.message) ?? true),
  );
  const platform = platformIn(facts);
  if (!meaning && platform === undefined) return undefined;
  const { name, what, isBad, cause, isOwnStop, provesPresence } = meaning ?? {
    name: facts.kind === 'Pod' ? 'evicted' : 'node-ends',
    what: facts.message,
  };
  const said = typeof what === 'string' ? what : what(facts);
  const text = facts.times > 1 ? `${said}, ${facts.times} times by then` : said;
  const moment: WhyMoment = { ...momentAt(facts), name, container: facts.container, what: text };
  // Of a pod: what ended a node may have ended its pods.
  const by = facts.kind === 'Pod' ? platform?.replace(/^by /, '') : undefined;
  const ended: EventMeaning['cause'] = by === undefined ? undefined : { trigger: 'unknown', by };
  return { moment, isBad, cause: cause ? { ...cause, by: `${cause.by} (${text})` } : ended, isOwnStop, provesPresence };
}
