/** Containers that end while their pod stays: each end once, with what is known of it. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { createContainerEnds, type ContainerEnd } from '../../src/watch/container-ends.ts';

type Status = Record<string, unknown>;

const running = (restartCount = 0, lastState: object = {}): Status => ({
  name: 'app',
  restartCount,
  state: { running: { startedAt: '2026-11-28T10:00:00Z' } },
  lastState,
});
const terminated = (exitCode: number, reason = exitCode === 0 ? 'Completed' : 'Error') => ({
  terminated: { exitCode, reason, finishedAt: '2026-11-28T10:01:00Z' },
});

const podOf = (status: Status, others: { phase?: string; metadata?: object; spec?: object } = {}) => ({
  kind: 'Pod',
  metadata: { name: 'web-0', namespace: 'shop', uid: 'u1', resourceVersion: '1', ...others.metadata },
  spec: { containers: [{ name: 'app' }], ...others.spec },
  status: { phase: others.phase ?? 'Running', containerStatuses: [status] },
});

/** Delivers observations of pods; returns the ends. */
function watching() {
  const ends: ContainerEnd[] = [];
  const all = createContainerEnds((end) => ends.push(end));
  let seq = 0;
  const take = (raw: Omit<RawObservation, 'at'>): void =>
    all.take(observe({ at: (seq += 1) * 1000, ...raw } as RawObservation, seq, { logText: false }));
  const list = (...objects: object[]): void =>
    take({ kind: 'listed', stream: 'pods', resourceVersion: '1', objects } as never);
  const change = (object: object, change = 'MODIFIED'): void =>
    take({ kind: 'changed', stream: 'pods', change, object } as never);
  const event = (object: object, change = 'ADDED'): void =>
    take({ kind: 'changed', stream: 'events', change, object: { kind: 'Event', ...object } } as never);
  return { ends, list, change, event };
}

/** It was created after the watch began. */
const newPod = { uid: 'u2', name: 'web-1', creationTimestamp: '2026-11-28T10:00:00Z' };

const facts = (ends: readonly ContainerEnd[]) =>
  ends.map(({ outcome, trigger, exitCode, restarts }) => ({ outcome, trigger, exitCode, restarts }));

it('counts a crash once, however often its state is repeated', () => {
  const { ends, list, change } = watching();
  list(podOf(running()));
  change(podOf({ name: 'app', restartCount: 0, state: terminated(3) }));
  change(podOf({ name: 'app', restartCount: 0, state: terminated(3) }));
  change(
    podOf({
      name: 'app',
      restartCount: 0,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: terminated(3),
    }),
  );
  change(podOf(running(1, terminated(3))));
  expect(facts(ends)).toEqual([{ outcome: 'failed', trigger: 'restart', exitCode: 3, restarts: 0 }]);
});

it('counts what ran out of memory, by the reason of the kubelet', () => {
  const { ends, list, change } = watching();
  list(podOf(running(2)));
  change(podOf(running(3, terminated(137, 'OOMKilled'))));
  expect(facts(ends)).toEqual([{ outcome: 'oom', trigger: 'restart', exitCode: 137, restarts: 3 }]);
});

const failedLiveness = {
  metadata: { name: 'web-0.1', namespace: 'shop', uid: 'e1' },
  reason: 'Killing',
  message: 'Container app failed liveness probe, will be restarted',
  involvedObject: { kind: 'Pod', name: 'web-0', uid: 'u1', fieldPath: 'spec.containers{app}' },
};

it('does not blame a probe again when its Event expires, nor the program: the kubelet posts only some of many Events', () => {
  const { ends, list, change, event } = watching();
  list(podOf(running()));
  event(failedLiveness);
  change(podOf(running(1, terminated(137))));
  event(failedLiveness, 'DELETED');
  change(podOf(running(2, terminated(137))));
  expect(ends.map(({ outcome, trigger }) => [outcome, trigger])).toEqual([
    ['killed', 'liveness-probe'],
    ['unknown', 'restart'],
  ]);
});

it('names the probe that made the kubelet restart a container', () => {
  const { ends, list, change, event } = watching();
  list(podOf(running()));
  event(failedLiveness);
  change(podOf(running(1, terminated(137))));
  change(podOf(running(2, terminated(1))));
  expect(facts(ends)).toEqual([
    { outcome: 'killed', trigger: 'liveness-probe', exitCode: 137, restarts: 1 },
    { outcome: 'failed', trigger: 'restart', exitCode: 1, restarts: 2 },
  ]);
});

it('does not claim who sent SIGKILL to a container that exits with 137', () => {
  const { ends, list, change } = watching();
  list(podOf(running()));
  change(podOf(running(1, terminated(137))));
  expect(ends.map(({ outcome }) => outcome)).toEqual(['failed']);
});

it('counts restarts that a lost watch hid, without a guess at how they ended', () => {
  const { ends, list } = watching();
  list(podOf(running(1)));
  list(podOf(running(4, terminated(1))));
  expect(facts(ends)).toEqual([
    { outcome: 'failed', trigger: 'restart', exitCode: 1, restarts: 4 },
    { outcome: 'unknown', trigger: 'restart', exitCode: undefined, restarts: 4 },
    { outcome: 'unknown', trigger: 'restart', exitCode: undefined, restarts: 4 },
  ]);
});

