import type { KubeObject } from '../data/kube-object.ts';
import type { Stored } from '../data/log.ts';
import type { Story } from './story.ts';

/** What every cluster has and no recording lists: the namespaces. */
export function surroundings(story: Story, recorded: readonly Stored[]): Stored[] {
  const named = new Set(['default', 'kube-node-lease', story.namespace]);
  const oldest = recorded.map(({ object }) => object.metadata.creationTimestamp ?? '').sort()[0];
  return [...named].map((name) => ({ resource: 'namespaces', object: namespaceObject(name, oldest, story.revision) }));
}

function namespaceObject(name: string, createdAt: string | undefined, revision: number): KubeObject {
  return {
    kind: 'Namespace',
    apiVersion: 'v1',
    metadata: {
      name,
      uid: `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padEnd(12, '0').slice(0, 12)}`,
      resourceVersion: String(revision),
      ...(createdAt !== undefined && { creationTimestamp: createdAt }),
      labels: { 'kubernetes.io/metadata.name': name },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
