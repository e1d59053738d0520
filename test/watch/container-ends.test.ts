/** Containers that end while their pod stays: each end once, with what is known of it. */
import { expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { createContainerEnds, type ContainerEnd } from '../../src/watch/container-ends.ts';
import { casesIn } from '../helpers/case-file.ts';

/** A pod with the container `app`, and perhaps an init container. */
interface PodText {
  app: string;
  uid?: string;
  name?: string;
  created?: string;
  deleted?: string;
  phase?: string;
  policy?: string;
  reason?: string;
  init?: { name: string; policy?: string; is: string };
}

interface Happening {
  lists?: (string | PodText)[];
  changes?: string | PodText;
  adds?: string | PodText;
  deletes?: string | PodText;
  /** An Event that says that the container failed its liveness probe arrives, or is gone. */
  probeFailure?: 'ADDED' | 'DELETED';
}

const terminated = (code: number, reason = code === 0 ? 'Completed' : 'Error') => ({
  terminated: { exitCode: code, reason, finishedAt: '2026-11-28T10:01:00Z' },
});

function statusOf(name: string, text: string): object {
  const [, is, of = '', restarts = 0, code, reason] =
    /^(running|ended|waiting)(?: (?!restarts|after)(\S+))?(?: restarts (\d+))?(?: after (\d+) ?(\w+)?)?$/.exec(text) ??
    [];
  const states: Record<string, object> = {
    running: { running: { startedAt: '2026-11-28T10:00:00Z' } },
    ended: terminated(Number(of)),
    waiting: { waiting: { reason: of } },
  };
  const state = states[is ?? ''];
  if (!state) throw new Error(`no container is "${text}"`);
  const lastState = code === undefined ? {} : terminated(Number(code), reason);
  return { name, restartCount: Number(restarts), state, lastState };
}

function podOf(text: string | PodText): object {
  const { app, uid = 'u1', name = 'web-0', created, deleted, ...pod } = typeof text === 'string' ? { app: text } : text;
  const { init, policy, phase = 'Running', reason } = pod as PodText;
  const stamps = { ...(created && { creationTimestamp: created }), ...(deleted && { deletionTimestamp: deleted }) };
  return {
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid, resourceVersion: '1', ...stamps },
    spec: {
      containers: [{ name: 'app' }],
      ...(policy && { restartPolicy: policy }),
      ...(init && { initContainers: [{ name: init.name, ...(init.policy && { restartPolicy: init.policy }) }] }),
    },
    status: {
      phase,
      ...(reason && { reason }),
      containerStatuses: [statusOf('app', app)],
      ...(init && { initContainerStatuses: [statusOf(init.name, init.is)] }),
    },
  };
}

const failedLiveness = {
  kind: 'Event',
  metadata: { name: 'web-0.1', namespace: 'shop', uid: 'e1' },
  reason: 'Killing',
  message: 'Container app failed liveness probe, will be restarted',
  involvedObject: { kind: 'Pod', name: 'web-0', uid: 'u1', fieldPath: 'spec.containers{app}' },
};

function seenIn({ lists, changes, adds, deletes, probeFailure }: Happening): object {
  if (lists) return { kind: 'listed', stream: 'pods', resourceVersion: '1', objects: lists.map(podOf) };
  if (probeFailure) return { kind: 'changed', stream: 'events', change: probeFailure, object: failedLiveness };
  const change = adds ? 'ADDED' : deletes ? 'DELETED' : 'MODIFIED';
  return { kind: 'changed', stream: 'pods', change, object: podOf(adds ?? deletes ?? changes ?? '') };
}

/** As many words as a case has, or the uid of the pod. */
function wordsOf({ outcome, trigger, exitCode, restarts, pod }: ContainerEnd, wanted = ''): string {
  if (/^u\d$/.test(wanted)) return pod.metadata.uid;
  const words = [outcome, trigger, exitCode ?? '-', restarts];
  return words.slice(0, wanted === '' ? 4 : wanted.split(' ').length).join(' ');
}

const cases = casesIn<{ sees: Happening[]; ends: string[] }>(new URL('container-ends.yaml', import.meta.url), [
  'sees',
  'ends',
]);

it.each(cases)('%s', (_, { sees, ends: wanted }) => {
  const ends: ContainerEnd[] = [];
  const all = createContainerEnds((end) => ends.push(end));
  for (const [index, one] of sees.entries()) {
    const raw = { at: (index + 1) * 1000, ...seenIn(one) } as RawObservation;
    all.take(observe(raw, index + 1, { logText: false }));
  }
  expect(ends.map((end, index) => wordsOf(end, wanted[index]))).toEqual(wanted);
});
