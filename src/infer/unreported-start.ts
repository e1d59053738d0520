/** Runs of a container that no status reports, only the Event of their start. */
import { noContainerFacts } from '../model/empty-trace.ts';
import type { Pod } from '../model/kube.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { isFinished, isRunning, statusesOf } from '../model/pod.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../model/trace.ts';
import type { InferContext, Staged } from './context.ts';

/**
 * An Event reports its start, and nothing its end: a status is written only once a postStart hook is over, and one that was on
 * its way when the object was removed is never written (SIGNALS.md §2 "Force").
 */
export const mayHaveRestarted = ({ trace, deletion }: InferContext, spec: ContainerSpec): boolean =>
  deletion.grace === 0 && wasStartedSince(trace, deletion.facts.first.value, spec.name);

/** Without the end of the run before, of its status and of its log, where only an Event reports a later one. */
export function factsOfLastRun({ trace, deletion, stage }: Staged, name: string): ContainerFacts {
  const facts = trace.containers.get(name) ?? noContainerFacts;
  const first = deletion.facts.first.value;
  const start = deletion.grace === 0 ? startSince(trace, first, name) : undefined;
  if (!start) return facts;
  const known = statusesOf(first).find((one) => one.name === name)?.state.terminated;
  const isOfRunBefore = known !== undefined && facts.terminated?.value.startedAt === known.startedAt;
  const startedAt = stage.toClient('node', start.time, start.at + 1);
  const { terminated, log, ...others } = facts;
  const { ended, ...rest } = log;
  return {
    ...others,
    ...(terminated && !isOfRunBefore ? { terminated } : {}),
    log: { ...rest, ...(ended && !(known && ended.at < startedAt.lo) ? { ended } : {}) },
  };
}

/** The Event of a start that is, by its kubelet's clock, after the last end of the container that was reported. */
function startSince({ events }: Trace, pod: Pod, name: string): Occurrence | undefined {
  const status = statusesOf(pod).find((one) => one.name === name);
  if (isFinished(pod) || isRunning(status?.state)) return undefined;
  const ends = [status?.state.terminated, status?.lastState?.terminated].map(
    (one) => parseFloor(one?.finishedAt)?.hi ?? -Infinity,
  );
  return events.find(
    ({ reason, about, time }) => reason === 'Started' && about.container === name && time.lo >= Math.max(...ends),
  );
}

export const wasStartedSince = (trace: Trace, pod: Pod, name: string): boolean =>
  startSince(trace, pod, name) !== undefined;
