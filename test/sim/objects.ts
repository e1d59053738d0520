/** The parts of Kubernetes objects that change in a story, as types. Objects are never changed in place. */
import type { Json } from './rows.ts';

export type Metadata = {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: Json[];
  managedFields?: ManagedFields[];
};

type ManagedFields = {
  manager: string;
  time: string;
  subresource?: string;
};

export interface KubeObject {
  metadata: Metadata;
  spec?: Json;
  status?: Json;
  [field: string]: unknown;
}

export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime: string;
  reason?: string;
}

export interface ContainerStatus {
  name: string;
  state: Json;
  lastState: Json;
  ready: boolean;
  restartCount: number;
  containerID?: string;
  [field: string]: unknown;
}

interface PodStatus {
  phase: string;
  observedGeneration?: number;
  conditions?: Condition[];
  initContainerStatuses?: ContainerStatus[];
  containerStatuses?: ContainerStatus[];
  podIP?: string;
  [field: string]: unknown;
}

export interface Pod {
  metadata: Metadata;
  spec: Json & { nodeName?: string; terminationGracePeriodSeconds: number };
  status: PodStatus;
  [field: string]: unknown;
}

export const isTerminal = (pod: Pod): boolean => ['Succeeded', 'Failed'].includes(pod.status.phase);

export const conditionOf = (pod: Pod, type: string): Condition | undefined =>
  pod.status.conditions?.find((condition) => condition.type === type);

export const isReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

/** Replaces a condition in place, or appends it. Its transition time changes only with its status. */
export function withCondition(conditions: readonly Condition[], next: Condition): Condition[] {
  const old = conditions.find((condition) => condition.type === next.type);
  if (!old) return [...conditions, next];
  const lastTransitionTime = old.status === next.status ? old.lastTransitionTime : next.lastTransitionTime;
  return conditions.map((condition) => (condition === old ? { ...next, lastTransitionTime } : condition));
}

/** The last write of a manager: `time` is the API server's (SIGNALS.md §4 "managedFields"). */
export function managedBy(pod: Pod, manager: string, time: string, subresource?: string): Pod {
  const others = (pod.metadata.managedFields ?? []).filter(
    (field) => field.manager !== manager || field.subresource !== subresource,
  );
  const managedFields = [...others, subresource === undefined ? { manager, time } : { manager, time, subresource }];
  return { ...pod, metadata: { ...pod.metadata, managedFields } };
}
