/** Who serves while a pod of a cluster stops, which no manifest shows. */
import type { V1Pod } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { situationOfLivePod } from '../../src/advice/situation.ts';
import { neighboursIn } from '../../src/advice/neighbours.ts';
import { othersServe } from '../../src/advice/roles.ts';
import { narrowSlice } from '../../src/model/kube.ts';

it('says of a pod without another ready one that nothing replaces it, whatever its volume', () => {
  const metadata = { name: 'web-0', uid: 'u', labels: { app: 'web' } };
  const spec = {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    containers: [{ name: 'app', image: 'registry.example/app:1', ports: [{ containerPort: 80 }] }],
  };
  const pod: V1Pod = { kind: 'Pod', metadata, spec, status: { phase: 'Running' } };
  const service = {
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  };
  const endpoints = [
    { addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'web-0', uid: 'u' } },
  ];
  const slice = narrowSlice({
    metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    endpoints,
  });
  const around = { ...neighboursIn([service]), slices: [slice], mayHaveOtherServices: false };
  expect(othersServe(situationOfLivePod(pod, around))).toEqual({
    answer: 'no',
    because: 'no other pod was ready, and nothing replaces this one',
  });
});
