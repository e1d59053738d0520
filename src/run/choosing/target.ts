/** The target that the user named: one pod, or something that has pods. */
import { collectionPath } from '../../kube/resource-path.ts';

/** Kinds whose pods can be traced, by plural resource name. */
export const workloadKinds = {
  deployments: { kind: 'Deployment', group: 'apps/v1' },
  statefulsets: { kind: 'StatefulSet', group: 'apps/v1' },
  daemonsets: { kind: 'DaemonSet', group: 'apps/v1' },
  replicasets: { kind: 'ReplicaSet', group: 'apps/v1' },
  jobs: { kind: 'Job', group: 'batch/v1' },
  services: { kind: 'Service', group: 'v1' },
} as const;
export type WorkloadResource = keyof typeof workloadKinds;

/** Selectors as the user wrote them; an empty one selects everything. */
export interface PodSelector {
  labels: string;
  fields: string;
}

/** Something that has pods. */
export type WorkloadTarget =
  { kind: 'workload'; resource: WorkloadResource; name: string } | ({ kind: 'selector' } & PodSelector);

/** The target of a run about one pod, which may have to be chosen. */
export type Target = { kind: 'pod'; name: string } | WorkloadTarget;

/** The target of a run over several pods. */
export type SeveralTarget = WorkloadTarget | { kind: 'pods'; names: readonly string[] } | NodeTarget;

/** The pods of a node; with a selector only those that match. */
export type NodeTarget = { kind: 'node'; name: string } & Partial<PodSelector>;

export type AnyTarget = Target | SeveralTarget;

export const picks = ['oldest', 'newest', 'random', 'not-ready'] as const;
export type Pick = (typeof picks)[number];

/** As kubectl prints it: `deployment/checkout`. */
export function targetText(target: AnyTarget): string {
  if (target.kind === 'pod') return `pod/${target.name}`;
  if (target.kind === 'pods') return target.names.map((name) => `pod/${name}`).join(' ');
  if (target.kind === 'workload') return workloadText(target.resource, target.name);
  const { labels, fields } = target;
  const node = target.kind === 'node' && `node/${target.name}`;
  return [node, labels && `-l ${labels}`, fields && `--field-selector ${fields}`].filter(Boolean).join(' ');
}

/** `deployment/checkout`. */
export const workloadText = (resource: WorkloadResource, name: string): string =>
  `${workloadKinds[resource].kind.toLowerCase()}/${name}`;

/** Path of a workload object. `namespace` is escaped here. */
export function workloadPath(namespace: string, resource: WorkloadResource, name = ''): string {
  const path = collectionPath(namespace, resource, workloadKinds[resource].group);
  return name === '' ? path : `${path}/${encodeURIComponent(name)}`;
}
