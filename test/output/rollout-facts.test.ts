/** What the live table knows beside the pods that terminate, from recorded rollouts and from single objects. */
import { describe, expect, it } from 'vitest';
import { observe } from '../../src/model/observe.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { createRolloutFacts } from '../../src/output/text/rollout-facts.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';

const at = Date.parse('2026-11-20T10:00:00Z');

function factsOf(observations: readonly RawObservation[]) {
  const { take, facts } = createRolloutFacts();
  observations.forEach((one, index) => take([observe(one, index + 1, { logText: false })]));
  return facts();
}

describe('recorded rollouts', () => {
  it.each([
    ['rollout-25', { old: 25, ready: 25, services: [{ name: 'checkout', now: 25, fewest: 19, wanted: 25 }] }],
    ['statefulset-rollout', { old: 3, ready: 3, services: [{ name: 'db', now: 3, fewest: 2, wanted: 3 }] }],
    ['scale-to-zero-40', { old: 40, ready: 0, services: [{ name: 'checkout', now: 0, fewest: 0, wanted: 0 }] }],
  ])('%s: old pods, new ones that are ready, and the endpoints of the Service', async (name, expected) => {
    const { oldPods, newPods, services } = factsOf(await rawObservationsOf(name));
    expect({ old: oldPods, ready: newPods.filter(({ isReady }) => isReady).length, services }).toEqual(expected);
  });
});

interface PodLook {
  readonly revision?: string;
  readonly owner?: string;
  readonly created?: string;
  readonly node?: string;
  readonly state?: object;
  readonly ready?: boolean;
}

const running = { running: {} };

function podNamed(name: string, look: PodLook = {}) {
  const { revision = 'old', owner = `web-${revision}`, created = '09:00:00', node, ready = false } = look;
  const { state = ready ? running : {} } = look;
  return {
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'shop', uid: name, creationTimestamp: `2026-11-20T${created}Z` },
      labels: { 'pod-template-hash': revision },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: revision, controller: true }],
    },
    spec: { nodeName: node, containers: [{ name: 'app', image: 'app' }] },
    status: {
      phase: state === running ? 'Running' : 'Pending',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'app', image: 'app', state }],
    },
  };
}

const waitsFor = (reason: string) => ({ waiting: { reason } });
const began = { at, kind: 'began', mode: 'attach', namespace: 'shop', name: '', graceSeconds: null } as const;
const start = (target: string): RawObservation => ({ ...began, target, timeoutSeconds: null, waitReplacement: false });
const listed = (...objects: object[]) => {
  return { at, kind: 'listed', stream: 'pods', resourceVersion: '1', objects } satisfies RawObservation;
};
const added = (object: object, stream: 'pods' | 'events' = 'pods'): RawObservation => {
  return { at: at + 1000, kind: 'changed', change: 'ADDED', stream, object };
};
const eventOf = (pod: string, reason: string, type = 'Warning', count = 1) => {
  const [metadata, involvedObject] = [
    { name: reason, uid: reason },
    { kind: 'Pod', name: pod, uid: pod },
  ];
  return { kind: 'Event', metadata, type, reason, count, involvedObject };
};
const eventAbout = (...event: Parameters<typeof eventOf>): RawObservation => added(eventOf(...event), 'events');
const stepOf = (...news: RawObservation[]): string | undefined =>
  factsOf([start('deployment/web'), listed(podNamed('web-1', { ready: true })), ...news]).newPods[0]?.step;

describe('a new pod', () => {
  it.each([
    ['not scheduled', {}],
    ['starting', { node: 'n1', state: waitsFor('ContainerCreating') }],
    ['starting: app ImagePullBackOff', { node: 'n1', state: waitsFor('ImagePullBackOff') }],
    ['started, not ready', { node: 'n1', state: running }],
    ['ready', { node: 'n1', ready: true }],
  ])('is "%s"', (step, look) => expect(stepOf(added(podNamed('web-2', { revision: 'new', ...look })))).toBe(step));

  it('names the Event that holds it, until it has come further', () => {
    const unscheduled = added(podNamed('web-2', { revision: 'new' }));
    const held = [unscheduled, eventAbout('web-2', 'FailedScheduling', 'Warning', 3)];
    expect(stepOf(...held)).toBe('not scheduled: FailedScheduling (3 times)');
    const scheduled = added(podNamed('web-2', { revision: 'new', node: 'n1', state: waitsFor('ContainerCreating') }));
    expect(stepOf(...held, scheduled)).toBe('starting');
    expect(stepOf(...held, scheduled, eventAbout('web-2', 'FailedMount'))).toBe('starting: FailedMount');
    expect(stepOf(scheduled, eventAbout('web-2', 'Scheduled', 'Normal'))).toBe('starting');
  });

  it('names no Event that was there before, which may be about an earlier step', () => {
    const starting = added(podNamed('web-2', { revision: 'new', node: 'n1', state: waitsFor('ContainerCreating') }));
    const earlier = { ...listed(eventOf('web-2', 'FailedScheduling')), stream: 'events' } as const;
    expect(stepOf(starting, earlier)).toBe('starting');
  });

  it('is none of another workload, and none of a node', () => {
    expect(stepOf(added(podNamed('api-1', { revision: 'api', owner: 'api-api' })))).toBeUndefined();
    const onNode = [start('node/n1'), listed(podNamed('web-1')), added(podNamed('web-2'))];
    expect(factsOf(onNode)).toMatchObject({ oldPods: 1, newPods: [] });
  });
});

it('counts only the pods of older revisions if the rollout has already begun', () => {
  const pods = [podNamed('web-1'), podNamed('web-2'), podNamed('web-3', { revision: 'new', created: '09:59:00' })];
  const { oldPods, newPods } = factsOf([start('deployment/web'), listed(...pods)]);
  expect(oldPods).toBe(2);
  expect(newPods.map(({ name }) => name)).toEqual(['web-3']);
});

it('counts the pods that were named', () => {
  const pods = ['web-1', 'web-2', 'web-3'].map((name) => podNamed(name));
  expect(factsOf([start('pod/web-1 pod/web-3'), listed(...pods)]).oldPods).toBe(2);
});
