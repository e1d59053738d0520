/**
 * The embedded API server with what a cluster adds to it: creation of objects, the Deployment controller, a kubelet, the
 * EndpointSlice controller, the garbage collector, and the proxy of Services. In real time, with short delays.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Playback } from '../../../src/demo/cluster.ts';
import { type KubeObject, recordsAt, valueAt } from '../../../src/demo/data/kube-object.ts';
import type { KubeRequest } from '../../../src/demo/http/api-request.ts';
import type { Call } from '../../../src/demo/http/exchange.ts';
import { startLoopback, type Interference } from '../../../src/demo/loopback.ts';
import { parseScenario } from '../../../src/demo/scenarios.ts';
import { merged } from '../../helpers/object-changes.ts';
import { scenarioFile } from '../../helpers/recordings.ts';

export interface Behaviour {
  /** ms from the creation of a pod to its readiness; Infinity: never. */
  readyMs?: number;
  /** ms from a pod's deletion until its Service drops it; if the pod has exited before that, some requests later. */
  endpointLagMs?: number;
  /** Answers a request in place of the cluster: true if it did. */
  around?: (exchange: Call) => boolean;
}

export interface TryCluster {
  flags: string[];
  /** Requests that write, except those that only ask for permissions. */
  writes(): string[];
  /** The names of objects that carry the label of a try. */
  left(): string[];
}

const namespace = 'graceful-exit';

/** Runs `work` against a cluster that holds these objects. It must change nothing that is not of a try. */
export async function withCluster<T>(
  objects: readonly KubeObject[],
  behaviour: Behaviour,
  work: (cluster: TryCluster) => Promise<T>,
): Promise<T> {
  const scenario = parseScenario(readFileSync(scenarioFile('graceful-exit'), 'utf8'));
  let store: Playback | undefined;
  const asked: KubeRequest[] = [];
  const server = await startLoopback({
    scenario,
    interfere(cluster) {
      const controllers = controllersOf((store = cluster), behaviour);
      const around: Interference['around'] = (call, serve) => {
        asked.push(call.request);
        return controllers.around(call, serve);
      };
      return { ...controllers, around };
    },
  });
  for (const object of objects) server.write(`${object.kind?.toLowerCase()}s`, 'ADDED', withIdentity(object));
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig());
  /** The versions of the workloads, Services and pods that do not carry it. */
  const versions = () =>
    stored(store)
      .filter(({ object }) => ['Deployment', 'Service', 'Pod'].includes(object.kind ?? '') && !isOfTry(object))
      .map(({ object: { metadata } }) => `${metadata.name} ${metadata.resourceVersion}`);
  const before = versions();
  try {
    const worked = await work({
      flags: ['-n', server.namespace, '--kubeconfig', kubeconfig],
      writes: () =>
        asked
          .filter(({ method, path }) => method !== 'GET' && !path.includes('selfsubjectaccessreviews'))
          .map(({ method, path }) => `${method} ${path}`),
      left: () =>
        stored(store)
          .filter(({ object }) => isOfTry(object))
          .map(({ resource, object }) => `${resource}/${object.metadata.name}`),
    });
    expect(versions()).toEqual(before);
    return worked;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}

const stored = (store: Playback | undefined) => [...(store?.log.current.values() ?? [])];

const isOfTry = ({ metadata }: KubeObject): boolean => metadata.labels?.['podexit/try'] !== undefined;

const withIdentity = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: {
    namespace,
    uid: randomUUID(),
    creationTimestamp: new Date().toISOString().replace(/\.\d+Z/, 'Z'),
    generation: 1,
    ...object.metadata,
  },
});

