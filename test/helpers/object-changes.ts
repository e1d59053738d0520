/** Changes of the objects on an embedded server, as a case writes them down. */
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';

const groups: Record<string, string> = {
  pods: 'api/v1',
  deployments: 'apis/apps/v1',
  endpointslices: 'apis/discovery.k8s.io/v1',
  poddisruptionbudgets: 'apis/policy/v1',
};

/** Something that happens to an object: it is changed, removed or new. Of several the first, or the pod of the server. */
export interface ObjectChange {
  in: string;
  name?: string;
  /** Merged into it. */
  set?: object;
  removes?: true;
  adds?: object;
}

export async function changeObject(
  { url, namespace, pod, write }: Loopback,
  { in: resource, name, set, removes, adds }: ObjectChange,
): Promise<void> {
  if (adds) return write(resource, 'ADDED', adds as KubeObject);
  const answer = await fetch(`${url}/${groups[resource]}/namespaces/${namespace}/${resource}`);
  const { kind, apiVersion, items } = (await answer.json()) as {
    kind: string;
    apiVersion: string;
    items: KubeObject[];
  };
  const wanted = name ?? (resource === 'pods' ? pod : items[0]?.metadata.name);
  const found = items.find(({ metadata }) => metadata.name === wanted);
  if (!found) throw new Error(`there is no ${wanted} in ${resource}`);
  const object = { kind: kind.replace('List', ''), apiVersion, ...(merged(found, set) as KubeObject) };
  write(resource, removes ? 'DELETED' : 'MODIFIED', object);
}

/** Null removes a field or an element, and a list is merged by position. */
export function merged(old: unknown, change: unknown): unknown {
  if (typeof change !== 'object' || change === null) return change === undefined ? old : change;
  if (Array.isArray(change)) {
    const before = (Array.isArray(old) ? old : []) as unknown[];
    const after = Array.from({ length: Math.max(before.length, change.length) }, (_, index) =>
      index < change.length ? merged(before[index], change[index]) : before[index],
    );
    return after.filter((one) => one !== null);
  }
  const fields = { ...(old as Record<string, unknown> | undefined) };
  for (const [field, value] of Object.entries(change)) fields[field] = merged(fields[field], value);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
