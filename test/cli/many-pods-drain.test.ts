/** `podexit node/NAME -- kubectl drain NAME`: all terminating pods, an eviction that a budget refuses, a failed drain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { heldAgainst } from '../helpers/truth.ts';
import { runMain } from './helpers/in-process.ts';

const playing = <T>(work: (serving: PatientServing) => Promise<T>): Promise<T> =>
  servingPatiently('drain-with-pdb', { attachDelayMs: 1500 }, work);

const [first, second] = ['checkout-86c476c498-6xbr5', 'checkout-86c476c498-dxgj9'] as const;

/** Prints what `kubectl drain` prints once the first pod terminates, and ends when `last` is gone. */
function drains({ url, namespace }: Loopback, says: string, last: string, code = 0): string[] {
  const script = `
    const until = async (pod, isSo) => {
      const answer = await fetch('${url}/api/v1/namespaces/${namespace}/pods/' + pod);
      const { kind, metadata } = await answer.json();
      if (kind !== 'Status' && !isSo(metadata)) return new Promise((next) => setTimeout(next, 50)).then(() => until(pod, isSo));
    };
    await until('${first}', ({ deletionTimestamp }) => deletionTimestamp);
    console.error(${JSON.stringify(says)});
    await until('${last}', () => false);
    process.exit(${code});`;
  return [process.execPath, '--input-type=module', '-e', script];
}

/** Requests that the command sent, not the drain. */
const ours = ({ requests }: Loopback) => requests.filter(({ userAgent }) => userAgent?.startsWith('kubectl-podexit/'));

const refusal = (namespace: string): string =>
  `error when evicting pods/"${second}" -n "${namespace}" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`;

it.concurrent(
  'follows both pods of a drain whose second eviction a budget refuses at first, and names the budget',
  () =>
    playing(async (cluster) => {
      const { flags, server } = cluster;
      const words = ['node/node1', '-o', 'json', ...flags, '--'];
      const ran = await runMain([...words, ...drains(server, refusal(server.namespace), second)]);
      expect(ran.stderr).toContain('(will retry after 5s)');
      expect(ran.stderr).toMatch(
        new RegExp(`${server.namespace}/${second}: its eviction was refused: PodDisruptionBudget "checkout" allows 0`),
      );
      const printed = JSON.parse(ran.stdout) as { workload: object; exits: ExitReport[] };
      expect(printed.workload).toEqual({ kind: 'Node', name: 'node1' });
      expect(printed.exits.map(({ pod }) => pod.name)).toEqual([first, second]);
      expect(printed.exits.map(({ trigger }) => trigger.kind)).toEqual(['eviction-api', 'eviction-api']);
      expect(printed.exits[1]?.trigger.note).toMatch(/^first refused for \d\.\ds by a PodDisruptionBudget$/);
      expect(printed.exits.flatMap(({ gaps }) => gaps)).toEqual([]);
      for (const report of printed.exits) {
        const truths = server.truth().filter(({ pod }) => pod === report.pod.name);
        expect(heldAgainst(report, truths).filter(({ hit }) => !hit)).toEqual([]);
        expect(report.verdict.findings.map(({ code }) => code)).not.toContain('evidence-lost');
      }
      expect(ran.code).toBe(0);
      const sent = ours(server);
      const watches = sent.filter(({ verb }) => verb === 'watch').length;
      const logs = sent.filter(({ url }) => url.includes('/log?')).length;
      expect(watches).toBeLessThanOrEqual(12 + 3);
      expect(sent.length - logs).toBeLessThanOrEqual(40 + 6 + 2 * 2);
      expect(sent.filter(({ method }) => method !== 'GET')).toEqual([]);
    }),
);

it.concurrent('names in its summary the pod whose eviction was refused until the drain gave up', () =>
  playing(async ({ flags, server }) => {
    const drain = drains(server, refusal(server.namespace), first, 1);
    const ran = await runMain(['node/node1', '-o', 'json', ...flags, '--', ...drain]);
    const { summary } = JSON.parse(ran.stdout) as { summary: { incomplete?: string } };
    expect(summary.incomplete).toContain(`${second}: its eviction was refused: PodDisruptionBudget "checkout"`);
    expect(ran.code).toBe(1);
  }),
);

it.concurrent('traces only the pods of the node that match a selector', () =>
  playing(async ({ flags, server }) => {
    const selectors = ['-l', 'app=checkout', '--field-selector', `metadata.name=${second}`];
    const ran = await runMain(['node/node1', ...selectors, '--timeout=12s', '-o', 'json', ...flags]);
    const printed = JSON.parse(ran.stdout) as { workload: object; summary: { target: string }; exits: ExitReport[] };
    expect(printed.exits.map(({ pod }) => pod.name)).toEqual([second]);
    expect(printed.workload).toEqual({ kind: 'Node', name: 'node1' });
    expect(printed.summary.target).toBe(`node/node1 -l app=checkout --field-selector metadata.name=${second}`);
    const lists = server.requests.filter(({ resource, verb }) => resource === 'pods' && verb === 'watch');
    for (const { url } of lists) {
      const query = new URL(url, 'http://server').searchParams;
      expect(query.get('labelSelector')).toBe('app=checkout');
      expect(query.get('fieldSelector')).toBe(`spec.nodeName=node1,metadata.name=${second}`);
    }
    expect(lists.length).toBeGreaterThan(0);
  }),
);

it.concurrent('runs until --timeout without a command', () =>
  playing(async ({ flags }) => {
    const ran = await runMain(['node/node1', '--timeout=12s', '-o', 'json', ...flags]);
    const printed = JSON.parse(ran.stdout) as { exits: ExitReport[] };
    expect(printed.exits.map(({ pod }) => pod.name)).toEqual([first, second]);
    expect(ran.code).toBe(0);
  }),
);

it.concurrent.each([
  ['a drain', ['node/node1']],
  ['a rollout', ['rollout', 'deployment/checkout']],
])('after %s that failed when pods had terminated, all output is complete, and stderr has the reason', (_, target) =>
  playing(async ({ flags, folder, server }) => {
    const [recording, report] = [join(folder, 'run.ndjson'), join(folder, 'run.html')];
    const files = [`--record=${recording}`, `--report=${report}`];
    const words = [...target, ...files, '-o', 'json', ...flags, '--', ...drains(server, 'says why', first, 1)];
    const { code, stdout, stderr } = await runMain(words);
    const document = JSON.parse(stdout) as { exits: ExitReport[] };
    expect(document).toMatchObject({ kind: 'RolloutReport', summary: { exitCode: 1 } });
    expect(document.exits.length).toBeGreaterThan(0);
    expect(stderr).toMatch(/says why[\s\S]*error: \S+ failed with exit code 1\nIts own output above says why/);
    expect(readFileSync(report, 'utf8')).toMatch(/<\/html>\s*$/);
    expect(
      () => JSON.parse(readFileSync(recording, 'utf8').trimEnd().split('\n').at(-1) ?? '') as object,
    ).not.toThrow();
    expect(code).toBe(1);
  }),
);