function controllersOf(cluster: Playback, behaviour: Behaviour): Interference {
  const timers = new Set<NodeJS.Timeout>();
  const after = (ms: number, run: () => void): void => {
    if (ms !== Infinity) timers.add(setTimeout(run, ms));
  };
  const all = (resource: string): KubeObject[] =>
    stored(cluster)
      .filter((one) => one.resource === resource)
      .map(({ object }) => object);
  const write = (resource: string, object: KubeObject, type: 'ADDED' | 'MODIFIED' | 'DELETED' = 'MODIFIED') =>
    cluster.write({ type, resource, object }).object;
  const newest = ({ metadata }: KubeObject) => cluster.get('pods', namespace, metadata.name);
  const dead = new Set<string>();
  const dropped = new Set<string>();
  /** Requests that a pod refused which had exited. */
  const refused = new Map<string, number>();

  function create(exchange: Call, resource: string): void {
    const sent = JSON.parse(exchange.request.body) as KubeObject;
    if (cluster.get(resource, namespace, sent.metadata.name))
      return exchange.json(409, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 409, message: 'exists' });
    const object = write(resource, withIdentity(sent), 'ADDED');
    exchange.json(201, object);
    if (resource === 'deployments') after(5, () => rollOut(object));
    if (resource === 'services') after(5, () => updateSlice(object));
  }

  function rollOut(deployment: KubeObject): void {
    const { name, uid, labels } = deployment.metadata;
    const set = withIdentity({
      kind: 'ReplicaSet',
      apiVersion: 'apps/v1',
      metadata: {
        name: `${name}-5d8f7c9b6`,
        labels,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true }],
      },
      spec: deployment.spec,
    });
    write('replicasets', set, 'ADDED');
    for (let count = 0; count < Number(valueAt(deployment, 'spec.replicas')); count++) startPod(set);
  }

  function startPod(set: KubeObject): void {
    if (!cluster.get('replicasets', namespace, set.metadata.name)) return;
    const { name, uid } = set.metadata;
    const pod = withIdentity({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: `${name}-${randomUUID().slice(0, 5)}`,
        labels: valueAt(set, 'spec.template.metadata.labels') as Record<string, string>,
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true }],
      },
      spec: { nodeName: 'node1', terminationGracePeriodSeconds: 30, ...(valueAt(set, 'spec.template.spec') as object) },
      status: { phase: 'Pending' },
    });
    write('pods', pod, 'ADDED');
    after(behaviour.readyMs ?? 50, () => {
      const current = newest(pod);
      if (!current) return;
      write('pods', { ...current, status: runningStatus(current) });
      updateSlices();
    });
  }

  function removePod(exchange: Call, pod: KubeObject): void {
    if (pod.metadata.deletionTimestamp !== undefined) return exchange.json(200, pod);
    const grace = Number(valueAt(pod, 'spec.terminationGracePeriodSeconds') ?? 30);
    const deletionTimestamp = new Date(Date.now() + grace * 1000).toISOString().replace(/\.\d+Z/, 'Z');
    const metadata = { ...pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: grace };
    const marked = write('pods', { ...pod, metadata });
    exchange.json(200, marked);
    const [owner] = recordsAt(pod, 'metadata.ownerReferences');
    const set = cluster.get('replicasets', namespace, String(owner?.name));
    if (set) after(10, () => startPod(set));
    after(behaviour.endpointLagMs ?? 20, () => drop(pod));
    after(20, () => write('events', killingOf(pod), 'ADDED'));
    const hookMs = Number(valueAt(recordsAt(pod, 'spec.containers')[0], 'lifecycle.preStop.sleep.seconds') ?? 0) * 1000;
    const endMs = 20 + hookMs;
    after(endMs, () => {
      dead.add(pod.metadata.name);
      const current = newest(pod) ?? marked;
      write('pods', { ...current, status: terminatedStatus(current) });
    });
    // The pod's sandbox is removed before the pod.
    after(endMs + 500, () => remove(pod));
  }

  function drop(pod: KubeObject): void {
    const { name } = pod.metadata;
    // However late its clients are: they have lost as many.
    if (dead.has(name) && (refused.get(name) ?? 0) < 6) return after(50, () => drop(pod));
    dropped.add(name);
    updateSlices();
  }

  function remove(pod: KubeObject): void {
    if (!dropped.has(pod.metadata.name)) return after(50, () => remove(pod));
    const current = newest(pod);
    if (current) write('pods', current, 'DELETED');
    updateSlices();
  }

  /** The garbage collector. */
  function collect(): void {
    for (const resource of ['deployments', 'services', 'replicasets', 'pods', 'endpointslices'])
      for (const object of all(resource)) {
        const owners = recordsAt(object, 'metadata.ownerReferences');
        const isOrphan = owners.length > 0 && owners.every(({ uid }) => !hasUid(uid));
        if (isOrphan && isOfTry(object)) write(resource, object, 'DELETED');
      }
  }
  const hasUid = (uid: unknown): boolean => stored(cluster).some(({ object }) => object.metadata.uid === uid);

  const updateSlices = (): void => all('services').forEach(updateSlice);
  function updateSlice(service: KubeObject): void {
    const { name, uid, labels = {} } = service.metadata;
    if (!isOfTry(service) || !cluster.get('services', namespace, name)) return;
    const endpoints = podsBehind(service).map((pod) => {
      const terminating = dropped.has(pod.metadata.name);
      const serving = isReady(pod);
      return {
        addresses: ['10.244.0.9'],
        conditions: { ready: serving && !terminating, serving, terminating },
        targetRef: { kind: 'Pod', namespace, name: pod.metadata.name, uid: pod.metadata.uid },
      };
    });
    const known = cluster.get('endpointslices', namespace, `${name}-x`);
    const slice = known ?? {
      ...withIdentity({
        kind: 'EndpointSlice',
        apiVersion: 'discovery.k8s.io/v1',
        metadata: {
          name: `${name}-x`,
          labels: { ...labels, 'kubernetes.io/service-name': name },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true }],
        },
      }),
      addressType: 'IPv4',
    };
    write('endpointslices', { ...slice, endpoints }, known ? 'MODIFIED' : 'ADDED');
  }

  const podsBehind = (service: KubeObject): KubeObject[] => {
    const wanted = Object.entries(valueAt(service, 'spec.selector') as Record<string, string>);
    return all('pods').filter(({ metadata }) => wanted.every(([key, value]) => metadata.labels?.[key] === value));
  };

  let turn = 0;
  function proxy(exchange: Call, name: string): void {
    const refuse = (message: string): void =>
      exchange.json(503, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 503, message });
    const service = cluster.get('services', namespace, name.replace(/:\d+$/, ''));
    const backends = service
      ? podsBehind(service).filter((pod) => isReady(pod) && !dropped.has(pod.metadata.name))
      : [];
    const pod = backends[(turn += 1) % Math.max(1, backends.length)];
    if (!pod) return refuse('no endpoints available for service');
    const { name: podName } = pod.metadata;
    if (!dead.has(podName)) return exchange.text(200, 'ok');
    refused.set(podName, (refused.get(podName) ?? 0) + 1);
    refuse('error trying to reach service: dial tcp 10.244.0.9:80: connect: connection refused');
  }

  return {
    async around(exchange, serve) {
      const { verb, kind, name = '', subresource, path } = exchange.request;
      if (behaviour.around?.(exchange)) return;
      const resource = kind?.plural ?? '';
      if (resource === 'services' && subresource === 'proxy') return proxy(exchange, decodeURIComponent(name));
      if (verb === 'create' && name === '' && kind && !path.includes('authorization'))
        return create(exchange, resource);
      const pod = resource === 'pods' && verb === 'delete' ? cluster.get('pods', namespace, name) : undefined;
      if (pod && isOfTry(pod)) return removePod(exchange, pod);
      await serve();
      // The garbage collector removes dependents level by level.
      if (verb === 'delete') for (const ms of [20, 40, 60]) after(ms, collect);
    },
    stop: () => timers.forEach(clearTimeout),
  };
}

