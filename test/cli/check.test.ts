/** `check` of a pod and of a workload on the embedded server: it judges what it can read, and deletes nothing. */
import { describe, expect, it } from 'vitest';
import type { CheckedObject, CheckReport } from '../../src/advice/check-report.ts';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Loopback } from '../../src/demo/loopback.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

interface Checked {
  code: number;
  report: CheckReport;
  one: CheckedObject;
  problems: string[];
}

async function check({ server, flags }: Serving, ...words: string[]): Promise<Checked> {
  const { code, stdout, stderr } = await runMain(['check', server.pod, '-o', 'json', ...flags, ...words]);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as CheckReport;
  const [one] = report.checks;
  if (!one) throw new Error('nothing was checked');
  const problems = one.findings.filter(({ severity }) => severity !== 'info').map((finding) => finding.code);
  return { code, report, one, problems };
}

interface Spec {
  containers: Record<string, unknown>[];
  initContainers?: Record<string, unknown>[];
  terminationGracePeriodSeconds?: number;
}

/** Changes the spec of the pod on the server. */
async function rewrite({ url, namespace, pod, write }: Loopback, edit: (spec: Spec, pod: KubeObject) => void) {
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods/${pod}`);
  const object = (await answer.json()) as KubeObject & { spec: Spec };
  edit(object.spec, object);
  write('pods', 'MODIFIED', object);
}

const container = (spec: Spec): Record<string, unknown> => spec.containers[0] ?? {};

describe('findings', () => {
  it.each<[string, string[], string[], (spec: Spec, pod: KubeObject) => void]>([
    ['a plain pod behind a Service', ['drain-race'], ['prestop-heavy', 'shell-as-pid-1'], () => {}],
    [
      'a hook that takes more than half of the grace period',
      ['prestop-heavy'],
      ['drain-race', 'prestop-cut-off'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { sleep: { seconds: 6 } } }),
    ],
    [
      'a hook that leaves less than a quarter',
      ['grace-nearly-spent'],
      ['prestop-heavy'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { exec: { command: ['sh', '-c', 'sleep 8'] } } }),
    ],
    [
      'a hook that sleeps among other commands',
      ['grace-nearly-spent'],
      ['drain-race'],
      (spec) =>
        (container(spec)['lifecycle'] = { preStop: { exec: { command: ['sh', '-c', 'sleep 8 && nginx -s quit'] } } }),
    ],
    [
      'a hook as long as the grace period',
      ['prestop-cut-off'],
      ['grace-nearly-spent'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { exec: { command: ['/bin/sleep', '1m'] } } }),
    ],
    [
      'a tcpSocket hook',
      ['prestop-failed'],
      ['drain-race'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { tcpSocket: { port: 80 } } }),
    ],
    [
      'a shell as PID 1 that waits for the application',
      ['shell-as-pid-1'],
      [],
      (spec) => Object.assign(container(spec), { command: ['sh', '-c'], args: ['sh /c/run.sh & wait $!'] }),
    ],
    [
      'a trap that waits for a program in the foreground',
      ['shell-as-pid-1'],
      [],
      (spec) => (container(spec)['command'] = ['sh', '-c', 'trap "echo bye" TERM; node server.js']),
    ],
    [
      'a shell that becomes the application',
      [],
      ['shell-as-pid-1', 'no-signal-handling'],
      (spec) => Object.assign(container(spec), { command: ['sh', '-c', 'exec node server.js'], args: [] }),
    ],
    [
      'a shell that may become the application',
      [],
      ['shell-as-pid-1'],
      (spec) => (container(spec)['command'] = ['sh', '-c', 'echo hi && node server.js']),
    ],
    ['no readiness probe', ['stays-ready'], [], (spec) => delete container(spec)['readinessProbe']],
    ['finalizers', ['finalizer-held'], [], (_, pod) => Object.assign(pod.metadata, { finalizers: ['example.com/a'] })],
    ['a grace period of 0', ['force-deleted'], [], (spec) => (spec.terminationGracePeriodSeconds = 0)],
  ])('%s', async (_title, must, mustNot, edit) =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, edit);
      const { code, problems } = await check(one);
      expect(code).toBe(0);
      expect(problems).toEqual(expect.arrayContaining(must));
      expect(problems.filter((problem) => mustNot.includes(problem))).toEqual([]);
      expect(one.server.requests.map(({ method }) => method)).not.toContain('DELETE');
    }),
  );

  it('a harmless fact is a note', () =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, (_, pod) => Object.assign(pod.metadata, { ownerReferences: [] }));
      const { findings } = (await check(one)).one;
      const notes = findings.filter(({ severity }) => severity === 'info').map(({ code }) => code);
      expect(notes).toEqual(['unmanaged-pod']);
    }));

  it('an unknown shell is "cannot tell", not fine', () =>
    serving('prestop-sleep', {}, async (one) => {
      await rewrite(one.server, (spec) => (container(spec)['command'] = ['sh', '-c', 'node server.js']));
      await rewrite(one.server, (_, pod) => Object.assign(pod.metadata, { labels: {} }));
      one.server.write('endpointslices', 'DELETED', await firstOf(one.server, 'endpointslices'));
      const { one: checked } = await check(one);
      expect(checked.judgement).toBe('cannot-tell');
      expect(checked.sentence).toMatch(/^cannot tell: whether app handles SIGTERM/);
    }));
});

async function firstOf({ url, namespace }: Loopback, resource: string): Promise<KubeObject> {
  const answer = await fetch(`${url}/apis/discovery.k8s.io/v1/namespaces/${namespace}/${resource}`);
  const { items } = (await answer.json()) as { items: KubeObject[] };
  const [first] = items;
  if (!first) throw new Error(`no ${resource}`);
  return { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', ...first };
}

describe('a workload', () => {
  it.each([
    [1, true],
    [2, false],
  ])('with one replica behind a Service with %d ready endpoints is its last one: %s', (ready, isLast) =>
    serving('graceful-exit', {}, async ({ server, flags }) => {
      const url = `${server.url}/apis/apps/v1/namespaces/${server.namespace}/deployments/checkout`;
      const deployment = (await (await fetch(url)).json()) as KubeObject & { spec: { replicas: number } };
      deployment.spec.replicas = 1;
      server.write('deployments', 'MODIFIED', deployment);
      const slice = (await firstOf(server, 'endpointslices')) as KubeObject & { endpoints: unknown[] };
      slice.endpoints.splice(ready);
      server.write('endpointslices', 'MODIFIED', slice);
      const { stdout } = await runMain(['check', 'deployment/checkout', '-o', 'json', ...flags]);
      const codes = (JSON.parse(stdout) as CheckReport).checks[0]?.findings.map(({ code }) => code);
      expect(codes?.includes('last-endpoint')).toBe(isLast);
    }),
  );
});

describe('gates and the exit code', () => {
  it.each([
    [undefined, 5],
    ['IfHealthyBudget', 5],
    ['AlwaysAllow', 0],
  ])('a PodDisruptionBudget and a pod that is not ready: unhealthyPodEvictionPolicy %s', async (policy, expected) =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, (_, pod) =>
        Object.assign(pod['status'] as object, { conditions: [{ type: 'Ready', status: 'False' }] }),
      );
      one.server.write('poddisruptionbudgets', 'ADDED', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'keep', namespace: 'graceful-exit', uid: 'b' },
        spec: { selector: { matchLabels: { app: 'checkout' } }, unhealthyPodEvictionPolicy: policy },
        status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 },
      });
      expect((await check(one, '--evict')).code).toBe(expected);
      const blocked = (await check(one)).problems.includes('budget-blocks-eviction');
      expect(blocked).toBe(expected === 5);
    }),
  );
});

it('suggests --attach for a terminating pod', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    await rewrite(server, (_, pod) => Object.assign(pod.metadata, { deletionTimestamp: '2031-01-01T00:00:00Z' }));
    const ran = await runMain(['check', server.pod, ...flags]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/is being deleted already[\s\S]*--attach/);
  }));

it('a mirror pod is refused with the same message as its deletion', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    await rewrite(server, (_, pod) =>
      Object.assign(pod.metadata, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    );
    const checked = await runMain(['check', server.pod, ...flags]);
    expect(checked).toMatchObject({ code: 1, stdout: '' });
    expect(checked.stderr).toMatch(/mirror of a static pod: deleting it stops nothing/);
    expect(checked.stderr).toBe((await runMain([server.pod, ...flags])).stderr);
    const { stdout } = await runMain(['check', server.pod, '-o', 'json', ...flags]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'Error', code: 'pod.mirror' });
  }));
