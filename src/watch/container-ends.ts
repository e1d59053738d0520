/**
 * Containers that end while their pod stays: restarts (by a probe, by themselves, for memory), and the containers of pods
 * that finish. Each end is counted once: by how often the container has been started, which a lost watch cannot hide.
 */
import type { ContainerStatus, Pod, Event } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';
import { containersOf, isFinished, isTerminating, statusesOf, statusOf } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import { parseTime } from '../model/stamps.ts';
import { objectsOf } from '../model/select.ts';
import { forgetOldest, goneIn } from './memory.ts';

/** Why it ended. `restart`: nothing says that a probe was why, and the kubelet starts it again; `finished`: nothing starts it again. */
export type EndTrigger = 'liveness-probe' | 'startup-probe' | 'restart' | 'finished' | 'kubelet-eviction' | 'deadline';

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

const noEnds: ReadonlyMap<string, number> = new Map();

export function createContainerEnds(onEnd: (end: ContainerEnd) => void) {
  /** How many ends of each container were counted, by the pod's uid; also of pods that a selector matches no longer. */
  const counted = new Map<string, ReadonlyMap<string, number>>();
  /** By container, what the newest Killing Event says; `isNew`: no end was put down to it yet. */
  const killings = new Map<string, { trigger: EndTrigger; isNew: boolean }>();
  /** When the watch began: by the newest `Date` of the API server, ms. */
  let since = Infinity;
  let serverDate: number | undefined;
  const take = (pod: Pod, at: number): void => {
    const { uid, creationTimestamp } = pod.metadata;
    const isNew = (parseTime(creationTimestamp) ?? 0) > since;
    const before = counted.get(uid) ?? (isNew ? noEnds : undefined);
    const now = endsOf(pod);
    // The ends of a terminating pod belong to its trace.
    if (isTerminating(pod)) return void counted.delete(uid);
    counted.set(uid, now);
    forgetOldest(counted, 100_000);
    // An older pod that comes into view brings ends that an earlier watch counted, or that were none of this selection's.
    if (!before) return;
    for (const status of statusesOf(pod)) {
      const count = (now.get(status.name) ?? 0) - (before.get(status.name) ?? 0);
      if (count > 0) newEnds(pod, status, count, at).forEach(onEnd);
    }
  };
  const newEnds = (pod: Pod, status: ContainerStatus, count: number, at: number): ContainerEnd[] => {
    const key = `${pod.metadata.uid}/${status.name}`;
    const killing = killings.get(key);
    const probe = killing?.isNew ? killing.trigger : undefined;
    if (killing) killing.isNew = false;
    const kind = specOf(pod, status.name)?.kind;
    const seen = [status.state.terminated, status.lastState?.terminated].filter((one) => one !== undefined);
    const ends = Array.from({ length: count }, (_, index): ContainerEnd => {
      const end = seen[index];
      const about = { pod, container: status.name, restarts: status.restartCount, at };
      if (!end) return { ...about, outcome: 'unknown', trigger: 'restart' };
      const { exitCode, reason } = end;
      const trigger = index > 0 ? 'restart' : (probe ?? triggerOf(pod, status.name, exitCode));
      // Of many Events about one pod the kubelet posts only some: a probe that failed before may have failed again.
      const isUnclear =
        killing !== undefined && trigger === 'restart' && [137, 143].includes(exitCode) && reason !== 'OOMKilled';
      const outcome = isUnclear ? 'unknown' : outcomeOf(exitCode, reason, trigger, kind === 'sidecar');
      return { ...about, outcome, trigger, exitCode, ...(reason && { reason }) };
    });
    // Init containers are meant to end, and ephemeral ones belong to a person.
    return kind === 'ephemeral' ? [] : ends.filter(({ exitCode }) => kind !== 'init' || exitCode !== 0);
  };
  const learn = (event: Event, o: Observation): void => {
    const [key, trigger] = killingOf(event) ?? [];
    if (key === undefined || trigger === undefined || (o.kind === 'changed' && o.change === 'DELETED')) return;
    // Those of a list are as old as an hour.
    killings.set(key, { trigger, isNew: o.kind === 'changed' });
    forgetOldest(killings, 2000);
  };
  return {
    take(o: Observation): void {
      if (o.kind === 'dated') serverDate = o.date;
      for (const event of objectsOf(o)) if (event.kind === 'Event') learn(event, o);
      if (o.kind === 'listed') for (const uid of goneIn(o, counted.keys())) counted.delete(uid);
      for (const object of objectsOf(o)) if (object.kind === 'Pod') take(object, o.at);
      if (o.kind === 'listed' && o.stream === 'pods') since = Math.min(since, serverDate ?? o.at);
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
  return ends.size > 0 ? ends : noEnds;
}

const specOf = (pod: Pod, name: string) => containersOf(pod).find((one) => one.name === name);

function triggerOf(pod: Pod, name: string, exitCode: number): EndTrigger {
  const { phase, reason } = pod.status;
  if (phase === 'Failed' && reason !== undefined)
    return reason === 'DeadlineExceeded' ? 'deadline' : 'kubelet-eviction';
  // The kubelet stops sidecars after the last main container (SIGNALS.md §2.2).
  const isStopped = specOf(pod, name)?.kind === 'sidecar' && haveMainsEnded(pod);
  return isStopped || !isRestarted(pod, name, exitCode) ? 'finished' : 'restart';
}

/** A container may have a restart policy of its own: sidecars do, and others since 1.35. */
function isRestarted(pod: Pod, name: string, exitCode: number): boolean {
  const policy = specOf(pod, name)?.container.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';
  return !isFinished(pod) && (policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0));
}

const haveMainsEnded = (pod: Pod): boolean =>
  containersOf(pod).every(({ name, kind }) => {
    const { exitCode } = statusOf(pod, name)?.state.terminated ?? {};
    return kind !== 'container' || (exitCode !== undefined && !isRestarted(pod, name, exitCode));
  });

/** 137 alone does not say who sent SIGKILL; where the kubelet stopped the container, it was the kubelet. */
function outcomeOf(exitCode: number, reason: string | undefined, trigger: EndTrigger, isSidecar: boolean) {
  if (reason === 'OOMKilled') return 'oom';
  if (reason === 'ContainerStatusUnknown') return 'unknown';
  if (exitCode === 0) return 'completed';
  if (trigger === 'restart' || (trigger === 'finished' && !isSidecar)) return 'failed';
  // SIGKILL of a sidecar loses nothing of a pod whose main containers have ended.
  if (exitCode === 137) return trigger === 'finished' ? 'signalled' : 'killed';
  return exitCode === 143 ? 'signalled' : 'failed';
}

/** The kubelet says which probe made it restart a container (SIGNALS.md §2.2 "Killing"). */
function killingOf({ reason, message = '', involvedObject }: Event): [key: string, trigger: EndTrigger] | undefined {
  const [, probe] = /failed (liveness|startup) probe, will be restarted/.exec(message) ?? [];
  const [, container] = /\{(.+)\}$/.exec(involvedObject.fieldPath ?? '') ?? [];
  if (reason !== 'Killing' || probe === undefined || container === undefined) return undefined;
  return [`${involvedObject.uid}/${container}`, probe === 'liveness' ? 'liveness-probe' : 'startup-probe'];
}
