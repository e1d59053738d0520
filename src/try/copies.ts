/** The manifests of a try: two copies, their Services, the ConfigMap that owns all. None has the original's labels. Pure. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { differing } from '../advice/fix/edit.ts';
import { asObject, asString, metadataOf, type JsonObject } from '../model/observe/read.ts';
import type { Situation } from '../advice/situation.ts';

/** Of everything that a try creates; its value is the id of the try. */
export const tryLabel = 'podexit/try';
/** Tells the pods of the two copies apart. */
const copyLabel = 'podexit/copy';

export const copyNames = ['today', 'patched'] as const;
export type CopyName = (typeof copyNames)[number];

export type Copy = ReturnType<typeof copyOf>;

export interface CopyOptions {
  /** Six letters and digits, new for each try. */
  readonly id: string;
  readonly namespace: string;
  readonly replicas: number;
  /** The number or the name of the container's port. */
  readonly targetPort: number | string;
}

export const servicePort = 80;

const nameFor = (id: string, ...more: string[]): string => ['podexit-try', id, ...more].join('-');

export const copyLabels = (id: string, name: CopyName): Record<string, string> => ({
  [tryLabel]: id,
  [copyLabel]: name,
});

/** Owns the copies: if it is deleted, the garbage collector deletes them. Its data says what they are for. */
export const ownerManifest = (
  { id, namespace }: CopyOptions,
  data: Readonly<Record<string, string>>,
): KubernetesObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: nameFor(id), namespace, labels: { [tryLabel]: id } },
    data,
  }) as KubernetesObject;

/** `workload`: today's or the patched one. `ownerUid`: of the ConfigMap. */
export function copyOf(workload: KubernetesObject, name: CopyName, options: CopyOptions, ownerUid: string) {
  const { id, namespace, replicas, targetPort } = options;
  const labels = copyLabels(id, name);
  const metadata = {
    name: nameFor(id, name),
    namespace,
    labels,
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: nameFor(id), uid: ownerUid }],
  };
  const spec = asObject(asObject(workload)['spec']);
  const template = asObject(spec['template']);
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas,
      selector: { matchLabels: labels },
      ...(spec['minReadySeconds'] === undefined ? {} : { minReadySeconds: spec['minReadySeconds'] }),
      template: {
        metadata: { labels, annotations: metadataOf(template)['annotations'] },
        spec: podSpecOf(asObject(template['spec'])),
      },
    },
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { selector: labels, ports: [{ port: servicePort, targetPort, protocol: 'TCP' }] },
  };
  return { name, labels, replicas, deployment, service };
}

/**
 * What a copy does not get, and why: rules about the original's labels would keep the original's new pods away from a
 * node or a zone, a priority would let a copy evict other pods, and no load balancer confirms a copy's readiness gate.
 */
const leftOutFields: readonly string[] = [
  'priorityClassName',
  'priority',
  'preemptionPolicy',
  'topologySpreadConstraints',
  'readinessGates',
  'nodeName',
];

function podSpecOf(podSpec: JsonObject): JsonObject {
  const { affinity, ...rest } = podSpec;
  const kept = Object.entries(rest).filter(([field]) => !leftOutFields.includes(field));
  const { nodeAffinity } = asObject(affinity);
  return { ...Object.fromEntries(kept), ...(nodeAffinity === undefined ? {} : { affinity: { nodeAffinity } }) };
}

/** The fields of the pod's spec that the copies lack, or do not have as a whole. */
export const leftOutOf = (podSpec: JsonObject): string[] => differing(podSpec, podSpecOf(podSpec));

/** The port that clients ask: of its Services, else of its containers. Undefined: nothing says where it serves. */
export function targetPortOf({ services, containers }: Situation): number | string | undefined {
  const ofClients = services.filter(({ clients }) => clients !== 'metrics-only');
  const wanted = (ofClients.length > 0 ? ofClients : services).flatMap(({ targetPorts }) => targetPorts);
  const declared = containers
    .filter(({ kind }) => kind !== 'init')
    .flatMap(({ ports }) => ports.map(({ name, port, protocol }) => ({ port: name ?? port, protocol })));
  const isMetrics = (port: number | string): boolean => /metrics|prom|probe|health|admin|debug/.test(String(port));
  const tcp = (wanted.length > 0 ? wanted : declared).filter(({ protocol }) => protocol === 'TCP');
  return (tcp.find(({ port }) => !isMetrics(port)) ?? tcp[0])?.port;
}

/** A port is asked over TLS if its name or its number says so. */
export const schemeOf = (port: number | string): 'http' | 'https' =>
  /^https|^(443|6443|8443|9443)$/.test(String(port)) ? 'https' : 'http';

export const tryIdOf = (object: unknown): string | undefined =>
  asString(asObject(metadataOf(object)['labels'])[tryLabel]);
