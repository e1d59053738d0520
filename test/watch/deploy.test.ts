/** The files of deploy/ for watch: what they name exists, and they grant what a watch asks for. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/kube.ts';
import { workloadOfPod } from '../../src/watch/counts.ts';
import { createMetrics } from '../../src/watch/metrics.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { alertRules, deployed, panels } from './helpers/deployed.ts';
import { playing, watchUntil } from './helpers/watching.ts';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}
interface Kube {
  kind: string;
  rules?: Rule[];
  spec: Record<string, unknown>;
}
interface Template {
  spec: {
    securityContext: object;
    containers: { args: string[]; securityContext: object; [probe: string]: unknown }[];
  };
}

const manifests = loadAll(deployed('watch.yaml')) as Kube[];
const of = (kind: string): Kube => manifests.find((one) => one.kind === kind) as Kube;

describe('deploy/watch.yaml', () => {
  const { spec } = of('Deployment');
  const { template } = spec as { template: Template };
  const [container] = template.spec.containers;

  it('grants what a watch asks the API server for, and nothing else', async () => {
    const asked = await playing('second/rollout-25', async ({ flags, server }) => {
      await watchUntil(flags, (printed) => printed.includes('✔'));
      return server.requests.map(
        ({ verb, resource, subresource }) => `${verb} ${[resource, subresource].filter(Boolean).join('/')}`,
      );
    });
    const granted = (of('ClusterRole').rules ?? []).flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    );
    // The pods of the recording belong to a Deployment; a pod is read alone to see whether it is still there.
    const others = ['statefulsets', 'daemonsets', 'jobs', 'cronjobs'].map((owner) => `watch ${owner}`);
    const all = [...asked, ...others, 'get pods'];
    // Where the API server cannot send the state in a watch, it is listed.
    const needed = all.flatMap((one) => [one, one.replace('watch ', 'list ')]);
    expect([...granted].sort()).toEqual([...new Set(needed)].sort());
  });

  it('names the API group of each resource', () => {
    const groups = (of('ClusterRole').rules ?? []).flatMap(({ apiGroups: [group], resources }) =>
      resources.map((resource) => [resource, group]),
    );
    expect(Object.fromEntries(groups)).toEqual({
      ...Object.fromEntries(
        ['pods', 'pods/log', 'namespaces', 'services', 'events', 'nodes'].map((resource) => [resource, '']),
      ),
      endpointslices: 'discovery.k8s.io',
      ...Object.fromEntries(
        ['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map((resource) => [resource, 'apps']),
      ),
      jobs: 'batch',
      cronjobs: 'batch',
      leases: 'coordination.k8s.io',
    });
  });

  it('runs one pod at a time, so that nothing is counted twice', () => {
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  });

  it('meets the restricted Pod Security Standard', () => {
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('has arguments that the command takes, and probes of paths that it serves', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
    const args = (container?.args ?? []).map((word) =>
      word.replace('9464', '127.0.0.1:0').replace('/var/podexit/exits', folder),
    );
    const { stderr } = await runMain([...args, '--kubeconfig', '/nowhere']);
    expect(stderr).toContain('podexit: metrics at ');
    expect(stderr).toContain('/nowhere');
    expect(stderr).not.toContain('See: kubectl podexit --help');
    expect(container).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz', port: 'metrics' } },
      readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' } },
      ports: [{ name: 'metrics', containerPort: 9464 }],
    });
  });
});

it('deploy/watch.yaml has no object in a namespace of its own, which kubectl apply -n would refuse', () => {
  const metadata = (loadAll(deployed('watch.yaml')) as { metadata: { namespace?: string } }[]).map(
    (one) => one.metadata,
  );
  expect(metadata.filter(({ namespace }) => namespace !== undefined)).toEqual([]);
});

describe('the dashboard and the alerts', () => {
  const queries = [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...alertRules.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ];
  let served = '';
  beforeAll(async () => {
    const health = { open: 0, pods: 0, streams: { up: 0, lost: 0 } };
    served = await createMetrics('0.0.0', () => health).registry.metrics();
  });

  it('ask for metrics that a watch serves', () => {
    const names = [...served.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`] : [name],
    );
    const asked = queries.flatMap((query) =>
      [...query.matchAll(/(?<![\w:])(?:podexit|process)_\w+/g)].map(([name]) => name),
    );
    expect(queries.length).toBeGreaterThan(15);
    expect(asked.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('select and group by labels that these metrics have', () => {
    const labels = ['namespace', 'workload', 'outcome', 'trigger', 'service', 'phase', 'le', 'job'];
    const used = queries.flatMap((query) => [
      ...[...query.matchAll(/by \(([\w, ]+)\)/g)].flatMap(([, names = '']) => names.split(/, */)),
      ...[...query.matchAll(/(\w+)(?:=|=~|!~|!=)"/g)].map(([, name = '']) => name),
    ]);
    expect(used.length).toBeGreaterThan(10);
    expect(used.filter((name) => !labels.includes(name))).toEqual([]);
  });

  it('name each panel once', () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});

it('the metrics stay within 2,000 series, whatever the cluster contains', async () => {
  const health = { open: 0, pods: 0, streams: { up: 0, lost: 0 } };
  const metrics = createMetrics('0.0.0', () => health);
  for (let index = 0; index < 5000; index++) {
    const metadata = { name: `web-${index}`, namespace: `ns-${index}`, uid: `u${index}` };
    const pod: Pod = { kind: 'Pod', metadata, spec: { containers: [] }, status: {} };
    const end = { pod, container: 'app', outcome: 'failed', trigger: 'restart', restarts: 1, at: index } as const;
    metrics.exit({ kind: 'container', ...end, place: workloadOfPod(pod) });
    metrics.noReady(`ns-${index}`, `web-${index}`, 1000);
  }
  const series = (await metrics.registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(series.length).toBeLessThanOrEqual(2000);
  const counted = series.filter((line) => line.startsWith('podexit_exits_total'));
  expect(counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(5000);
  expect(counted.join('\n')).toContain('namespace="other",workload="other"');
});
