/** Generated manifests of a workload with its Services, autoscaler, claim and the traits that decide what may change. */
import fc from 'fast-check';
import type { KubernetesObject } from '@kubernetes/client-node';
import { neighboursIn } from '../../../src/advice/neighbours.ts';
import { situationOf, type Situation } from '../../../src/advice/situation.ts';

/** Command lines that handle SIGTERM, do not, or say nothing. */
const commands = [
  [],
  ['/app'],
  ['sh', '-c', 'trap "" TERM; exec /app'],
  ['sleep', 'infinity'],
  ['sh', '-c', '/app; /clean-up'],
  ['sh', '-c', 'trap "exit 0" TERM; while :; do sleep 1 & wait $!; done'],
];

const hooks = [
  undefined,
  undefined,
  { sleep: { seconds: 5 } },
  { sleep: { seconds: 15 } },
  { exec: { command: ['sh', '-c', 'sleep 10; /drain'] } },
  { exec: { command: ['nginx', '-s', 'quit'] } },
  { exec: { command: ['/drain'] } },
  { httpGet: { path: '/drain', port: 80 } },
  { tcpSocket: { port: 80 } },
];

const container = (name: string) =>
  fc
    .record({
      image: fc.constantFrom(
        'app',
        'nginx:1.27',
        'redis:7',
        'php:8-fpm',
        'gcr.io/distroless/base',
        'fluent/fluent-bit',
      ),
      command: fc.constantFrom(...commands),
      preStop: fc.constantFrom(...hooks),
      port: fc.constantFrom(
        undefined,
        { containerPort: 80 },
        { containerPort: 9000 },
        { containerPort: 80, hostPort: 80 },
      ),
      hasProbe: fc.boolean(),
      args: fc.constantFrom([], [], ['--shutdown-timeout=60s'], ['--leader-elect=false']),
      limits: fc.constantFrom({}, {}, { 'nvidia.com/gpu': 1 }),
      mounts: fc.boolean(),
      probeGrace: fc.constantFrom(undefined, undefined, 5),
    })
    .map(({ command, preStop, port, hasProbe, limits, mounts, probeGrace, ...rest }) => ({
      name,
      ...rest,
      command: command.length > 0 ? command : undefined,
      lifecycle: preStop && { preStop },
      ports: port && [port],
      readinessProbe: hasProbe ? { tcpSocket: { port: 80 } } : undefined,
      livenessProbe: probeGrace && { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: probeGrace },
      resources: { limits },
      volumeMounts: mounts ? [{ name: 'data', mountPath: '/data' }] : undefined,
    }));

const amount = fc.constantFrom<number | string | undefined>(undefined, 0, 1, 3, '25%', '100%');

/** The objects of one input, the workload first. */
export const inputs = fc
  .record({
    kind: fc.constantFrom('Deployment', 'Deployment', 'Deployment', 'StatefulSet', 'DaemonSet', 'Pod', 'CronJob'),
    replicas: fc.constantFrom(undefined, 0, 1, 2, 3),
    type: fc.constantFrom('RollingUpdate', 'RollingUpdate', 'Recreate', 'OnDelete'),
    maxUnavailable: amount,
    maxSurge: amount,
    graceSeconds: fc.constantFrom(undefined, 0, 2, 10, 30, 60, 700),
    containers: fc
      .integer({ min: 1, max: 3 })
      .chain((count) => fc.tuple(...['web', 'worker', 'fluent-bit'].slice(0, count).map(container))),
    sidecar: fc.option(container('proxy'), { nil: undefined }),
    volume: fc.constantFrom(undefined, { emptyDir: {} }, { persistentVolumeClaim: { claimName: 'data' } }),
    modes: fc.constantFrom(undefined, ['ReadWriteOnce'], ['ReadWriteMany']),
    service: fc.constantFrom(undefined, {}, {}, { clusterIP: 'None' }, { internalTrafficPolicy: 'Local' }),
    portName: fc.constantFrom('http', 'http', 'metrics'),
    minReplicas: fc.constantFrom(undefined, undefined, 1, 2),
    nodeSelector: fc.constantFrom({}, {}, { 'cloud.google.com/gke-spot': 'true' }),
    hostNetwork: fc.constantFrom(false, false, false, true),
    readinessGates: fc.constantFrom([], [], [{ conditionType: 'target-health.elbv2.k8s.aws/x' }]),
  })
  .map((one): KubernetesObject[] => {
    const labels = { app: 'web' };
    const metadata = { name: 'web' };
    const podSpec = {
      terminationGracePeriodSeconds: one.graceSeconds,
      containers: one.containers,
      initContainers: one.sidecar && [{ ...one.sidecar, restartPolicy: 'Always' }],
      volumes: [{ name: 'data', ...(one.volume ?? { emptyDir: {} }) }],
      nodeSelector: one.nodeSelector,
      hostNetwork: one.hostNetwork,
      readinessGates: one.readinessGates,
    };
    const template = { metadata: { labels }, spec: podSpec };
    const isRolling = one.type === 'RollingUpdate';
    const { maxUnavailable, maxSurge } = one;
    const strategy = { type: one.type, rollingUpdate: isRolling ? { maxUnavailable, maxSurge } : undefined };
    const spec =
      one.kind === 'Pod'
        ? podSpec
        : one.kind === 'CronJob'
          ? { jobTemplate: { spec: { template } } }
          : { replicas: one.replicas, [one.kind === 'Deployment' ? 'strategy' : 'updateStrategy']: strategy, template };
    const workload = { kind: one.kind, metadata: one.kind === 'Pod' ? { ...metadata, labels } : metadata, spec };
    const ports = [{ name: one.portName, port: 80 }];
    const scaleTargetRef = { kind: one.kind, name: 'web' };
    return JSON.parse(
      JSON.stringify([
        workload,
        ...(one.service ? [{ kind: 'Service', metadata, spec: { ...one.service, selector: labels, ports } }] : []),
        ...(one.minReplicas
          ? [{ kind: 'HorizontalPodAutoscaler', metadata, spec: { scaleTargetRef, minReplicas: one.minReplicas } }]
          : []),
        ...(one.modes
          ? [{ kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: { accessModes: one.modes } }]
          : []),
      ]),
    ) as KubernetesObject[];
  });

export function readSituation(objects: readonly KubernetesObject[]): Situation {
  const [workload = {}] = objects;
  return situationOf(workload, neighboursIn(objects));
}
