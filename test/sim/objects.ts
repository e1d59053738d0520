/** The parts of Kubernetes objects that change in a story, as types. Objects are never changed in place. */
import type { Json } from './rows.ts';

export interface Metadata {
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
  generateName?: string;
  managedFields?: ManagedFields[];
}

interface ManagedFields {
  manager: string;
  operation: 'Update';
  apiVersion: string;
  time: string;
  fieldsType: 'FieldsV1';
  fieldsV1: Json;
  subresource?: string;
}

export interface KubeObject {
  metadata: Metadata;
  spec?: Json;
  status?: Json;
  [field: string]: unknown;
}

export interface Condition {
  type: string;
  observedGeneration?: number;
  status: 'True' | 'False' | 'Unknown';
  lastProbeTime: null;
  lastTransitionTime: string;
  reason?: string;
  message?: string;
}

export interface ContainerStatus {
  name: string;
  state: Json;
  lastState: Json;
  ready: boolean;
  restartCount: number;
  started: boolean;
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
  podIPs?: { ip: string }[];
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
  const entry: ManagedFields = {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: {},
  };
  const others = (pod.metadata.managedFields ?? []).filter(
    (field) => field.manager !== manager || field.subresource !== subresource,
  );
  const managedFields = [...others, subresource === undefined ? entry : { ...entry, subresource }];
  return { ...pod, metadata: { ...pod.metadata, managedFields } };
}
