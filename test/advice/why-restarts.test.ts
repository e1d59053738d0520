/** Restarts of a pod that lives are exits of a container: `why` says which probe failed, how long it got, how it ended. */
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { factsOf } from '../../src/advice/why/event-facts.ts';
import { presentPod } from '../../src/advice/why/from-events.ts';
import { gonePod } from '../../src/advice/why/gone-pod.ts';

const stampAt = (seconds: number): string => new Date(Date.UTC(2026, 10, 28, 3, 0, seconds)).toISOString();

const event = (reason: string, message: string, seconds: number): CoreV1Event =>
  ({
    metadata: { name: `web-0.${seconds}`, creationTimestamp: stampAt(seconds) },
    ...{ reason, message, source: { component: 'kubelet' }, firstTimestamp: stampAt(seconds) },
    involvedObject: { kind: 'Pod', name: 'web-0', uid: 'a', fieldPath: 'spec.containers{app}' },
  }) as unknown as CoreV1Event;

/** Ended with 137 at 40 s, and runs again. */
const pod = (condition?: string): V1Pod =>
  ({
    metadata: { name: 'web-0', namespace: 'shop', uid: 'a' },
    spec: {
      terminationGracePeriodSeconds: 60,
      containers: [{ name: 'app', livenessProbe: { terminationGracePeriodSeconds: 10 } }],
    },
    status: {
      phase: 'Running',
      conditions: condition === undefined ? [] : [{ type: condition, status: 'False' }],
      containerStatuses: [
        {
          ...{ name: 'app', ready: true, restartCount: 1, image: '', imageID: '', state: { running: {} } },
          lastState: { terminated: { exitCode: 137, reason: 'Error', finishedAt: stampAt(40) } },
        },
      ],
    },
  }) as unknown as V1Pod;

const explained = (object: V1Pod, ...events: CoreV1Event[]) =>
  presentPod(object, 'shop', gonePod('web-0', { facts: factsOf(events), pods: [object], workloads: [] }));

it('names the probe, the time that the container got after its stop, and the grace period of the probe', () => {
  const failed = event('Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 500', 29);
  const stopped = event('Killing', 'Container app failed liveness probe, will be restarted', 30);
  const { summary, moments } = explained(pod(), failed, stopped);
  expect(summary).toContain(
    'app exited 137 (Error) ≈10s after the kubelet stopped it for its liveness probe (grace period 10s), restarted 1 time so far',
  );
  expect(moments.map(({ what }) => what)).toContain('Liveness probe failed: HTTP probe failed with statuscode: 500');
});

it('blames no probe that failed after the exit', () => {
  const stopped = event('Killing', 'Container app failed liveness probe, will be restarted', 55);
  expect(explained(pod(), stopped).summary).toContain('app exited 137 (Error), restarted');
});

it('names RestartAllContainers, which skips hooks and grace periods (KEP-5532, beta in 1.36)', () => {
  expect(explained(pod('AllContainersRestarting')).summary).toContain('without preStop hook and grace period');
  expect(explained(pod()).summary).not.toContain('RestartAllContainers');
});
