/**
 * Kubernetes objects, narrowed to what podexit may read and record: the allow-list as readers and as types. They have
 * the API's own shape, so a recording looks like `kubectl get -o json` and goes through the same idempotent mapping as
 * a live object (observe.ts). Never included: environment, arguments, addresses, annotation values (with one
 * exception), status messages, log text.
 */
import {
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  nonEmpty,
  listOf,
  shape,
  stringMap,
  asText,
  constant,
  asArray,
  asPort,
  listWith,
  maybe,
  unlessEmpty,
  type JsonObject,
  type Reader,
} from './observe/read.ts';
import reasons from './data/reasons-with-message.json' with { type: 'json' };
import { narrowContainer, narrowState } from './observe/container.ts';

/** Labels that rules read: the Service of a slice, the revision of a pod, the Job index of a pod. */
const keptLabels = new Set([
  'kubernetes.io/service-name',
  'pod-template-hash',
  'controller-revision-hash',
  'batch.kubernetes.io/job-completion-index',
]);

const narrowMetadata = shape({
  name: asText,
  namespace: asString,
  uid: asText,
  resourceVersion: asString,
  generation: asNumber,
  creationTimestamp: asString,
  deletionTimestamp: asString,
  deletionGracePeriodSeconds: asSeconds,
  finalizers: (raw) => nonEmpty(asStrings(raw)),
  ownerReferences: listOf(
    shape({ apiVersion: asText, kind: asText, name: asText, uid: asText, controller: asBoolean }),
    16,
  ),
  /** Last changing write of each manager (API server's clock); no field sets. */
  managedFields: listOf(shape({ manager: asText, subresource: asString, time: asString }), 64),
  /** Only keys; of values, that of the time that triggered a slice's change (SIGNALS.md §3). */
  annotations: annotationKeys,
  /** Only labels that podexit reads. */
  labels: (raw) => stringMap(raw, (key) => keptLabels.has(key)),
});

function annotationKeys(raw: unknown): Record<string, string> | undefined {
  const annotations = Object.entries(asObject(raw)).slice(0, 256);
  if (annotations.length === 0) return undefined;
  return Object.fromEntries(
    annotations.map(([key, value]) => [
      key.slice(0, 320),
      key === 'endpoints.kubernetes.io/last-change-trigger-time' ? asText(value) : '',
    ]),
  );
}

/** Reasons whose message has a fixed form that rules parse (SIGNALS.md §2.2). Other messages may quote anything. */
export const reasonsWithMessage: ReadonlySet<string> = new Set(reasons);

export type Event = ReturnType<typeof narrowEvent>;

/** Reads an Event of core/v1 or events.k8s.io/v1 in the core form (SIGNALS.md §2.1: support both). */
export const narrowEvent = shape({
  kind: constant('Event'),
  metadata: narrowMetadata,
  reason: asText,
  type: asString,
  reportingComponent: (own, { reportingController, source, deprecatedSource }) =>
    asString(own) ?? asString(reportingController) ?? asString(asObject(source ?? deprecatedSource)['component']),
  /** Kept only for these reasons; for probes, only the words of `probeWords`. */
  message: (own, { reason, note }) => narrowMessage(asText(reason), asString(own) ?? asString(note)),
  involvedObject: (own, { regarding }) =>
    shape({ kind: asText, name: asText, uid: asString, fieldPath: asString })(own ?? regarding),
  count: (own, { deprecatedCount, series }) =>
    asNumber(own) ?? asNumber(deprecatedCount) ?? asNumber(asObject(series)['count']) ?? 1,
  firstTimestamp: (own, { deprecatedFirstTimestamp }) => asString(own ?? deprecatedFirstTimestamp),
  lastTimestamp: (own, { deprecatedLastTimestamp, series }) =>
    asString(own ?? deprecatedLastTimestamp ?? asObject(series)['lastObservedTime']),
  eventTime: asString,
});

/** The words that name what refused to create a pod (apiserver: resourcequota, webhook). */
const refusalIn = (message: string | undefined): string | undefined =>
  /(exceeded|failed) quota: [\w.-]+|admission webhook "[\w.-]+" denied/.exec(message ?? '')?.[0];

/** A probe's message quotes the application's answer: only the kind of probe and a refused connection are kept. */
function narrowMessage(reason: string, message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  if (reason === 'FailedCreate') return refusalIn(message);
  if (reason === 'Unhealthy') return probeWords.filter((word) => message.includes(word)).join(' ') || undefined;
  return reasonsWithMessage.has(reason) ? message : undefined;
}

const probeWords = ['Readiness', 'Liveness', 'Startup', 'errored', 'connection refused'];

/** The items of a list that have a name. */
const named =
  <T>(reader: (one: JsonObject) => T): Reader<T[]> =>
  (raw) =>
    asArray(raw, 256)
      .map(asObject)
      .filter((item) => asString(item['name']) !== undefined)
      .map(reader);

const someNamed =
  <T>(reader: (one: JsonObject) => T): Reader<T[] | undefined> =>
  (raw) =>
    nonEmpty(named(reader)(raw));

const narrowCondition = shape({
  type: asText,
  status: asText,
  reason: asString,
  lastTransitionTime: asString,
  message: (own) => refusalIn(asString(own)),
});

