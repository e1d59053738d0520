/**
 * Containers that end while their pod stays: restarts (by a probe, by themselves, for memory), and the containers of pods
 * that finish. Each end is counted once: by how often the container has been started, which a lost watch cannot hide.
 */
import type { ContainerStatus, Pod } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import type { Event } from '../model/observe/event.ts';
import { containersOf, isFinished, isTerminating, statusesOf } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';

/** Why it ended. `restart`: by itself, and the kubelet starts it again; `finished`: the pod has finished. */
export type EndTrigger = 'liveness-probe' | 'startup-probe' | 'restart' | 'finished' | 'kubelet-eviction';

export interface ContainerEnd {
  readonly pod: Pod;
  readonly container: string;
  readonly outcome: ContainerOutcome;
  readonly trigger: EndTrigger;
  /** Absent: the end was not seen; the number of starts shows that there was one. */
  readonly exitCode?: number;
  readonly reason?: string;
  /** How often it has been started again so far. */
  readonly restarts: number;
  /** When it was observed, client ms. */
  readonly at: number;
}

/** Killing Events of probes that are remembered until their container ends. */
const mostKillings = 2000;

export function createContainerEnds(onEnd: (end: ContainerEnd) => void) {
  /** How many ends of each container were counted, by the pod's uid; pods without any have no entry. */
  const counted = new Map<string, ReadonlyMap<string, number>>();
  const killings = new Map<string, EndTrigger>();
  let isListed = false;
  const take = (pod: Pod, at: number, isBaseline: boolean): void => {
    const { uid } = pod.metadata;
    const before = counted.get(uid);
    const now = endsOf(pod);
    if (now.size > 0) counted.set(uid, now);
    // The ends of a terminating pod belong to its trace. Those from before the watch were counted by an earlier one.
    if (isBaseline || isTerminating(pod)) return;
    for (const status of statusesOf(pod)) {
      const isNew = (now.get(status.name) ?? 0) - (before?.get(status.name) ?? 0);
      if (isNew > 0 && matters(pod, status)) newEnds(pod, status, isNew, at).forEach(onEnd);
    }
  };
  const newEnds = (pod: Pod, status: ContainerStatus, count: number, at: number): ContainerEnd[] => {
    const key = `${pod.metadata.uid}/${status.name}`;
    const trigger = killings.get(key) ?? triggerOf(pod);
    killings.delete(key);
    const seen = [status.state.terminated, status.lastState?.terminated].filter((one) => one !== undefined);
    return Array.from({ length: count }, (_, index): ContainerEnd => {
      const end = seen[index];
      const about = { pod, container: status.name, restarts: status.restartCount, at };
      if (!end) return { ...about, outcome: 'unknown', trigger: 'restart' };
      const { exitCode, reason } = end;
      return { ...about, outcome: outcomeOf(exitCode, reason, trigger), trigger, exitCode, ...(reason && { reason }) };
    });
  };
  return {
    take(o: Observation): void {
      if (o.kind === 'changed' && o.object.kind === 'Event') {
        const found = killingOf(o.object);
        if (found) killings.set(...found);
        const oldest = killings.keys().next().value;
        if (killings.size > mostKillings && oldest !== undefined) killings.delete(oldest);
      }
      if (o.kind === 'changed' && o.object.kind === 'Pod') {
        if (o.change !== 'DELETED') take(o.object, o.at, false);
        else counted.delete(o.object.metadata.uid);
      }
      if (o.kind !== 'listed' || o.stream !== 'pods') return;
      const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
      const there = new Set(pods.map(({ metadata }) => metadata.uid));
      for (const uid of counted.keys()) if (!there.has(uid)) counted.delete(uid);
      for (const pod of pods) take(pod, o.at, !isListed);
      isListed = true;
    },
  };
}

/** How often each container has ended: its restarts, and one more if it does not run now. */
function endsOf(pod: Pod): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const { name, restartCount, state, lastState } of statusesOf(pod)) {
    const isEnded = state.terminated ?? (state.waiting && lastState?.terminated);
    const count = restartCount + (isEnded ? 1 : 0);
    if (count > 0) ends.set(name, count);
  }
  return ends;
}

/** Init containers are meant to end, and ephemeral ones belong to a person. */
function matters(pod: Pod, { name, state }: ContainerStatus): boolean {
  const kind = containersOf(pod).find((one) => one.name === name)?.kind;
  return kind === 'init' ? (state.terminated?.exitCode ?? 1) !== 0 : kind !== 'ephemeral';
}

function triggerOf(pod: Pod): EndTrigger {
  if (pod.status.reason !== undefined && pod.status.phase === 'Failed') return 'kubelet-eviction';
  return isFinished(pod) || pod.spec.restartPolicy === 'Never' ? 'finished' : 'restart';
}

/** 137 alone does not say who sent SIGKILL; after a failed probe it was the kubelet, at the end of the grace period. */
function outcomeOf(exitCode: number, reason: string | undefined, trigger: EndTrigger): ContainerOutcome {
  if (reason === 'OOMKilled') return 'oom';
  if (reason === 'ContainerStatusUnknown') return 'unknown';
  if (exitCode === 0) return 'completed';
  const isByProbe = trigger === 'liveness-probe' || trigger === 'startup-probe';
  if (exitCode === 137 && isByProbe) return 'killed';
  return exitCode === 143 && isByProbe ? 'signalled' : 'failed';
}

/** The kubelet says which probe made it restart a container (SIGNALS.md §2.2 "Killing"). */
function killingOf({ reason, message = '', involvedObject }: Event): [key: string, trigger: EndTrigger] | undefined {
  const [, probe] = /failed (liveness|startup) probe, will be restarted/.exec(message) ?? [];
  const [, container] = /\{(.+)\}$/.exec(involvedObject.fieldPath ?? '') ?? [];
  if (reason !== 'Killing' || probe === undefined || container === undefined) return undefined;
  return [`${involvedObject.uid}/${container}`, probe === 'liveness' ? 'liveness-probe' : 'startup-probe'];
}
