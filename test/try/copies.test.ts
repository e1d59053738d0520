/** The manifests of the copies: whatever selects the original does not select them, and nothing of it is lost. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { copyNames, copyOf, ownerManifest, targetPortOf } from '../../src/try/copies.ts';
import { situationOf } from '../../src/advice/situation.ts';
import { neighboursIn } from '../../src/advice/neighbours.ts';
import { webApp } from './helpers/cluster.ts';

const options = { id: 'abc123', namespace: 'shop', replicas: 2, targetPort: 'http' } as const;

interface Made {
  metadata: { labels: Record<string, string>; ownerReferences: { uid: string }[]; name: string };
  spec: {
    selector: unknown;
    template: { metadata: { labels: Record<string, string> }; spec: Record<string, unknown> };
  };
}

const copies = (workload: KubernetesObject) =>
  copyNames.map((name) => {
    const { deployment, service } = copyOf(workload, name, options, 'owner-uid');
    return { deployment, service: service as unknown as Made };
  });

const workloadWith = (labels: Record<string, string>, podSpec: object = {}): KubernetesObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'web:1' }], ...podSpec } },
    },
  }) as KubernetesObject;

it('gives all of them one label and one owner, tells the two copies apart, and keeps no label of the original', () => {
  expect(ownerManifest(options, {}).metadata?.labels).toEqual({ 'podexit/try': 'abc123' });
  for (const [at, { deployment, service }] of copies(workloadWith({ app: 'web' })).entries()) {
    const labels = { 'podexit/try': 'abc123', 'podexit/copy': copyNames[at] };
    expect(deployment.spec.template.metadata.labels).toEqual(labels);
    expect([deployment.spec.selector, service.spec.selector]).toEqual([{ matchLabels: labels }, labels]);
    for (const { metadata } of [deployment, service]) {
      expect(metadata.labels).toEqual(labels);
      expect(metadata.ownerReferences.map(({ uid }) => uid)).toEqual(['owner-uid']);
      expect(metadata.name.length).toBeLessThan(64);
    }
  }
});

it('leaves out what would keep pods of the original away, or evict others', () => {
  const podSpec = {
    nodeSelector: { disk: 'ssd' },
    priorityClassName: 'high',
    priority: 1000,
    topologySpreadConstraints: [{ topologyKey: 'zone' }],
    readinessGates: [{ conditionType: 'target-health.elbv2.k8s.aws/x' }],
    affinity: { nodeAffinity: { a: 1 }, podAntiAffinity: { b: 2 } },
  };
  const [copy] = copies(workloadWith({ app: 'web' }, podSpec));
  expect(copy?.deployment.spec.template.spec).toEqual({
    containers: [{ name: 'app', image: 'web:1' }],
    nodeSelector: { disk: 'ssd' },
    affinity: { nodeAffinity: { a: 1 } },
  });
});

it.each([
  ['of its Service', [{ port: 80, targetPort: 'http' }], 'http'],
  [
    'of its Service that is not for metrics',
    [
      { port: 9, targetPort: 'metrics' },
      { port: 80, targetPort: 8080 },
    ],
    8080,
  ],
  ['of a container without a Service', [], 'http'],
])('asks the port %s', (_, ports, wanted) => {
  const [deployment, service] = webApp() as KubernetesObject[];
  const used = { ...service, spec: { selector: { app: 'web' }, ports } };
  const objects = ports.length > 0 ? [deployment, used] : [deployment];
  expect(targetPortOf(situationOf(deployment as KubernetesObject, neighboursIn(objects as KubernetesObject[])))).toBe(
    wanted,
  );
});
