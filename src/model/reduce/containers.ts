/** What the pod's statuses report of its containers: that they run, since when, and how they ended. */
import type { ContainerStatus, Pod } from '../kube.ts';
import { isOlder, isRunning, isTerminating, statusesOf } from '../pod.ts';
import { parseTime } from '../stamps.ts';
import type { Trace } from '../trace.ts';
import { nodeReached } from './clocks.ts';
import type { Seen } from './notes.ts';
import { factOf, note, withContainer } from './notes.ts';

export const foldContainers = (trace: Trace, pod: Pod, seen: Seen): Trace =>
  statusesOf(pod).reduce((next, status) => foldStatus(next, pod, status, seen), trace);

function foldStatus(before: Trace, pod: Pod, status: ContainerStatus, seen: Seen): Trace {
  const { terminated } = status.state;
  const late = isOlder(pod.metadata.resourceVersion, before.pod?.value.metadata.resourceVersion);
  if (late && terminated && runsNow(before, status.name)) return before;
  const trace =
    !late && isRunning(status.state) ? withNewRun(withLateStart(before, pod, status, seen), status.name) : before;
  const known = trace.containers.get(status.name);
  if (terminated) {
    const old = known?.terminated?.value;
    const same =
      old?.exitCode === terminated.exitCode &&
      old.finishedAt === terminated.finishedAt &&
      old.reason === terminated.reason;
    if (same) return trace;
    const next = withContainer(trace, status.name, (facts) => ({ ...facts, terminated: factOf(terminated, seen) }));
    const reason = terminated.reason === undefined ? '' : ` (${terminated.reason})`;
    return note(
      nodeReached(next, parseTime(terminated.finishedAt), seen),
      seen,
      `${status.name} terminated, code ${terminated.exitCode}${reason}`,
    );
  }
  const lost = isTerminating(pod) && isRunning(status.state) && !status.ready && wasReady(trace, status.name);
  if (!lost || known?.readyLost) return trace;
  const next = withContainer(trace, status.name, (facts) => ({ ...facts, readyLost: factOf(true, seen) }));
  return note(next, seen, `${status.name} not ready any more`);
}

const runsNow = (trace: Trace, name: string): boolean =>
  statusesOf(trace.pod?.value ?? emptyPod).some((status) => status.name === name && isRunning(status.state));

/** A sync that is under way goes on when the deletion comes, and starts what it meant to start (SIGNALS.md §2 S2). */
function withLateStart(trace: Trace, pod: Pod, { name }: ContainerStatus, seen: Seen): Trace {
  const ranFirst = statusesOf(trace.deletion?.first.value ?? emptyPod).some(
    (status) => status.name === name && isRunning(status.state),
  );
  if (!isTerminating(pod) || !trace.deletion || ranFirst || trace.containers.get(name)?.startedLate) return trace;
  const next = withContainer(trace, name, (facts) => ({ ...facts, startedLate: factOf(true, seen) }));
  return note(next, seen, `${name} runs, started since the deletion`);
}

/** It runs again: how the run before it ended, and what a probe found of that run, says nothing of this one. */
function withNewRun(trace: Trace, name: string): Trace {
  if (!trace.containers.get(name)?.terminated) return trace;
  return withContainer(trace, name, ({ terminated: _terminated, readyLost: _readyLost, ...facts }) => facts);
}

const wasReady = (trace: Trace, name: string): boolean =>
  statusesOf(trace.deletion?.first.value ?? emptyPod).some((status) => status.name === name && status.ready);

const emptyPod: Pod = { kind: 'Pod', metadata: { name: '', uid: '' }, spec: { containers: [] }, status: {} };
