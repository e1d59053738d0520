/** Events of pods that had one name, repeated Events, and restarts of a pod that lives: what `why` takes them for. */
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { factsOf } from '../../src/advice/why/event-facts.ts';
import { presentPod } from '../../src/advice/why/from-events.ts';
import { gonePod } from '../../src/advice/why/gone-pod.ts';
import { whyText } from '../../src/advice/why/report.ts';
import { plainPen } from '../../src/output/palette.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { serving } from '../helpers/serving.ts';

/** A minute ago, so that a server counts it as recent. */
const start = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const stampAt = (seconds: number): string => new Date(start + seconds * 1000).toISOString().replace('.000', '');

interface About {
  kind?: string;
  name?: string;
  uid?: string;
  fieldPath?: string;
  /** The first and the last time, s. */
  at: [number, number] | number;
  component?: string;
}

function event(reason: string, message: string, { at, component = 'kubelet', ...about }: About): CoreV1Event {
  const [first, last] = [at].flat() as [number, number?];
  return {
    metadata: { name: `x.${reason}.${first}`, namespace: 'statefulset', creationTimestamp: stampAt(first) },
    ...{ reason, message, count: last === undefined ? 1 : 4, source: { component } },
    ...{ firstTimestamp: stampAt(first), lastTimestamp: stampAt(last ?? first) },
    involvedObject: { kind: 'Pod', name: 'ledger-0', namespace: 'statefulset', ...about },
  } as unknown as CoreV1Event;
}

const stops = 'Stopping container app';
const controller = { kind: 'StatefulSet', name: 'ledger', component: 'statefulset-controller' };
const deletes = 'delete Pod ledger-0 in StatefulSet ledger successful';
const gone = (...events: CoreV1Event[]) => gonePod('ledger-0', { facts: factsOf(events), pods: [], workloads: [] });

describe('an Event that names no uid', () => {
  const taint = (at: number): CoreV1Event =>
    event('TaintManagerEviction', 'Marking for deletion Pod x/ledger-0', { at, component: 'taint' });
  const scheduled = event('Scheduled', 'Successfully assigned', { uid: 'b', at: 39 });
  const stopped = event('Killing', stops, { uid: 'b', at: 60 });

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
    event('SuccessfulDelete', deletes, { ...controller, at: 38 }),
    event('Killing', stops, { uid: 'a', at: 38 }),
    event('Scheduled', 'Successfully assigned', { uid: 'b', at: 39 }),
  ];
  const stopped = event('Killing', stops, { uid: 'b', at: 60 });

  it('counts for the pod that was stopped after it', () => {
    const own = event('SuccessfulDelete', deletes, { ...controller, at: 60 });
    expect(gone(...previous, own, stopped).by).toMatch(/^StatefulSet ledger/);
  });
  it('does not count for the next pod, which another client deleted', () => {
    const { by, moments } = gone(...previous, stopped);
    expect(by).toMatch(/^a client/);
    expect(moments.map(({ name }) => name)).not.toContain('deleted');
  });
  it('does not count for a pod that was stopped long before it', () =>
    expect(gone(stopped, event('SuccessfulDelete', deletes, { ...controller, at: 90 })).by).toMatch(/^a client/));
  it('counts though the Event of the pod being scheduled is no longer kept', () =>
    expect(gone(event('SuccessfulDelete', deletes, { ...controller, at: 59 }), stopped).by).toMatch(/^StatefulSet/));
});

