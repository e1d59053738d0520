/** The workload of an exit: one for all ends of a pod, safe as a label, and few whatever the cluster runs. */
import { expect, it } from 'vitest';
import { narrowPod } from '../../src/model/kube.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { workloadOfPod } from '../../src/watch/counts.ts';
import { watchedTraces } from '../../src/watch/traces.ts';

const ownedBy = (owner: object, labels: object = {}) =>
  narrowPod({
    kind: 'Pod',
    metadata: {
      name: 'web-0',
      namespace: 'shop',
      uid: 'u1',
      labels,
      ownerReferences: [{ uid: 'o1', controller: true, ...owner }],
    },
    spec: { containers: [{ name: 'app' }] },
    status: {},
  });

it.each([
  ['its Deployment', ownedBy({ kind: 'ReplicaSet', name: 'web-5f' }, { 'pod-template-hash': '5f' }), 'deployment/web'],
  ['all Jobs together', ownedBy({ kind: 'Job', name: 'backup-29001' }), 'job'],
  ['an owner with a hostile name', ownedBy({ kind: 'Evil', name: 'x\u001b]0;t\u0007"{}' }), 'evil/x--0-t----'],
])('%s', (_name, pod, workload) => {
  expect(workloadOfPod(pod)).toEqual({ namespace: 'shop', workload });
});

it('a pod of a CronJob has the CronJob for all its ends, as soon as its Job is known', () => {
  const traces = watchedTraces(
    false,
    () => {},
    () => {},
  );
  const pod = ownedBy({ kind: 'Job', name: 'cj-29001' });
  expect(traces.placeOf(pod).workload).toBe('job');
  const metadata = {
    name: 'cj-29001',
    namespace: 'shop',
    uid: 'o1',
    ownerReferences: [{ kind: 'CronJob', name: 'cj', uid: 'o2', controller: true }],
  };
  const job = { kind: 'Job', metadata, spec: {}, status: {} };
  const list: RawObservation = { kind: 'listed', at: 1, stream: 'owner', resourceVersion: '1', objects: [job] };
  traces.add(observe(list, 1, { logText: false }));
  expect(traces.placeOf(pod)).toEqual({ namespace: 'shop', workload: 'cronjob/cj' });
});
