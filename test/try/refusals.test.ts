/** What `try` refuses, with the reason, before any request that writes. */
import { expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import { webApp, withCluster } from './helpers/cluster.ts';

type Objects = ReturnType<typeof webApp>;
type PodSpec = Record<string, unknown>;

const withContainer =
  (fields: object) =>
  (podSpec: PodSpec): object => ({
    containers: (podSpec['containers'] as object[]).map((one) => ({ ...one, ...fields })),
  });

/** The web application with another kind or other fields of its spec. */
const changed = (change: (deployment: KubeObject) => object, kind = 'deployments'): Objects =>
  webApp().map(([resource, object]) =>
    resource === 'deployments' ? [kind, { ...object, ...change(object) }] : [resource, object],
  );

const quota = (hard: Record<string, string>, used: Record<string, string>): Objects => [
  ...webApp(withContainer({ resources: { requests: { cpu: '250m', memory: '1Gi' } } })),
  [
    'resourcequotas',
    { kind: 'ResourceQuota', apiVersion: 'v1', metadata: { name: 'team' }, spec: { hard }, status: { hard, used } },
  ],
];

const budget = (selector: object): Objects => [
  ...webApp(),
  [
    'poddisruptionbudgets',
    { kind: 'PodDisruptionBudget', apiVersion: 'policy/v1', metadata: { name: 'all' }, spec: { selector } },
  ],
];

const cases: [what: string, because: string, objects: Objects, target?: string][] = [
  [
    'a StatefulSet',
    'would have neither the name nor the data that each pod of a StatefulSet has of its own',
    changed(() => ({ kind: 'StatefulSet' }), 'statefulsets'),
    'statefulset/web',
  ],
  [
    'a DaemonSet',
    'would do the work of a node a second time',
    changed(() => ({ kind: 'DaemonSet' }), 'daemonsets'),
    'daemonset/web',
  ],
  [
    'a volume that one node can use',
    'would use its volume beside it',
    webApp((podSpec) => ({
      ...withContainer({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })(podSpec),
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    })),
  ],
  [
    'a raw block device of a claim',
    'would use its volume beside it',
    webApp(withContainer({ volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] })),
  ],
  [
    'a host port',
    'would take ports of its node',
    webApp(withContainer({ ports: [{ containerPort: 80, hostPort: 80 }] })),
  ],
  ['the network of the node', 'would use the network of its node', webApp(() => ({ hostNetwork: true }))],
  ['the processes of the node', 'would act on the processes of its node', webApp(() => ({ hostPID: true }))],
  ['leader election that is off', 'leader election is off', webApp(withContainer({ args: ['--leader-elect=false'] }))],
  [
    'leader election that is on',
    'would take part in its leader election',
    webApp(withContainer({ args: ['--leader-elect'] })),
  ],
  [
    'leader election by a variable',
    'would take part in its leader election',
    webApp(withContainer({ env: [{ name: 'ENABLE_LEADER_ELECTION', value: 'true' }] })),
  ],
  [
    'a graphics card',
    'would take a device',
    webApp(withContainer({ resources: { limits: { 'nvidia.com/gpu': '1' } } })),
  ],
  ['a claimed device', 'would take a device', webApp(() => ({ resourceClaims: [{ name: 'gpu' }] }))],
  ['a database', 'would be a store without its data', webApp(withContainer({ image: 'postgres:17' }))],
  [
    'strategy Recreate',
    'two pods must not',
    changed(({ spec }) => ({ spec: { ...(spec as object), strategy: { type: 'Recreate' } } })),
  ],
  [
    'a quota of pods that is nearly used up',
    'ResourceQuota team: pods 4 free, 5 needed',
    quota({ pods: '10' }, { pods: '6' }),
  ],
  [
    'a quota of CPU that is nearly used up',
    'ResourceQuota team: requests.cpu 1 free, 1.25 needed',
    quota({ 'requests.cpu': '3' }, { 'requests.cpu': '2000m' }),
  ],
  ['a budget that selects every pod', 'would be selected by PodDisruptionBudget all', budget({ matchLabels: {} })],
  [
    'a budget that selects what is not of another application',
    'would be selected by PodDisruptionBudget all',
    budget({ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['api'] }] }),
  ],
];

it.each(cases)('refuses %s', (_, because, objects, target = 'deployment/web') =>
  withCluster(objects, {}, async ({ flags, writes }) => {
    const { code, stderr } = await runMain(['try', target, '--yes', ...flags]);
    expect(stderr).toContain(`${target} cannot be tried: `);
    expect(stderr).toContain(because);
    expect(stderr).toContain('Nothing was created.');
    expect(code).toBe(1);
    expect(writes()).toEqual([]);
  }),
);

it('refuses a patch that adds what cannot be copied', () =>
  withCluster(webApp(), {}, async ({ flags, writes }) => {
    const patch = '{"spec":{"template":{"spec":{"hostNetwork":true}}}}';
    const { stderr } = await runMain(['try', 'deployment/web', '--patch', patch, '--yes', ...flags]);
    expect(stderr).toContain('would use the network of its node');
    expect(writes()).toEqual([]);
  }));

it('refuses a workload without a port that could be asked', () =>
  withCluster(
    webApp(withContainer({ ports: [] })).filter(([resource]) => resource !== 'services'),
    {},
    async ({ flags, writes }) => {
      const { stderr } = await runMain(['try', 'deployment/web', '--image', 'web:2', '--yes', ...flags]);
      expect(stderr).toContain('neither a Service nor a containerPort says where it answers');
      expect(writes()).toEqual([]);
    },
  ));
