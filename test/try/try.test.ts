/** `try` from the command line to its card, against the embedded API server: what it prints is in sessions.yaml. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Call } from '../../src/demo/http/exchange.ts';
import { systemClock } from '../../src/run/clock.ts';
import { runMain, type Pretending } from '../cli/helpers/in-process.ts';
import { check, fieldsOfRun, noCluster, type Run } from '../cli/helpers/session.ts';
import { bin } from '../helpers/built.ts';
import { casesIn } from '../helpers/case-file.ts';
import { faultsBy } from '../helpers/schemas.ts';
import { webApp, withCluster, type Behaviour, type TryCluster } from './helpers/cluster.ts';

interface TryRun extends Run {
  /** How many objects of a try there are by then, and how many requests have written. */
  left?: number;
  writes?: number;
}

interface Session extends TryRun {
  /** Merged into the Deployment. */
  workload?: object;
  withoutService?: true;
  /** Further objects of the cluster. */
  with?: KubeObject[];
  behaves?: Behaviour;
  /** Requests that a policy denies, and a permission that is missing. */
  refuses?: { method: string; resource: string };
  denies?: { verb: string; resource: string };
  files?: Record<string, string>;
  then?: TryRun[];
}

const sessions = casesIn<Session>(new URL('sessions.yaml', import.meta.url), [
  ...(['workload', 'withoutService', 'with', 'behaves', 'refuses', 'denies', 'files', 'then', 'left'] as const),
  ...(['writes', ...fieldsOfRun] as const),
]);

it.concurrent.each(sessions)('%s', (_, { workload, withoutService, with: more = [], behaves, then = [], ...one }) => {
  const { refuses, denies, files = {}, ...first } = one;
  const at = mkdtempSync(join(tmpdir(), 'podexit-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(at, name), text);
  const [deployment, service] = webApp(workload);
  const objects = [deployment, ...(withoutService ? [] : [service]), ...more];
  const around = (call: Call): boolean =>
    (refuses !== undefined && isRefused(call, refuses)) || (denies !== undefined && isDenied(call, denies));
  return withCluster(objects, { ...behaves, around }, async ({ flags, left, writes }) => {
    for (const { left: leftByThen, writes: written, ...run } of [first, ...then]) {
      const { stdout } = await check(run, at, { ...noCluster, flags });
      if (run.json) expect(faultsBy('try-report', JSON.parse(stdout))).toEqual([]);
      if (leftByThen !== undefined) expect(left()).toHaveLength(leftByThen);
      if (written !== undefined) expect(writes()).toHaveLength(written);
    }
  });
});

function isRefused({ request, json }: Call, { method, resource }: { method: string; resource: string }): boolean {
  const isMeant = request.method === method && request.kind?.plural === resource;
  const message = 'denied by policy';
  if (isMeant) json(403, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, message });
  return isMeant;
}

function isDenied({ request, json }: Call, { verb, resource }: { verb: string; resource: string }): boolean {
  if (!request.path.endsWith('/selfsubjectaccessreviews')) return false;
  const { spec } = JSON.parse(request.body) as { spec: { resourceAttributes: Record<string, string> } };
  const { resourceAttributes: asked } = spec;
  json(201, {
    kind: 'SelfSubjectAccessReview',
    status: { allowed: asked['verb'] !== verb || asked['resource'] !== resource },
  });
  return true;
}

const tryWeb = ({ flags }: TryCluster, words: readonly string[], pretending: Pretending = {}) =>
  runMain(['try', 'deployment/web', ...words, ...flags], pretending);

const another = ['--image', 'web:2', '--yes'];

describe.concurrent('the copies are removed', () => {
  it('at a signal, and the command says which', () =>
    withCluster(webApp(), {}, async (cluster) => {
      const listeners = new Set<(signal: 'SIGTERM') => void>();
      const leave = (): void => listeners.forEach((listener) => listener('SIGTERM'));
      const printed = await tryWeb(cluster, another, {
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
    const around = (call: Call): boolean => {
      const isMeant = isRefused(call, { method: 'DELETE', resource: 'deployments' });
      if (isMeant) aheadMs = 600_000;
      return isMeant;
    };
    return withCluster(webApp(), { around }, async (cluster) => {
      const { code, stderr } = await tryWeb(cluster, another, {
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

  it('even if the server cannot be reached for a while', () => {
    let brokenUntil = 0;
    const around = ({ request, cut }: Call): boolean => {
      if (request.method === 'DELETE' && brokenUntil === 0) brokenUntil = Date.now() + 2000;
      const isBroken = Date.now() < brokenUntil;
      if (isBroken) cut();
      return isBroken;
    };
    return withCluster(webApp(), { readyMs: Infinity, around }, async (cluster) => {
      const { stderr } = await tryWeb(cluster, [...another, '--timeout', '500ms']);
      expect(stderr).toContain('removing the copies');
      expect(brokenUntil).toBeGreaterThan(0);
      expect(cluster.left()).toEqual([]);
    });
  });

  it('with --cleanup if the run was killed', () =>
    withCluster(webApp(), {}, async ({ flags, left }) => {
      const words = [bin, 'try', 'deployment/web', ...another, ...flags];
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
    }));
});

it.concurrent('by default what fix proposes is tried, and the patch that it prints is the same', () =>
  withCluster(webApp(), {}, async (cluster) => {
    const printed = await runMain(['fix', 'deployment/web', ...cluster.flags]);
    const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'patch.yaml');
    writeFileSync(file, printed.stdout);
    const [own, proposed] = [
      await tryWeb(cluster, ['--patch', file, '--dry-run']),
      await tryWeb(cluster, ['--dry-run']),
    ];
    expect(proposed.stdout).toMatch(/change: [^]*preStop sleep 10s/);
    const withoutWords = (text: string): string => text.slice(text.indexOf('---'));
    expect(withoutWords(own.stdout)).toContain('seconds: 10');
    expect(withoutWords(own.stdout)).toBe(withoutWords(proposed.stdout));
  }),
);
