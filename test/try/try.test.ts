/** `try` from the command line to its card, against the embedded API server. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/run/clock.ts';
import type { TryReport } from '../../src/try/card.ts';
import { runMain, type Pretending } from '../cli/helpers/in-process.ts';
import { bin } from '../helpers/built.ts';
import { faultsBy } from '../helpers/schemas.ts';
import { webApp, withCluster, type TryCluster } from './helpers/cluster.ts';

const sleeping = (seconds: number) =>
  `{"spec":{"template":{"spec":{"containers":[{"name":"app","lifecycle":{"preStop":{"sleep":{"seconds":${seconds}}}}}]}}}}`;
const patch = sleeping(1);

const tryWeb = ({ flags }: TryCluster, words: readonly string[], pretending: Pretending = {}) =>
  runMain(['try', 'deployment/web', ...words, ...flags], { random: Math.random, ...pretending });

describe.concurrent('an application that exits at once, behind a Service that drops it late', () => {
  it('loses fewer requests with a preStop sleep, and the card says so', () =>
    withCluster(webApp(), { endpointLagMs: 500 }, async (cluster) => {
      const before = cluster.versions();
      const words = ['--patch', patch, '--yes', '--runs', '2', '--fail-on', 'worse', '-o', 'json'];
      const { code, stdout, stderr } = await tryWeb(cluster, words);
      expect(code, stderr).toBe(0);
      const report = JSON.parse(stdout) as TryReport;
      expect(faultsBy('try-report', report)).toEqual([]);
      expect(report).toMatchObject({
        change: 'better',
        patch: 'containers.app.lifecycle.preStop.sleep.seconds none → 1',
        advice: 'apply it',
        workload: { kind: 'Deployment', name: 'web' },
        via: 'service-proxy',
        before: { exits: 2, exitsWithLoss: 2 },
        after: { exits: 2, requests: { failed: 0 } },
      });
      expect(report.before.requests.failed).toBeGreaterThan(3);
      expect(report.summary).toMatch(/^the patch helps: requests lost in an exit: \S+ → 0/);
      expect(cluster.left()).toEqual([]);
      expect(cluster.versions()).toEqual(before);
    }));

  it('makes a pipeline fail where the patched copy loses requests', () =>
    withCluster(webApp(), { endpointLagMs: 1500 }, async (cluster) => {
      const { code, stdout } = await tryWeb(cluster, ['--patch', patch, '--yes', '--runs', '1', '--fail-on', 'lost']);
      expect(code).toBe(5);
      expect(stdout).toMatch(/requests lost +\d+ of \d+ +\d+ of \d+/);
      expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^(the patch|no gain shown)/);
      expect(cluster.left()).toEqual([]);
    }));
});

describe.concurrent('the copies are removed', () => {
  it('at a signal, and the command says which', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const listeners = new Set<(signal: 'SIGTERM') => void>();
      const leave = (): void => listeners.forEach((listener) => listener('SIGTERM'));
      const printed = await tryWeb(cluster, ['--patch', patch, '--yes'], {
        onSignal: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
        onStderr: (text) => void (text.includes('created two copies') && setTimeout(1500).then(leave)),
      });
      expect(printed.code).toBe(143);
      expect(printed.stderr).toContain('SIGTERM: removing the copies');
      expect(cluster.left()).toEqual([]);
    }));

  it('at a signal, or the error names what the server keeps', () => {
    const listeners = new Set<(signal: 'SIGTERM') => void>();
    let aheadMs = 0;
    const around: ReturnType<typeof refusing> = (exchange) => {
      const isRefused = refusing('DELETE', 'deployments')(exchange);
      if (isRefused) aheadMs = 600_000;
      return isRefused;
    };
    return withCluster(webApp(), { around }, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch, '--yes'], {
        clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
        onSignal: (listener) => (listeners.add(listener), () => listeners.delete(listener)),
        onStderr: (text) =>
          void (text.includes('created two copies') && listeners.forEach((listener) => listener('SIGTERM'))),
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(/not everything could be removed in time: deployment\/podexit-try-/);
      expect(stderr).toContain('kubectl podexit try --cleanup');
      expect(stderr).not.toContain('are removed');
    });
  });

  it('if a copy does not become ready in time, and the reason is named', () =>
    withCluster(webApp(), { readyMs: Infinity }, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch, '--yes', '--timeout', '1s']);
      expect(code).toBe(1);
      expect(stderr).toContain('0 of 2 pods of podexit-try-');
      expect(stderr).toContain('are ready after 1s');
      expect(cluster.left()).toEqual([]);
    }));

  it('if the server refuses one of their objects', () =>
    withCluster(webApp(), { around: refusing('POST', 'services') }, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch, '--yes']);
      expect(code).toBe(1);
      expect(stderr).toContain('could not be created (403: denied by policy)');
      expect(cluster.left()).toEqual([]);
    }));

  it('even if the server cannot be reached for a while', () => {
    let brokenUntil = 0;
    const around = ({ request, cut }: Parameters<ReturnType<typeof refusing>>[0]): boolean => {
      if (request.method === 'DELETE' && brokenUntil === 0) brokenUntil = Date.now() + 2000;
      const isBroken = Date.now() < brokenUntil;
      if (isBroken) cut();
      return isBroken;
    };
    return withCluster(webApp(), { readyMs: Infinity, around }, async (cluster) => {
      const { stderr } = await tryWeb(cluster, ['--patch', patch, '--yes', '--timeout', '500ms']);
      expect(stderr).toContain('removing the copies');
      expect(brokenUntil).toBeGreaterThan(0);
      expect(cluster.left()).toEqual([]);
    });
  });
});

describe.concurrent('what a killed run left', () => {
  const owner = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'podexit-try-abc123', uid: 'owner-uid', labels: { 'podexit/try': 'abc123' } },
    data: { workload: 'deployment/web', startedAt: '2026-11-28T10:00:00.000Z' },
  };
  const orphan = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name: 'podexit-try-abc123-today', labels: { 'podexit/try': 'abc123' } },
    spec: { replicas: 0 },
  };
  const objects = [...webApp(), ['configmaps', owner], ['deployments', orphan]] as ReturnType<typeof webApp>;

  it('is removed with --cleanup', () =>
    withCluster(webApp(), {}, async ({ flags, left, versions }) => {
      const before = versions();
      const words = [bin, 'try', 'deployment/web', '--patch', patch, '--yes', ...flags];
      const child = spawn(process.execPath, words, { env: { ...process.env, KUBECONFIG: '' }, stdio: 'ignore' });
      const ended = once(child, 'exit');
      while (left().length === 0) await setTimeout(20);
      await setTimeout(1000);
      child.kill('SIGKILL');
      await ended;
      expect(left().length).toBeGreaterThan(0);
      const { code, stderr } = await runMain(['try', '--cleanup', ...flags]);
      expect(code, stderr).toBe(0);
      expect(left()).toEqual([]);
      expect(versions()).toEqual(before);
    }));

  it('is named at the next start, and stays', () =>
    withCluster(objects, {}, async (cluster) => {
      const { stderr } = await tryWeb(cluster, ['--patch', patch], { answers: ['n'] });
      expect(stderr).toContain('deployment/web (id abc123, started 2026-11-28T10:00:00.000Z)');
      expect(stderr).toContain('kubectl podexit try --cleanup');
      expect(cluster.left()).toHaveLength(2);
    }));

  it('stays with --cleanup for another workload, and is removed with it for all', () =>
    withCluster(objects, {}, async ({ flags, left }) => {
      const other = await runMain(['try', 'deployment/other', '--cleanup', ...flags]);
      expect([other.code, other.stdout]).toEqual([0, 'no copies of a try are left\n']);
      expect(left()).toHaveLength(2);
      const all = await runMain(['try', '--cleanup', ...flags]);
      expect([all.code, all.stdout]).toEqual([0, 'removed 1 try\n']);
      expect(left()).toEqual([]);
    }));
});

describe.concurrent('before anything is created', () => {
  it('a person is asked, and a no creates nothing', () =>
    withCluster(webApp(withDatabase), {}, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch], { answers: ['n'] });
      const question = stderr.replace(/\s+/g, ' ');
      expect(question).toContain('Two copies of deployment/web in namespace graceful-exit of context loopback');
      expect(question).toContain('connect to what these variables name: DATABASE_URL');
      expect(question).not.toContain('secret');
      expect([code, cluster.writes()]).toEqual([0, []]);
    }));

  it('a pipeline has to say --yes', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch]);
      expect(code).toBe(1);
      expect(stderr).toContain('add --yes');
      expect(cluster.writes()).toEqual([]);
    }));

  it('--dry-run prints the manifests', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const { code, stdout } = await tryWeb(cluster, ['--patch', patch, '--dry-run']);
      expect(code).toBe(0);
      expect(stdout.match(/^kind: .*/gm)).toEqual([
        'kind: ConfigMap',
        'kind: Deployment',
        'kind: Service',
        'kind: Deployment',
        'kind: Service',
      ]);
      expect(stdout.match(/seconds: 1$/gm)).toHaveLength(1);
      expect(cluster.writes()).toEqual([]);
    }));

  it('a missing permission is named with the Role that grants it', () =>
    withCluster(webApp(), { around: denying('delete', 'deployments') }, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', patch, '--yes']);
      expect(code).toBe(1);
      expect(stderr).toContain('you may not delete deployments');
      expect(stderr).toContain('resources: ["deployments"]\n    verbs: ["delete"]');
      expect(cluster.writes()).toEqual([]);
    }));
});

