/**
 * Kubernetes objects, narrowed to what podexit may know and record: the allow-list, as types. The shape is the API's
 * own, so a recording reads like `kubectl get -o json` and goes through the same mapping as a live object
 * (observe.ts), which is idempotent. Never here: environment, arguments, addresses, annotation values (the slice's
 * trigger time excepted), status messages, log text.
 */

/** RFC 3339 as the API prints it: whole seconds, UTC (a floor: SIGNALS.md trap 33). */
export type Stamp = string;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
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
  /** Last changing write of each manager (apiserver clock); no field sets. */
  managedFields?: { manager: string; subresource?: string; time?: Stamp }[];
  /** Keys only: the values are empty, save of two (observe/metadata.ts). */
  annotations?: Record<string, string>;
  /** Only the labels that podexit itself reads. */
  labels?: Record<string, string>;
}

export type HookKind = 'exec' | 'httpGet' | 'sleep' | 'tcpSocket';

/**
 * A lifecycle handler without its command, URL or headers. `inert` is our own note on an exec: it is a plain sleep,
 * so it cannot have signalled the application itself.
 */
export interface Handler {
  exec?: { inert?: boolean; seconds?: number };
  httpGet?: Record<string, never>;
  sleep?: { seconds: number };
  tcpSocket?: Record<string, never>;
}

export interface Probe {
  exec?: Record<string, never>;
  httpGet?: { port?: number | string };
  tcpSocket?: { port?: number | string };
  grpc?: { port?: number | string };
  periodSeconds?: number;
  failureThreshold?: number;
}

export interface Container {
  name: string;
  image?: string;
  /** `Always` on an init container makes it a sidecar. */
  restartPolicy?: string;
  lifecycle?: { preStop?: Handler; stopSignal?: string };
  readinessProbe?: Probe;
  /** Our own note: PID 1 is started as a shell with a command line, which seldom passes signals on if it stays one. */
  shell?: boolean;
  /** Our own note: that line says `trap "" TERM`, and what it starts ignores SIGTERM too (an ignored signal survives exec). */
  ignoresTerm?: boolean;
  ports?: { name?: string; containerPort: number }[];
}

export interface ContainerState {
  waiting?: { reason?: string };
  running?: { startedAt?: Stamp };
  terminated?: { exitCode: number; reason?: string; startedAt?: Stamp; finishedAt?: Stamp };
}

export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state: ContainerState;
  lastState?: ContainerState;
  /** Only the scheme, which names the runtime: `containerd://`. */
  containerID?: string;
  /** Present only with the ContainerStopSignals feature. */
  stopSignal?: string;
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  lastTransitionTime?: Stamp;
}

export interface Pod {
  kind: 'Pod';
  metadata: Metadata;
  spec: {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
    runtimeClassName?: string;
    hostNetwork?: boolean;
    restartPolicy?: string;
    readinessGates?: { conditionType: string }[];
    initContainers?: Container[];
    containers: Container[];
    ephemeralContainers?: Container[];
  };
  status: {
    phase?: string;
    reason?: string;
    observedGeneration?: number;
    nominatedNodeName?: string;
    conditions?: Condition[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
    ephemeralContainerStatuses?: ContainerStatus[];
  };
}

export interface Service {
  kind: 'Service';
  metadata: Metadata;
  spec: {
    type?: string;
    /** Kept only where it is `None` (headless). */
    clusterIP?: string;
    selector?: Record<string, string>;
    publishNotReadyAddresses?: boolean;
    /** `targetPort`: a number, or the name of a container's port; the same as `port` where it is absent. */
    ports?: { port: number; targetPort?: number | string }[];
  };
}

export interface Endpoint {
  targetRef?: { kind?: string; name?: string; uid?: string };
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
}

export interface EndpointSlice {
  kind: 'EndpointSlice';
  metadata: Metadata;
  addressType: string;
  endpoints: Endpoint[];
}

/** An Event of either API (core/v1 or events.k8s.io/v1), in the core form. */
export interface Event {
  kind: 'Event';
  metadata: Metadata;
  reason: string;
  type?: string;
  reportingComponent?: string;
  /** Kept only for the reasons whose message has a form that we read; of a probe only what failed. */
  message?: string;
  involvedObject: { kind: string; name: string; uid?: string; fieldPath?: string };
  count: number;
  firstTimestamp?: Stamp;
  lastTimestamp?: Stamp;
  eventTime?: string;
}

export interface Node {
  kind: 'Node';
  metadata: Metadata;
  spec: { unschedulable?: boolean; taints?: { key: string; effect: string; timeAdded?: Stamp }[] };
  status: { conditions?: Condition[]; nodeInfo?: { containerRuntimeVersion?: string } };
}

export interface Lease {
  kind: 'Lease';
  metadata: Metadata;
  /** renewTime: RFC 3339 with microseconds, kubelet's clock. */
  spec: { renewTime?: string };
}

/** The kinds that own pods, and what owns those. */
export const ownerKinds = ['ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;

export interface Owner {
  kind: (typeof ownerKinds)[number];
  metadata: Metadata;
  spec: {
    replicas?: number;
    /** StatefulSets: the number of the first pod; 0 where it is absent. */
    ordinals?: { start?: number };
    suspend?: boolean;
    ttlSecondsAfterFinished?: number;
  };
  status: {
    replicas?: number;
    /** DaemonSets: the number of nodes that should run one. */
    desiredNumberScheduled?: number;
    updateRevision?: string;
    currentRevision?: string;
    conditions?: Condition[];
  };
}

export interface Namespace {
  kind: 'Namespace';
  metadata: Metadata;
  status: { phase?: string };
}

export type KubeObject = Pod | Service | EndpointSlice | Event | Node | Lease | Owner | Namespace;

/** Which of a pod's lists a container stands in; a sidecar is an init container that restarts always. */
export type ContainerKind = 'container' | 'sidecar' | 'init' | 'ephemeral';
