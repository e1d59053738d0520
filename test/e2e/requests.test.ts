/**
 * Requests during a deletion and a rollout on the cluster of KUBECONFIG, through the proxies of its API server. A
 * Deployment without a preStop sleep loses requests, and one with it does not. The cards say so.
 *
 *     PODEXIT_E2E=1 npx vitest run test/e2e/requests.test.ts
 *
 * Needs kubectl and the built command. PODEXIT_E2E_IMAGE (busybox) must have a shell and httpd. PODEXIT_E2E_PULL is its
 * pull policy.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';
import { environment, isWanted, kubectl, newNamespace, pause, readManifest } from '../helpers/cluster.ts';

const namespace = newNamespace();
const names = ['without-prestop', 'with-prestop'];

describe.runIf(isWanted)('on a real cluster', () => {
  beforeAll(() => {
    kubectl(['create', 'namespace', namespace]);
    for (const name of names) kubectl(['apply', '-n', namespace, '-f', '-'], manifest(name));
    for (const name of names) kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=180s']);
  }, 240_000);

  afterAll(() => void kubectl(['delete', 'namespace', namespace, '--wait=false']), 60_000);

  // Each answer is a process of its own: a slow node cannot start many in a second without losing some.
  const ratePerSecond: Record<string, string> = { 'without-prestop': '20', 'with-prestop': '8' };

  const probesOf = (name: string): string[] => [
    ...['--probe', `service/${name}:80/cgi-bin/slow`, '--probe', 'pod:8080/cgi-bin/slow'],
    ...['--probe-rate', ratePerSecond[name] ?? '', '--probe-timeout', '3s'],
    ...['-n', namespace, '--timeout', '180s', '-o', 'lines'],
  ];
  const run = (target: readonly string[], name: string) => podexit([...target, ...probesOf(name)], environment);

  const stories: [name: string, code: number, card: RegExp][] = [
    ['without-prestop', 5, /requests +.*\d+ sent · \d+ failed|traffic +✖ lost: \d+ of \d+ requests failed/],
    ['with-prestop', 0, /requests +.*no loss measured\s+\(\d+\s+requests:/],
  ];

  it.each(stories)(
    'the deletion of a pod of %s ends with exit code %i',
    async (name, code, card) => {
      const pods = kubectl(['get', 'pods', '-n', namespace, '-l', `scenario=${name}`, '-o', 'name']).split('\n');
      const ran = await run([pods[0] ?? '', '--yes'], name);
      expect(ran.stdout, ran.stderr).toMatch(card);
      expect(ran.code, ran.stdout).toBe(code);
      kubectl(['rollout', 'status', `deployment/${name}`, '-n', namespace, '--timeout=180s']);
    },
    240_000,
  );

  it.each(stories)(
    'a rollout of %s ends with exit code %i',
    async (name, code, card) => {
      const traced = run([`deployment/${name}`, '--all-terminating'], name);
      await pause(3000);
      kubectl(['rollout', 'restart', `deployment/${name}`, '-n', namespace]);
      const ran = await traced;
      expect(ran.stdout, ran.stderr).toMatch(card);
      expect(ran.code, ran.stdout + ran.stderr).toBe(code);
    },
    300_000,
  );
});

/** Both are alike but for their names and the hook. */
function manifest(name: string): string {
  const without = readManifest(new URL('./requests/without-prestop.yaml', import.meta.url));
  if (name === 'without-prestop') return without;
  const hook = "lifecycle: { preStop: { exec: { command: [sleep, '5'] } } }";
  return without.replaceAll('without-prestop', name).replace(/^( +)readinessProbe:/m, `$1${hook}\n$&`);
}