describe.concurrent('what is tried', () => {
  it('is by default what fix proposes, and the patch that it prints', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const printed = await runMain(['fix', 'deployment/web', ...cluster.flags]);
      const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'patch.yaml');
      writeFileSync(file, printed.stdout);
      const same = { random: () => 0.5 };
      const [own, proposed] = [
        await tryWeb(cluster, ['--patch', file, '--dry-run'], same),
        await tryWeb(cluster, ['--dry-run'], same),
      ];
      expect(proposed.stdout).toMatch(/change: [^]*preStop sleep 10s/);
      const withoutWords = (text: string): string => text.slice(text.indexOf('---'));
      expect(withoutWords(own.stdout)).toContain('seconds: 10');
      expect(withoutWords(own.stdout)).toBe(withoutWords(proposed.stdout));
    }));

  it('can be another image', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const { stdout } = await tryWeb(cluster, ['--image', 'registry.example/web:2', '--dry-run']);
      expect(stdout.match(/image: .*/g)).toEqual(['image: registry.example/web:1', 'image: registry.example/web:2']);
    }));

  it('can be a manifest that is not in the cluster', () =>
    withCluster([], {}, async ({ flags }) => {
      const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'web.yaml');
      writeFileSync(
        file,
        webApp()
          .map(([, object]) => JSON.stringify(object))
          .join('\n---\n'),
      );
      const { code, stdout, stderr } = await runMain(['try', '-f', file, '--patch', patch, '--dry-run', ...flags]);
      expect(code, stderr).toBe(0);
      expect(stdout).toContain('targetPort: http');
    }));

  it.each([
    [
      'a patch for another workload',
      '{"kind":"Deployment","metadata":{"name":"api"}}',
      'the patch is for deployment/api',
    ],
    ['a patch that changes no pod', '{"spec":{"replicas":5}}', 'changes nothing in the pods'],
    ['a file that does not exist', 'nowhere.yaml', 'nowhere.yaml does not exist'],
    ['an operation that fails', '[{"op":"remove","path":"/spec/nothing"}]', 'the patch cannot be applied'],
  ])('is refused: %s', (_, text, words) =>
    withCluster(webApp(), {}, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, ['--patch', text, '--yes']);
      expect(code).toBe(1);
      expect(stderr).toContain(words);
      expect(cluster.writes()).toEqual([]);
    }),
  );
});

const refusing =
  (method: string, resource: string) =>
  (exchange: Parameters<NonNullable<Parameters<typeof withCluster>[1]['around']>>[0]): boolean => {
    const { request } = exchange;
    const isMeant = request.method === method && request.kind?.plural === resource;
    const message = 'denied by policy';
    if (isMeant) exchange.json(403, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, message });
    return isMeant;
  };

const denying =
  (verb: string, resource: string) =>
  (exchange: Parameters<ReturnType<typeof refusing>>[0]): boolean => {
    if (!exchange.request.path.endsWith('/selfsubjectaccessreviews')) return false;
    const { spec } = JSON.parse(exchange.request.body) as { spec: { resourceAttributes: Record<string, string> } };
    const { resourceAttributes: asked } = spec;
    const allowed = asked['verb'] !== verb || asked['resource'] !== resource;
    exchange.json(201, { kind: 'SelfSubjectAccessReview', status: { allowed } });
    return true;
  };

const withDatabase = (podSpec: Record<string, unknown>) => ({
  containers: (podSpec['containers'] as object[]).map((one) => ({
    ...one,
    env: [{ name: 'DATABASE_URL', value: 'postgres://user:secret@db/web' }],
  })),
});
