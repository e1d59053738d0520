/** `check`: forecasts from what can be read, and nothing is deleted. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Loopback } from '../../src/demo/loopback.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { hookSecondsOf } from '../../src/run/hook-seconds.ts';
import { serving } from '../helpers/serving.ts';
import type { Serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

interface Checked {
  code: number;
  report: ExitReport;
  codes: string[];
}

async function check({ server, flags }: Serving, ...words: string[]): Promise<Checked> {
  const { code, stdout, stderr } = await runMain(['check', server.pod, '-o', 'json', ...flags, ...words]);
  expect(stderr).toBe('');
  const report = JSON.parse(stdout) as ExitReport;
  return { code, report, codes: report.verdict.findings.map((finding) => finding.code) };
}

interface Spec {
  containers: Record<string, unknown>[];
  initContainers?: Record<string, unknown>[];
  terminationGracePeriodSeconds?: number;
}

/** Rewrites the pod as another spec would have made it. */
async function rewrite({ url, namespace, pod, write }: Loopback, edit: (spec: Spec, pod: KubeObject) => void) {
  const answer = await fetch(`${url}/api/v1/namespaces/${namespace}/pods/${pod}`);
  const object = (await answer.json()) as KubeObject & { spec: Spec };
  edit(object.spec, object);
  write('pods', 'MODIFIED', object);
}

const container = (spec: Spec): Record<string, unknown> => spec.containers[0] ?? {};

describe('what is forecast', () => {
  it.each<[string, string[], string[], (spec: Spec, pod: KubeObject) => void]>([
    ['a plain pod behind a Service', ['drain-race'], ['prestop-heavy', 'no-signal-handling'], () => {}],
    [
      'a hook that takes half the grace',
      ['prestop-heavy'],
      ['drain-race', 'prestop-cut-off'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { sleep: { seconds: 5 } } }),
    ],
    [
      'a hook that leaves less than a quarter',
      ['grace-nearly-spent'],
      ['prestop-heavy'],
      (spec) => (container(spec)['lifecycle'] = { preStop: { exec: { command: ['sh', '-c', 'sleep 8'] } } }),
    ],
    [
      'a hook as long as the grace',
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
      'a shell as PID 1',
      ['no-signal-handling'],
      [],
      (spec) => (container(spec)['command'] = ['sh', '-c', 'node server.js']),
    ],
    [
      'a shell that becomes the application',
      [],
      ['no-signal-handling'],
      (spec) => Object.assign(container(spec), { command: ['sh', '-c', 'exec node server.js'], args: [] }),
    ],
    ['no readiness probe', ['stays-ready'], [], (spec) => delete container(spec)['readinessProbe']],
    [
      'a sidecar',
      ['sidecar-killed'],
      [],
      (spec) => (spec.initContainers = [{ name: 'proxy', restartPolicy: 'Always' }]),
    ],
    ['finalizers', ['finalizer-held'], [], (_, pod) => Object.assign(pod.metadata, { finalizers: ['example.com/a'] })],
    ['no owner', ['unmanaged-pod'], [], (_, pod) => Object.assign(pod.metadata, { ownerReferences: [] })],
    ['a grace of 0', ['force-deleted'], [], (spec) => (spec.terminationGracePeriodSeconds = 0)],
  ])('%s', async (_title, must, mustNot, edit) =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, edit);
      const { report, codes } = await check(one);
      expect(codes).toEqual(expect.arrayContaining(must));
      expect(codes.filter((code) => mustNot.includes(code))).toEqual([]);
      expect(report.verdict.findings.every(({ message }) => message.startsWith('forecast: '))).toBe(true);
      expect(one.server.requests.map(({ method }) => method)).not.toContain('DELETE');
    }),
  );

  it('publishNotReadyAddresses, and Services without another endpoint', () =>
    serving('two-services', {}, async (one) => {
      const { report } = await check(one);
      const messages = report.verdict.findings.map(({ message }) => message).join('\n');
      expect(messages).toMatch(/Service internal sets publishNotReadyAddresses/);
      expect(messages).toMatch(/Service public has no other ready endpoint/);
      expect(report.endpoints.map(({ service, otherReady }) => [service, otherReady])).toEqual([
        ['internal', 0],
        ['public', 0],
      ]);
    }));

  it('a pod in which nothing runs has nothing to stop', () =>
    serving('completed', {}, async (one) => {
      const { report, codes } = await check(one);
      expect(report.verdict.outcome).toBe('removed');
      expect(codes).not.toContain('no-signal-handling');
    }));
});