describe('a repeated Event', () => {
  it('happened a first time too: a deadline is the cause of the stop that came after it', () => {
    const { by, moments } = gone(
      event('DeadlineExceeded', 'Pod was active on the node longer than the specified deadline', {
        uid: 'a',
        at: [9, 40],
      }),
      event('Killing', stops, { uid: 'a', at: 10 }),
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
  expect(gone(event(reason, message, { ...pod, at: 9 }), event('Killing', stops, { uid: 'a', at: 10 })).by).toBe(by);
});

/** Its container ended with 137 at 40 s, and runs again, unless `containerStatus` says otherwise. */
const living = (condition?: string, containerStatus: object = {}): V1Pod =>
  ({
    metadata: { name: 'ledger-0', namespace: 'statefulset', uid: 'now', resourceVersion: '1' },
    spec: {
      terminationGracePeriodSeconds: 60,
      containers: [{ name: 'app', image: 'app', livenessProbe: { terminationGracePeriodSeconds: 10 } }],
    },
    status: {
      phase: 'Running',
      conditions: condition === undefined ? [] : [{ type: condition, status: 'False' }],
      containerStatuses: [
        {
          ...{ name: 'app', ready: true, restartCount: 1, image: '', imageID: '', state: { running: {} } },
          lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: stampAt(40) } },
          ...containerStatus,
        },
      ],
    },
  }) as unknown as V1Pod;

const ofApp = { uid: 'now', fieldPath: 'spec.containers{app}' };
const restarted = (at: number): CoreV1Event =>
  event('Killing', 'Container app failed liveness probe, will be restarted', { ...ofApp, at });

describe('a pod that lives', () => {
  const explained = (object: V1Pod, ...events: CoreV1Event[]) =>
    presentPod(object, 'shop', gonePod('ledger-0', { facts: factsOf(events), pods: [object], workloads: [] }));

  it('names the probe, the time that the container got after its stop, and the grace period of the probe', () => {
    const failure = 'Liveness probe failed: HTTP probe failed with statuscode: 500';
    const failed = event('Unhealthy', failure, { ...ofApp, at: 29 });
    const { summary, moments } = explained(living(), failed, restarted(30));
    expect(summary).toContain(
      'app exited 137 (Error) ≈10s after the kubelet stopped it for its liveness probe (grace period 10s), restarted 1 time so far',
    );
    expect(moments.map(({ what }) => what)).toContain(failure);
  });

  it('blames no probe that failed after the exit', () =>
    expect(explained(living(), restarted(55)).summary).toContain('app exited 137 (Error), restarted'));

  it('names RestartAllContainers, which skips hooks and grace periods (KEP-5532, beta in 1.36)', () => {
    expect(explained(living('AllContainersRestarting')).summary).toContain('without preStop hook and grace period');
    expect(explained(living()).summary).not.toContain('RestartAllContainers');
  });

  it.each([
    [
      'its own exit, which is later than that of an earlier pod of its name',
      {},
      /^not deleted, phase Running; app exited/,
    ],
    ['the earlier pod if none of its own containers has exited', { restartCount: 0, lastState: {} }, /^stopped by/],
  ])('tells of %s', (_, containerStatus, summary) =>
    serving('statefulset', {}, async ({ server, flags }) => {
      const earlier = event('Killing', stops, { uid: 'before', at: 5 });
      for (const one of [earlier, restarted(35)]) server.write('events', 'MODIFIED', one as never);
      server.write('pods', 'MODIFIED', living(undefined, containerStatus) as never);
      const { stdout } = await runMain(['why', 'ledger-0', ...flags, '-o', 'json']);
      expect((JSON.parse(stdout) as { summary: string }).summary).toMatch(summary);
    }),
  );
});

it('prints no row above one with an earlier time, however wide the moments are', () => {
  const moment = (name: string, earliest: number, latest: number) =>
    ({ name, what: name, source: 'an Event', earliest: start + earliest, latest: start + latest }) as const;
  // Sorted by their earliest instants, the second would come before the third, which is printed with an earlier time.
  const moments = [moment('cordoned', 0, 1000), moment('stopping', 4000, 6000), moment('created', 4300, 4700)];
  const known = { pod: { namespace: 'shop', name: 'web-0' }, heading: '', summary: 'stopped', cannotTell: [], moments };
  const lines = whyText(known as never, plainPen, 100);
  expect(lines.flatMap((line) => /^ {2}(\+[\d.]+s)/.exec(line)?.[1] ?? [])).toEqual(['+4.0s', '+4.5s']);
});
