/**
 * Kubernetes objects, narrowed to what podexit may know and record: the allow-list, as types. The shape is the API's
 * own, so that a recording reads like `kubectl get -o json` and goes through the same mapping as a live object
 * (observe.ts). Never here: environment, arguments, addresses, annotation values, status messages, log text.
 */

/** RFC 3339 as the API prints it: whole seconds, UTC (a floor: SIGNALS.md trap 33). */
export type Stamp = string;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: Stamp;
  deletionTimestamp?: Stamp;
  deletionGracePeriodSeconds?: number;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** Last changing write of each manager (apiserver clock). */
  managedFields?: { manager: string; subresource?: string; time?: Stamp }[];
  /** Keys only; the values are empty. */
  annotations?: Record<string, string>;
  /** Only the labels that podexit itself reads. */
  labels?: Record<string, string>;
}

export type HookKind = 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';

/** A preStop hook without its command, URL or headers. */
export interface PreStop {
  kind: HookKind;
  /** Of a sleep action. */
  seconds?: number;
  /** The hook cannot have signalled the application itself: a sleep, a tcpSocket, or an exec of a plain sleep. */
  inert?: boolean;
}

export interface Probe {
  kind: 'exec' | 'httpGet' | 'tcpSocket' | 'grpc';
  port?: string;
  periodSeconds: number;
  failureThreshold: number;
}

export type ContainerKind = 'container' | 'sidecar' | 'init' | 'ephemeral';

export interface Container {
  name: string;
  kind: ContainerKind;
  preStop?: PreStop;
  readinessProbe?: Probe;
  /** lifecycle.stopSignal. */
  stopSignal?: string;
  /** PID 1 is a shell that runs a command line: such a shell seldom forwards signals. */
  shell?: boolean;
}

export type ContainerState =
  | { kind: 'waiting'; reason?: string }
  | { kind: 'running'; startedAt?: Stamp }
  | { kind: 'terminated'; exitCode: number; reason?: string; startedAt?: Stamp; finishedAt?: Stamp };

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state?: ContainerState;
  /** containerd, cri-o, docker: the scheme of containerID. */
  runtime?: string;
  /** Told only with the ContainerStopSignals feature. */
  stopSignal?: string;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  lastTransitionTime?: Stamp;
  observedGeneration?: number;
}

export interface Pod {
  kind: 'Pod';
  metadata: Metadata;
  spec: {
    nodeName?: string;
    terminationGracePeriodSeconds: number;
    runtimeClassName?: string;
    restartPolicy?: string;
    readinessGates: string[];
    containers: Container[];
  };
  status: {
    phase?: string;
    reason?: string;
    observedGeneration?: number;
    nominatedNodeName?: string;
    conditions: Condition[];
    containerStatuses: ContainerStatus[];
  };
}

export interface Service {
  kind: 'Service';
  metadata: Metadata;
  spec: { type?: string; headless: boolean; selects: boolean; publishNotReadyAddresses: boolean };
}

export interface Endpoint {
  /** targetRef of kind Pod. */
  uid?: string;
  name?: string;
  ready: boolean;
  serving: boolean;
  terminating: boolean;
}

export interface EndpointSlice {
  kind: 'EndpointSlice';
  metadata: Metadata;
  service?: string;
  addressType: string;
  endpoints: Endpoint[];
}

/** An Event of either API (core/v1 or events.k8s.io/v1), in one form. */
export interface Event {
  kind: 'Event';
  metadata: Metadata;
  reason: string;
  type?: string;
  /** reportingComponent, or source.component. */
  component?: string;
  /** Told only for the reasons whose message has a form that we read. */
  message?: string;
  involvedObject: { kind: string; name: string; uid?: string; container?: string };
  count: number;
  firstTimestamp?: Stamp;
  lastTimestamp?: Stamp;
  eventTime?: string;
}

export interface Node {
  kind: 'Node';
  metadata: Metadata;
  spec: { unschedulable: boolean; taints: { key: string; effect: string; timeAdded?: Stamp }[] };
  status: { ready?: string; runtime?: string };
}

export interface Lease {
  kind: 'Lease';
  metadata: Metadata;
  /** RFC 3339 with microseconds, kubelet's clock. */
  renewTime?: string;
}

/** ReplicaSet, Deployment, StatefulSet, DaemonSet, Job, … */
export interface Owner {
  kind: 'Owner';
  ownerKind: string;
  metadata: Metadata;
  spec: { replicas?: number; suspend?: boolean; ttlSecondsAfterFinished?: number };
  status: { replicas?: number; finished?: boolean; updateRevision?: string; currentRevision?: string };
}

export interface Namespace {
  kind: 'Namespace';
  metadata: Metadata;
  status: { phase?: string };
}

export type KubeObject = Pod | Service | EndpointSlice | Event | Node | Lease | Owner | Namespace;
