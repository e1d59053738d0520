/** The manifests of the copies: whatever selects the original does not select them, and nothing of it is lost. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { operators } from '../../src/run/streams/selectors.ts';
import { copyNames, copyOf, ownerManifest, targetPortOf } from '../../src/try/copies.ts';
import { selectorRefusals } from '../../src/try/refusals.ts';
import { situationOf } from '../../src/advice/situation.ts';
import { neighboursIn } from '../../src/advice/neighbours.ts';
import { seeded } from '../helpers/seeded.ts';
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

describe('what selects the original', () => {
  const random = seeded(57);
  const pick = <T>(words: readonly T[]): T => words[Math.floor(random() * words.length)] as T;
  const keys = ['app', 'app.kubernetes.io/name', 'app.kubernetes.io/instance', 'tier', 'version', 'pod-template-hash'];
  const values = ['web', 'api', 'shop', 'v1', '5d8f7c9b6', ''];

  it('selects no copy, or the try is refused', () => {
    for (let round = 0; round < 500; round++) {
      const labels = Object.fromEntries(Array.from({ length: 1 + (round % 4) }, () => [pick(keys), pick(values)]));
      const key = pick(Object.keys(labels));
      const selector = pick([
        { matchLabels: labels },
        { matchLabels: { [key]: labels[key] ?? '' } },
        { matchExpressions: [{ key, operator: pick(Object.keys(operators)), values: [pick(values)] }] },
        {},
      ]);
      for (const { deployment, service } of copies(workloadWith(labels))) {
        for (const { metadata } of [deployment, service, deployment.spec.template])
          expect(Object.keys(metadata.labels)).toEqual(['podexit/try', 'podexit/copy']);
        const { labels: own } = deployment.spec.template.metadata;
        const isSelected = selects(selector, own);
        const refusals = selectorRefusals({ services: [], budgets: [{ name: 'x', selector }] as never }, own);
        expect(refusals.length > 0).toBe(isSelected);
        // Only a selector that names no label of the original can select a copy.
        if ('matchLabels' in selector) expect(isSelected).toBe(false);
      }
    }
  });

  const selects = (selector: { matchLabels?: object; matchExpressions?: object[] }, own: Record<string, string>) =>
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => own[key] === value) &&
    ((selector.matchExpressions ?? []) as { key: string; operator: string; values: string[] }[]).every((one) =>
      operators[one.operator]?.(own[one.key], one.values),
    );
});

it('tells the pods of the two copies apart', () => {
  const [today, patched] = copies(workloadWith({ app: 'web' }));
  expect(today?.deployment.spec.selector).not.toEqual(patched?.deployment.spec.selector);
  expect(today?.service.spec.selector).toEqual(today?.deployment.spec.template.metadata.labels);
});

it('gives all of them one label and one owner', () => {
  expect(ownerManifest(options, {}).metadata?.labels).toEqual({ 'podexit/try': 'abc123' });
  for (const { deployment, service } of copies(workloadWith({ app: 'web' })))
    for (const { metadata } of [deployment, service]) {
      expect(metadata.labels['podexit/try']).toBe('abc123');
      expect(metadata.ownerReferences.map(({ uid }) => uid)).toEqual(['owner-uid']);
      expect(metadata.name.length).toBeLessThan(64);
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
  const objects = webApp().map(([resource, object]) =>
    resource === 'services' ? { ...object, spec: { selector: { app: 'web' }, ports } } : object,
  ) as unknown as KubernetesObject[];
  const [deployment] = objects;
  const used = ports.length > 0 ? objects : objects.slice(0, 1);
  expect(targetPortOf(situationOf(deployment as KubernetesObject, neighboursIn(used)))).toBe(wanted);
});
