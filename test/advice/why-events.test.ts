/** Events of pods that had one name after the other, and Events that were repeated: what `why` takes them for. */
import type { CoreV1Event } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../../src/advice/why/event-facts.ts';
import { gonePod } from '../../src/advice/why/gone-pod.ts';

const start = Date.parse('2026-11-28T03:00:00Z');
const stampAt = (seconds: number): string => new Date(start + seconds * 1000).toISOString().replace('.000', '');

interface About {
  kind?: string;
  name?: string;
  uid?: string;
  /** The first and the last time, s. */
  at: [number, number];
  component?: string;
}

const event = (
  reason: string,
  message: string,
  { at: [first, last], component = 'kubelet', ...about }: About,
): CoreV1Event =>
  ({
    metadata: { name: `x.${reason}.${first}`, creationTimestamp: stampAt(first) },
    ...{ reason, message, count: last > first ? 4 : 1, source: { component } },
    ...{ firstTimestamp: stampAt(first), lastTimestamp: stampAt(last) },
    involvedObject: { kind: 'Pod', name: 'ledger-0', ...about },
  }) as unknown as CoreV1Event;

const stops = 'Stopping container app';
const controller = { kind: 'StatefulSet', name: 'ledger', component: 'statefulset-controller' };
const deletes = 'delete Pod ledger-0 in StatefulSet ledger successful';
const gone = (...events: CoreV1Event[]) => gonePod('ledger-0', { facts: factsOf(events), pods: [], workloads: [] });

describe('an Event that names no uid', () => {
  const taint = (at: number): CoreV1Event =>
    event('TaintManagerEviction', 'Marking for deletion Pod x/ledger-0', { at: [at, at], component: 'taint' });
  const scheduled = event('Scheduled', 'Successfully assigned', { uid: 'b', at: [39, 39] });
  const stopped = event('Killing', stops, { uid: 'b', at: [60, 60] });

  it('counts for the pod that was there by then', () =>
    expect(gone(scheduled, taint(59), stopped).trigger).toBe('taint'));
  it('does not count for a pod that was scheduled later', () => {
    const { trigger, moments } = gone(taint(30), scheduled, stopped);
    expect(trigger).toBe('unknown');
    expect(moments.map(({ what }) => what).join()).not.toContain('taint');
  });
});

describe('the Event of a controller that deleted a pod of this name', () => {
  const previous = [
    event('SuccessfulDelete', deletes, { ...controller, at: [38, 38] }),
    event('Killing', stops, { uid: 'a', at: [38, 38] }),
    event('Scheduled', 'Successfully assigned', { uid: 'b', at: [39, 39] }),
  ];
  const stopped = event('Killing', stops, { uid: 'b', at: [60, 60] });

  it('counts for the pod that was stopped after it', () => {
    const own = event('SuccessfulDelete', deletes, { ...controller, at: [60, 60] });
    expect(gone(...previous, own, stopped).by).toMatch(/^StatefulSet ledger/);
  });
  it('does not count for the next pod, which another client deleted', () => {
    const { by, moments } = gone(...previous, stopped);
    expect(by).toMatch(/^a client/);
    expect(moments.map(({ name }) => name)).not.toContain('deleted');
  });
  it('does not count for a pod that was stopped long before it', () =>
    expect(gone(stopped, event('SuccessfulDelete', deletes, { ...controller, at: [90, 90] })).by).toMatch(/^a client/));
  it('counts though the Event of the pod being scheduled is no longer kept', () =>
    expect(gone(event('SuccessfulDelete', deletes, { ...controller, at: [59, 59] }), stopped).by).toMatch(
      /^StatefulSet/,
    ));
});

describe('a repeated Event', () => {
  it('happened a first time too: a deadline is the cause of the stop that came after it', () => {
    const { by, moments } = gone(
      event('DeadlineExceeded', 'Pod was active on the node longer than the specified deadline', {
        uid: 'a',
        at: [9, 40],
      }),
      event('Killing', stops, { uid: 'a', at: [10, 10] }),
    );
    expect(by).toBe('its kubelet (activeDeadlineSeconds exceeded)');
    expect(moments.map(({ what }) => what)).toEqual([
      'activeDeadlineSeconds exceeded',
      'kubelet started termination of app',
      'activeDeadlineSeconds exceeded, 4 times by then',
    ]);
  });
});

it.each([
  ['Evicted', 'Evicted pod: Drifted', 'karpenter', 'Karpenter (Drifted)'],
  [
    'ScaleDown',
    'deleting pod for node scale down',
    'cluster-autoscaler',
    'the cluster autoscaler, which removes the node',
  ],
  [
    'EvictedByVPA',
    'Pod was evicted by VPA Updater to apply resource recommendation.',
    'vpa-updater',
    'the vertical pod autoscaler, to change its resources',
  ],
  [
    'RemovePodsViolatingNodeTaints',
    'pod eviction from n1 node by sigs.k8s.io/descheduler',
    'sigs.k8s.io.descheduler',
    'the descheduler',
  ],
  [
    'Evicted',
    'The node was low on resource: memory. ',
    'kubelet',
    'its kubelet (the kubelet evicted it: the node was short of a resource)',
  ],
])('%s with %j is an act of %s', (reason, message, component, by) => {
  const pod = { uid: 'a', component };
  expect(
    gone(event(reason, message, { ...pod, at: [9, 9] }), event('Killing', stops, { uid: 'a', at: [10, 10] })).by,
  ).toBe(by);
});