it('counts nothing from before the watch, and the ends of a pod that it saw begin', () => {
  const { ends, list, change } = watching();
  list(podOf(running(7, terminated(1))));
  expect(ends).toEqual([]);
  change(podOf(running(2, terminated(1)), { metadata: newPod }), 'ADDED');
  expect(ends).toHaveLength(2);
});

it('does not charge a pod that comes into view of a selector with its past, also not each time', () => {
  const { ends, list, change } = watching();
  list();
  for (let times = 0; times < 3; times++) {
    change(podOf(running(3, terminated(1))), 'ADDED');
    change(podOf(running(3, terminated(1))), 'DELETED');
    change(podOf(running(2, terminated(1)), { metadata: newPod }), 'ADDED');
    change(podOf(running(2, terminated(1)), { metadata: newPod }), 'DELETED');
  }
  expect(ends.map(({ pod }) => pod.metadata.uid)).toEqual(['u2', 'u2']);
  change(podOf(running(3, terminated(1))), 'ADDED');
  change(podOf(running(4, terminated(1))));
  expect(ends).toHaveLength(3);
});

/** A pod, of which `app` is a main container, with a container more. */
const twoOf = (
  app: Status,
  { name, status, spec = {} }: { name: string; status: Status; spec?: object },
  others: { phase?: string; spec?: object } = {},
) => {
  const pod = podOf(app, { ...others, spec: { initContainers: [{ name, ...spec }], ...others.spec } });
  return { ...pod, status: { ...pod.status, initContainerStatuses: [{ restartCount: 0, ...status, name }] } };
};

const sidecar = (status: Status) => ({ name: 'proxy', status, spec: { restartPolicy: 'Always' } });
const never = { restartPolicy: 'Never' };
const ended = { name: 'app', restartCount: 0, state: terminated(0) };

it.each([
  ['with SIGTERM', 143],
  ['with SIGKILL', 137],
])('counts a sidecar that the kubelet stops %s after the main containers as no failure', (_how, code) => {
  const { ends, list, change } = watching();
  list(twoOf(running(), sidecar(running()), { spec: never }));
  change(twoOf(ended, sidecar(running()), { spec: never }));
  change(twoOf(ended, sidecar({ state: terminated(code) }), { spec: never, phase: 'Succeeded' }));
  expect(facts(ends).map(({ outcome, trigger }) => [outcome, trigger])).toEqual([
    ['completed', 'finished'],
    ['signalled', 'finished'],
  ]);
});

it('counts a sidecar that crashes in a pod whose containers never restart as a restart', () => {
  const { ends, list, change } = watching();
  list(twoOf(running(), sidecar(running()), { spec: never }));
  change(twoOf(running(), sidecar({ state: terminated(1) }), { spec: never }));
  expect(facts(ends)).toEqual([{ outcome: 'failed', trigger: 'restart', exitCode: 1, restarts: 0 }]);
});

it('says that a container finished if OnFailure does not start it again', () => {
  const { ends, list, change } = watching();
  const spec = { restartPolicy: 'OnFailure' };
  list(podOf(running(), { spec }));
  change(podOf(ended, { spec }));
  expect(facts(ends)).toMatchObject([{ outcome: 'completed', trigger: 'finished' }]);
});

it.each([
  ['DeadlineExceeded', 143, 'deadline', 'signalled'],
  ['DeadlineExceeded', 137, 'deadline', 'killed'],
  ['Evicted', 137, 'kubelet-eviction', 'killed'],
])('names what the kubelet ends a pod for: %s, exit %d', (reason, code, trigger, outcome) => {
  const { ends, list, change } = watching();
  list(podOf(running()));
  const pod = podOf({ name: 'app', restartCount: 0, state: terminated(code) }, { phase: 'Failed' });
  change({ ...pod, status: { ...pod.status, reason } });
  expect(facts(ends)).toMatchObject([{ outcome, trigger }]);
});

it('counts the failures of an init container, also if one change shows its success too', () => {
  const { ends, list } = watching();
  const waiting = { name: 'app', restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } };
  list(twoOf(waiting, { name: 'migrate', status: running() }));
  const status = { restartCount: 2, state: terminated(0), lastState: terminated(1) };
  list(twoOf(waiting, { name: 'migrate', status }));
  expect(ends.map(({ outcome }) => outcome)).toEqual(['failed', 'unknown']);
});

it('counts the end of a Job that finishes', () => {
  const { ends, list, change } = watching();
  const spec = { restartPolicy: 'Never' };
  list(podOf(running(), { spec }));
  change(podOf({ name: 'app', restartCount: 0, state: terminated(0) }, { phase: 'Succeeded', spec }));
  expect(facts(ends)).toEqual([{ outcome: 'completed', trigger: 'finished', exitCode: 0, restarts: 0 }]);
});

it('leaves the ends of a terminating pod to its trace, and those of init containers that succeed to nobody', () => {
  const { ends, list, change } = watching();
  list(podOf(running()));
  const metadata = { deletionTimestamp: '2026-11-28T10:00:30Z' };
  change(podOf({ name: 'app', restartCount: 0, state: terminated(0) }, { metadata }));
  const starting = podOf(running(), { metadata: { uid: 'u3' }, spec: { initContainers: [{ name: 'migrate' }] } });
  const initContainerStatuses = [{ name: 'migrate', restartCount: 0, state: terminated(0) }];
  change({ ...starting, status: { ...starting.status, initContainerStatuses } }, 'ADDED');
  expect(ends).toEqual([]);
});