const isReady = (pod: KubeObject): boolean =>
  recordsAt(pod, 'status.conditions').some(({ type, status }) => type === 'Ready' && status === 'True');

/** What the kubelet reports when it begins to stop the container. */
const killingOf = ({ metadata: { name, uid } }: KubeObject): KubeObject => ({
  kind: 'Event',
  apiVersion: 'v1',
  metadata: {
    ...{ name: `${name}.${(BigInt(Date.now()) * 1_000_000n).toString(16)}`, namespace, uid: randomUUID() },
    creationTimestamp: now(),
  },
  involvedObject: { kind: 'Pod', namespace, name, uid, apiVersion: 'v1', fieldPath: 'spec.containers{app}' },
  ...{ reason: 'Killing', message: 'Stopping container app', type: 'Normal', count: 1 },
  ...{ source: { component: 'kubelet', host: 'node1' }, firstTimestamp: now(), lastTimestamp: now() },
  ...{ reportingComponent: 'kubelet', reportingInstance: 'node1' },
});

const now = (): string => new Date().toISOString().replace(/\.\d+Z/, 'Z');

const runningStatus = (pod: KubeObject) => ({
  phase: 'Running',
  startTime: now(),
  podIP: '10.244.0.9',
  conditions: [
    { type: 'Ready', status: 'True', lastTransitionTime: now() },
    { type: 'ContainersReady', status: 'True', lastTransitionTime: now() },
  ],
  containerStatuses: recordsAt(pod, 'spec.containers').map(({ name, image }) => ({
    ...{ name, image, ready: true, started: true, restartCount: 0, containerID: 'containerd://1', imageID: 'x' },
    state: { running: { startedAt: now() } },
  })),
});

const terminatedStatus = (pod: KubeObject) => ({
  ...(pod.status as object),
  containerStatuses: recordsAt(pod, 'spec.containers').map(({ name, image }) => ({
    ...{ name, image, ready: false, started: false, restartCount: 0, containerID: 'containerd://1', imageID: 'x' },
    state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: now(), finishedAt: now() } },
  })),
});

/** A Deployment with a Service in front of it. The changes are merged into the Deployment. */
export function webApp(changes: object = {}): [deployment: KubeObject, service: KubeObject] {
  const labels = { app: 'web' };
  const container = {
    name: 'app',
    image: 'registry.example/web:1',
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
  };
  const deployment: KubeObject = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', labels },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [container] } },
    },
  };
  const service: KubeObject = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 'web' },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 'http', protocol: 'TCP' }] },
  };
  return [merged(deployment, changes) as KubeObject, service];
}
