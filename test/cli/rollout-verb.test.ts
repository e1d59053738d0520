/** `podexit rollout`: waits for the next rollout of a workload, or starts it, and follows it to its end. */
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { commandOf } from '../../src/run/progress/start.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

it.concurrent(
  'runs a command once all watches are open, passes its output through, and ends when the old pods are gone',
  () =>
    serving('rolling-update', { attachDelayMs: 2500 }, async ({ flags, server }) => {
      const command = [process.execPath, '-e', 'console.log("release it")'];
      const ran = await runMain(['rollout', 'deploy/checkout', '-o', 'json', ...flags, '--', ...command]);
      expect(ran.stderr).toContain('release it\n');
      const printed = JSON.parse(ran.stdout) as { kind: string; workload: object; exits: ExitReport[] };
      expect(printed).toMatchObject({ kind: 'RolloutReport', workload: { kind: 'Deployment', name: 'checkout' } });
      expect(printed.exits.map(({ pod, trigger }) => [pod.name, trigger.kind])).toEqual([[server.pod, 'rollout']]);
      expect(ran.code).toBe(0);
    }),
);

it.concurrent('prints the reason if the command fails', () =>
  serving('graceful-exit', {}, async ({ flags }) => {
    const command = [process.execPath, '-e', 'console.error("no such chart"); process.exit(3)'];
    const ran = await runMain(['rollout', 'deploy/checkout', ...flags, '--', ...command]);
    expect(ran.stderr).toContain('no such chart\n');
    expect(ran.stderr).toMatch(/failed with exit code 3/);
    expect(ran.code).toBe(1);
  }),
);

it('runs kubectl on the same cluster to restart or to set an image', () => {
  const connection = { version: '1', context: 'prod', token: 'secret' };
  const of = (start: Parameters<typeof commandOf>[0]) => commandOf(start, 'deployment/web', 'shop', connection, {});
  expect(of({ kind: 'restart' }).join(' ')).toBe('kubectl rollout restart deployment/web -n shop --context=prod');
  expect(of({ kind: 'image', image: 'app=web:2' }).join(' ')).toBe(
    'kubectl set image deployment/web app=web:2 -n shop --context=prod',
  );
});

it('passes impersonation and TLS settings to kubectl, but no secret', () => {
  const identity = { as: 'ci bot', asGroup: ['ci', 'dev'], insecureSkipTlsVerify: true, tlsServerName: 'api' };
  const secrets = { token: 'secret', username: 'secret', password: 'secret' };
  const words = commandOf({ kind: 'restart' }, 'deployment/web', 'shop', { version: '1', ...identity, ...secrets }, {});
  expect(words.slice(6)).toEqual([
    '--tls-server-name=api',
    '--insecure-skip-tls-verify',
    '--as=ci bot',
    '--as-group=ci',
    '--as-group=dev',
  ]);
});