describe('outcome, gates and exit code', () => {
  it('a report of the usual shape, which exits 0', () =>
    serving('graceful-exit', {}, async (one) => {
      const { code, report } = await check(one);
      expect(code).toBe(0);
      expect(report).toMatchObject({
        mode: 'check',
        marks: [],
        phases: [],
        verdict: { outcome: 'graceful', exitCode: 0 },
      });
      const cited = report.verdict.findings.flatMap(({ evidence }) => evidence);
      expect(report.observations.map(({ seq }) => seq)).toEqual(expect.arrayContaining(cited));
    }));

  it('a hook that is certain to be cut off exits 2', () =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, (spec) => (container(spec)['lifecycle'] = { preStop: { sleep: { seconds: 10 } } }));
      expect(await check(one)).toMatchObject({ code: 2, report: { verdict: { outcome: 'overran' } } });
      expect((await check(one, '--warn-only')).code).toBe(0);
      expect((await check(one, '--grace-period=60')).report.verdict.outcome).toBe('graceful');
    }));

  it('--fail-on judges forecasts, limits on an exit wait for one', () =>
    serving('two-services', {}, async (one) => {
      const { code, report } = await check(one, '--fail-on=last-endpoint', '--max-duration=1s');
      expect(code).toBe(2);
      expect(report.verdict.gates).toMatchObject([
        { name: expect.stringContaining('duration') as string, passed: true },
        { name: 'fail-on last-endpoint', passed: false },
      ]);
    }));

  it('a shell that may become the application fails no gate, one that waits for it does', () =>
    serving('graceful-exit', {}, async (one) => {
      const withLine = async (line: string) => {
        await rewrite(one.server, (spec) => Object.assign(container(spec), { command: ['sh', '-c'], args: [line] }));
        return (await check(one, '--fail-on=no-signal-handling')).code;
      };
      expect(await withLine('echo hi && sh /c/run.sh')).toBe(0);
      expect(await withLine('sh /c/run.sh & wait $!')).toBe(2);
    }));

  it('what was read is told in words', () =>
    serving('graceful-exit', {}, async ({ server, flags }) => {
      const { stdout } = await runMain(['check', server.pod, ...flags]);
      expect(stdout).toMatch(/seen in pod .*; the list of endpointslices \(1 entry\)/);
    }));

  it('a long grace against --timeout', () =>
    serving('graceful-exit', {}, async (one) => {
      const { code, report } = await check(one, '--timeout=5s');
      expect(report.verdict.gates).toMatchObject([{ name: 'timeout', passed: false }]);
      expect(code).toBe(2);
      expect((await check(one, '--timeout=1m')).code).toBe(0);
    }));

  it.each(['completed', 'pending', 'crashloop'])('no grace against --timeout where nothing runs: %s', async (name) =>
    serving(name, {}, async (one) => {
      const { code, report } = await check(one, '--timeout=3s');
      expect(report.verdict.gates).toMatchObject([
        { name: 'timeout', passed: true, message: expect.stringContaining('nothing runs in the pod') as string },
      ]);
      expect(code).toBe(0);
    }),
  );

  it('a budget forbids an eviction, and is told of a deletion', () =>
    serving('graceful-exit', {}, async (one) => {
      one.server.write('poddisruptionbudgets', 'ADDED', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'keep', namespace: 'graceful-exit', uid: 'b' },
        spec: { selector: { matchLabels: { app: 'checkout' } } },
        status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 },
      });
      const gate = {
        name: 'disruption-budget',
        message: expect.stringContaining('"keep" allows 0 disruptions') as string,
      };
      expect(await check(one)).toMatchObject({ code: 0, report: { verdict: { gates: [{ ...gate, passed: true }] } } });
      expect(await check(one, '--evict')).toMatchObject({
        code: 2,
        report: { verdict: { gates: [{ ...gate, passed: false }] } },
      });
    }));

  it('a budget lets an unready pod be evicted where its policy is AlwaysAllow', () =>
    serving('graceful-exit', {}, async (one) => {
      await rewrite(one.server, (_, pod) =>
        Object.assign(pod['status'] as object, { conditions: [{ type: 'Ready', status: 'False' }] }),
      );
      const evicted = async (unhealthyPodEvictionPolicy?: string) => {
        one.server.write('poddisruptionbudgets', 'ADDED', {
          apiVersion: 'policy/v1',
          kind: 'PodDisruptionBudget',
          metadata: { name: 'keep', namespace: 'graceful-exit', uid: 'b' },
          spec: { selector: { matchLabels: { app: 'checkout' } }, unhealthyPodEvictionPolicy },
          status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 2 },
        });
        return (await check(one, '--evict')).code;
      };
      expect(await evicted()).toBe(2);
      expect(await evicted('IfHealthyBudget')).toBe(2);
      expect(await evicted('AlwaysAllow')).toBe(0);
    }));
});

it('a pod that ends already is sent to --attach', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    await rewrite(server, (_, pod) => Object.assign(pod.metadata, { deletionTimestamp: '2031-01-01T00:00:00Z' }));
    const ran = await runMain(['check', server.pod, ...flags]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/is being deleted already[\s\S]*--attach/);
  }));

it('the mirror of a static pod is refused in the words of the command itself', () =>
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

it('what may not be read is a gap, and only that is missing', () =>
  serving(
    'graceful-exit',
    { faults: [{ kind: 'status', resource: 'services', code: 403 }] },
    async ({ server, flags }) => {
      const { code, stdout } = await runMain(['check', server.pod, '-o', 'json', ...flags]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ gaps: [{ resource: 'services', cause: 'refused' }] });
    },
  ));

it('lines for a person', () =>
  serving('graceful-exit', {}, async ({ server, flags }) => {
    const { stdout } = await runMain(['check', server.pod, ...flags]);
    expect(stdout).toMatch(/nothing was deleted/);
    expect(stdout).toMatch(/info drain-race: forecast: app has no preStop hook/);
  }));

it.each([
  [{ sleep: { seconds: 7 } }, 7],
  [{ exec: { command: ['sleep', '5'] } }, 5],
  [{ exec: { command: ['/bin/sh', '-c', 'exec sleep 1.5m;'] } }, 90],
  [{ exec: { command: ['sh', '-c', 'sleep 5; kill -TERM 1'] } }, undefined],
  [{ httpGet: { port: 80 } }, undefined],
])('the length of hook %j is %s', (preStop, seconds) => {
  const pod = { spec: { containers: [{ name: 'app', lifecycle: { preStop } }] } };
  expect(hookSecondsOf(pod).get('app')).toBe(seconds);
});
