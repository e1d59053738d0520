/**
 * What Events say about a pod that is gone: moments on the clocks of the components that wrote them, and who deleted it. Pure. Reasons
 * and messages: SIGNALS.md §2.2. How its containers exited stands in no Event, so nothing is concluded about that.
 */
import type { CoreV1Event } from '@kubernetes/client-node';
import type { TriggerKind } from '../../model/report.ts';
import { asNumber, asObject, asString } from '../../model/observe/read.ts';

/** ms since the epoch. The clocks of node, controller and API server may differ by as much as the interval is wide. */
export interface StoryMoment {
  name: string;
  container?: string;
  what: string;
  earliest: number;
  latest: number;
  source: string;
  isBad: boolean;
}

export interface Story {
  uid?: string;
  node?: string;
  moments: StoryMoment[];
  trigger: TriggerKind;
  /** In a sentence. */
  triggerText: string;
  replacement?: string;
}

/** Stamps are floors of a second, and clocks of a cluster agree to about one (SIGNALS.md trap 33). */
const uncertaintyMs = 1000;

interface EventFacts {
  reason: string;
  message: string;
  kind: string;
  name: string;
  uid?: string;
  at: number;
  field: string;
}

function factsOfEvent(event: CoreV1Event): EventFacts {
  const object = asObject(event.involvedObject);
  return {
    reason: asString(event.reason) ?? '',
    message: asString(event.message) ?? '',
    kind: asString(object['kind']) ?? '',
    name: asString(object['name']) ?? '',
    uid: asString(object['uid']),
    at: timeOf(event),
    field: asString(object['fieldPath']) ?? '',
  };
}

/** Nanoseconds stand in the name of an Event that happened once (SIGNALS.md §2.1); else its last stamp. */
function timeOf(event: CoreV1Event): number {
  const [, hex] = /\.([0-9a-f]{16})$/.exec(asString(event.metadata?.name) ?? '') ?? [];
  const raw = asObject(event);
  const stamps = [raw['lastTimestamp'], raw['eventTime'], raw['firstTimestamp'], event.metadata?.creationTimestamp];
  const stamp = Date.parse(stamps.map(asString).find((one) => one !== undefined) ?? '');
  if (hex === undefined || (asNumber(raw['count']) ?? 1) > 1) return stamp;
  const named = Number(BigInt(`0x${hex}`) / 1_000_000n);
  // A name that is no time: what the stamp says is nearer.
  return Number.isFinite(stamp) && Math.abs(named - stamp) > 3_600_000 ? stamp : named;
}

interface Reading {
  reason: string;
  /** Of the message, where the reason alone does not say it. */
  says?: RegExp;
  name: string;
  text(facts: EventFacts): string;
  isBad?: boolean;
  trigger?: TriggerKind;
}

const containerOf = ({ field, message }: EventFacts): string | undefined =>
  /\{([^}]+)\}$/.exec(field)?.[1] ?? /^Stopping container (\S+)$/.exec(message)?.[1];

/** Of the pod's own Events. */
const readings: readonly Reading[] = [
  {
    reason: 'Killing',
    says: /^Stopping container /,
    name: 'stopping',
    text: (facts) => `kubelet started termination of ${containerOf(facts) ?? 'a container'}`,
  },
  { reason: 'Killing', name: 'restarted', text: ({ message }) => message, isBad: true },
  {
    reason: 'FailedPreStopHook',
    name: 'prestop-failed',
    text: (facts) => `preStop hook of ${containerOf(facts) ?? 'a container'} failed`,
    isBad: true,
  },
  { reason: 'FailedKillPod', name: 'kill-failed', text: () => 'the kubelet could not stop a container', isBad: true },
  {
    reason: 'ExceededGracePeriod',
    name: 'kill-failed',
    text: () => 'the runtime did not stop it within its grace period',
    isBad: true,
  },
  { reason: 'Unhealthy', says: /^Liveness/, name: 'unhealthy', text: () => 'liveness probe failed', isBad: true },
  { reason: 'Unhealthy', says: /^Readiness/, name: 'unhealthy', text: () => 'readiness probe failed' },
  {
    reason: 'BackOff',
    name: 'backoff',
    text: (facts) => `${containerOf(facts) ?? 'a container'} was restarted again and again`,
    isBad: true,
  },
  {
    reason: 'Evicted',
    name: 'evicted',
    text: () => 'the kubelet evicted it: the node was short of a resource',
    isBad: true,
  },
  {
    reason: 'Preempting',
    name: 'preempted',
    text: () => 'the kubelet ended it for a critical pod',
    trigger: 'preemption',
  },
  { reason: 'Preempted', name: 'preempted', text: () => 'preempted by a higher-priority pod', trigger: 'preemption' },
  {
    reason: 'TaintManagerEviction',
    says: /^Marking for deletion/,
    name: 'taint',
    text: () => 'its node got a NoExecute taint',
    trigger: 'taint',
  },
  {
    reason: 'DeviceTaintManagerEviction',
    says: /^Marking/,
    name: 'taint',
    text: () => 'its device got a NoExecute taint',
    trigger: 'device-taint',
  },
  { reason: 'NodeNotReady', name: 'node-not-ready', text: () => 'its node was not ready', isBad: true },
  { reason: 'DeadlineExceeded', name: 'deadline', text: () => 'activeDeadlineSeconds ran out', isBad: true },
];