const conditions = listOf(narrowCondition, 64);

export type ContainerStatus = ReturnType<typeof narrowStatus>;

const narrowStatus = shape({
  name: asText,
  ready: (raw) => asBoolean(raw) ?? false,
  restartCount: (raw) => asNumber(raw) ?? 0,
  state: narrowState,
  lastState: maybe(narrowState),
  /** Only the scheme, which tells the runtime: `containerd://`. */
  containerID: (raw) => /^[\w.-]{1,32}:\/\//.exec(asText(raw))?.[0],
  /** Present only with the ContainerStopSignals feature. */
  stopSignal: asString,
});

const statuses = someNamed(narrowStatus);
const someContainers = someNamed(narrowContainer);

export type Pod = ReturnType<typeof narrowPod>;

export const narrowPod = shape({
  kind: constant('Pod'),
  metadata: narrowMetadata,
  spec: shape({
    nodeName: asString,
    terminationGracePeriodSeconds: asSeconds,
    runtimeClassName: asString,
    hostNetwork: (raw) => asBoolean(raw) || undefined,
    restartPolicy: asString,
    readinessGates: listOf(shape({ conditionType: asText }), 64),
    initContainers: someContainers,
    containers: named(narrowContainer),
    ephemeralContainers: someContainers,
  }),
  status: shape({
    phase: asString,
    reason: asString,
    observedGeneration: asNumber,
    conditions,
    initContainerStatuses: statuses,
    containerStatuses: statuses,
    ephemeralContainerStatuses: statuses,
  }),
});

export type Service = ReturnType<typeof narrowService>;

const narrowService = shape({
  kind: constant('Service'),
  metadata: narrowMetadata,
  spec: shape({
    /** Kept only if it is `None` (headless). */
    clusterIP: (raw) => (raw === 'None' ? 'None' : undefined),
    selector: (raw) => stringMap(raw, () => true),
    publishNotReadyAddresses: asBoolean,
    /** `targetPort`: a number, or the name of a container's port; absent: the same as `port`. */
    ports: listWith('port', shape({ port: asNumber, targetPort: asPort })),
  }),
});

export type Endpoint = ReturnType<typeof narrowEndpoint>;

const narrowEndpoint = shape({
  targetRef: maybe(shape({ kind: asString, name: asString, uid: asString })),
  conditions: unlessEmpty(shape({ ready: asBoolean, serving: asBoolean, terminating: asBoolean })),
});

export type EndpointSlice = ReturnType<typeof narrowSlice>;

export const narrowSlice = shape({
  kind: constant('EndpointSlice'),
  metadata: narrowMetadata,
  addressType: asText,
  endpoints: (raw) => asArray(raw, 1000).map(narrowEndpoint),
});

export type Node = ReturnType<typeof narrowNode>;

const narrowNode = shape({
  kind: constant('Node'),
  metadata: narrowMetadata,
  spec: shape({
    unschedulable: asBoolean,
    taints: listOf(shape({ key: asText, effect: asText }), 64),
  }),
  status: shape({
    conditions: (raw) => nonEmpty((conditions(raw) ?? []).filter((one) => one.type === 'Ready')),
  }),
});

export type Lease = ReturnType<typeof narrowLease>;

const narrowLease = shape({
  kind: constant('Lease'),
  metadata: narrowMetadata,
  /** RFC 3339 with microseconds, kubelet's clock. */
  spec: shape({ renewTime: asString }),
});

/** Kinds that own pods, and owners of those. */
const ownerKinds = ['ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;

export type Owner = ReturnType<typeof narrowOwner>;

const narrowOwner = shape({
  kind: (raw) => ownerKinds.find((kind) => kind === raw) ?? ownerKinds[0],
  metadata: narrowMetadata,
  spec: shape({
    replicas: asNumber,
    suspend: asBoolean,
    ttlSecondsAfterFinished: asSeconds,
  }),
  status: shape({
    replicas: asNumber,
    /** DaemonSets: the number of nodes that should run one. */
    desiredNumberScheduled: asNumber,
    updateRevision: asString,
    currentRevision: asString,
    conditions,
  }),
});

export type Namespace = ReturnType<typeof narrowNamespace>;

const narrowNamespace = shape({
  kind: constant('Namespace'),
  metadata: narrowMetadata,
  status: shape({ phase: asString }),
});

export type ObservedObject = Pod | Service | EndpointSlice | Event | Node | Lease | Owner | Namespace;

/** Narrow an object of each stream. */
export const narrowers = {
  pod: narrowPod,
  pods: narrowPod,
  siblings: narrowPod,
  services: narrowService,
  endpointslices: narrowSlice,
  events: narrowEvent,
  'node-events': narrowEvent,
  'owner-events': narrowEvent,
  logs: narrowEvent,
  node: narrowNode,
  lease: narrowLease,
  owner: narrowOwner,
  namespace: narrowNamespace,
} satisfies Record<string, Reader<ObservedObject>>;

/** The list of the pod that a container is in. A sidecar is an init container with restartPolicy Always. */
export type ContainerKind = 'container' | 'sidecar' | 'init' | 'ephemeral';