/** `events`: all of the namespace that are known, of pods and of their owners. */
export function storyOf(name: string, events: readonly CoreV1Event[]): Story {
  const all = events
    .map(factsOfEvent)
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at);
  const own = latestOfName(all.filter((one) => one.kind === 'Pod' && one.name === name));
  const moments: StoryMoment[] = own.flatMap((facts) => {
    const reading = readings.find(
      ({ reason, says }) => reason === facts.reason && (says === undefined || says.test(facts.message)),
    );
    if (!reading) return [];
    return [
      {
        ...momentAt(facts),
        name: reading.name,
        container: containerOf(facts),
        what: reading.text(facts),
        isBad: reading.isBad ?? false,
      },
    ];
  });
  const deleted = all.findLast(({ reason, message }) => reason === 'SuccessfulDelete' && namesPod(message, name));
  if (deleted) {
    const what = `${deleted.kind.toLowerCase()}/${deleted.name} deleted it`;
    moments.push({ ...momentAt(deleted), name: 'deleted', what, isBad: false });
  }
  const own1 = own.flatMap(
    (facts) => readings.find(({ reason, trigger }) => reason === facts.reason && trigger !== undefined) ?? [],
  );
  return {
    uid: own.findLast(({ uid }) => uid !== undefined)?.uid,
    node: own
      .map(({ message }) => /^Successfully assigned \S+ to (\S+)$/.exec(message)?.[1])
      .findLast((node) => node !== undefined),
    moments: moments.sort((a, b) => a.earliest - b.earliest),
    ...triggerOf(own1.at(-1), deleted, all),
  };
}

/** A StatefulSet gives a name again: the Events of the last uid that was stopped, else of the last one. */
function latestOfName(own: readonly EventFacts[]): EventFacts[] {
  const uid =
    own.findLast(({ reason, message }) => reason === 'Killing' && message.startsWith('Stopping container '))?.uid ??
    own.findLast((one) => one.uid !== undefined)?.uid;
  return own.filter((one) => one.uid === undefined || one.uid === uid);
}

const momentAt = ({ at, reason, kind }: EventFacts) => ({
  earliest: at - uncertaintyMs,
  latest: at + uncertaintyMs,
  source: `Event ${reason} of the ${kind.toLowerCase()}`,
});

const namesPod = (message: string, name: string): boolean => message.split(/[\s:]+/).includes(name);

function triggerOf(
  reading: Reading | undefined,
  deleted: EventFacts | undefined,
  all: readonly EventFacts[],
): Pick<Story, 'trigger' | 'triggerText'> {
  if (reading?.trigger) return { trigger: reading.trigger, triggerText: reading.text({} as EventFacts) };
  if (!deleted)
    return { trigger: 'unknown', triggerText: 'deleted by a client that no Event names (an audit log does)' };
  const by = `${deleted.kind} ${deleted.name}`;
  if (deleted.kind === 'Job') return { trigger: 'job', triggerText: `deleted by ${by}` };
  if (deleted.kind !== 'ReplicaSet')
    return { trigger: 'unknown', triggerText: `deleted by ${by}: a rollout, or fewer replicas` };
  // A rollout scales another ReplicaSet of the same Deployment up, at the same time.
  const deployment = deleted.name.replace(/-[^-]+$/, '');
  const isNear = ({ at }: EventFacts): boolean => Math.abs(at - deleted.at) < 120_000;
  const scaling = all.filter(
    (one) => one.kind === 'Deployment' && one.name === deployment && one.reason === 'ScalingReplicaSet' && isNear(one),
  );
  const isRollout = scaling.some(
    ({ message }) => message.startsWith('Scaled up') && !message.includes(` ${deleted.name} `),
  );
  const isScaledDown = scaling.some(
    ({ message }) => message.startsWith('Scaled down') && message.includes(` ${deleted.name} `),
  );
  if (isRollout && isScaledDown) return { trigger: 'rollout', triggerText: `a rollout of Deployment ${deployment}` };
  if (isScaledDown) return { trigger: 'scale-down', triggerText: `Deployment ${deployment} was scaled down` };
  return { trigger: 'unknown', triggerText: `deleted by ${by}: a rollout, or fewer replicas` };
}

/** Pods of which an Event says that they were stopped, the worst and then the latest first. */
export function endedPods(
  events: readonly CoreV1Event[],
  present: ReadonlySet<string>,
): { name: string; at: number; what: string; isBad: boolean }[] {
  const facts = events.map(factsOfEvent);
  const stopped = facts.filter(
    ({ kind, reason, message }) =>
      kind === 'Pod' && ((reason === 'Killing' && message.startsWith('Stopping')) || reason === 'Evicted'),
  );
  const names = [
    ...new Set(stopped.filter(({ uid }) => uid !== undefined && !present.has(uid)).map(({ name }) => name)),
  ];
  return names
    .map((name) => {
      const story = storyOf(name, events);
      const worst = story.moments.findLast(({ isBad }) => isBad);
      const at = Math.max(...stopped.filter((one) => one.name === name).map((one) => one.at));
      return { name, at, what: worst?.what ?? story.triggerText, isBad: worst !== undefined };
    })
    .sort((a, b) => Number(b.isBad) - Number(a.isBad) || b.at - a.at);
}
