/** Several pods named at once: `podexit a b c` deletes them together, each once, or none if one does not exist. */
import { describe, expect, it } from 'vitest';
import type { ExitReport } from '../../src/model/report.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import { runMain } from './helpers/in-process.ts';

const playing = <T>(work: (serving: PatientServing, names: string[]) => Promise<T>): Promise<T> =>
  servingPatiently('scale-to-zero-40', {}, (cluster) =>
    work(
      cluster,
      cluster.server
        .truth()
        .slice(0, 3)
        .map(({ pod }) => pod),
    ),
  );

const deletesOf = ({ server }: PatientServing) => server.requests.filter(({ method }) => method === 'DELETE');

describe.concurrent('several pods by name', () => {
  it('are deleted together, each with one DELETE and its uid, and reported once', () =>
    playing(async (cluster, names) => {
      const ran = await runMain([...names, '-o', 'json', ...cluster.flags]);
      expect(ran.stderr).toContain(`podexit: deleting 3 pods: ${names.join(', ')}`);
      const printed = JSON.parse(ran.stdout) as { workload: object; exits: ExitReport[] };
      expect(printed.workload).toEqual({ kind: 'Pod', name: names.join(' ') });
      expect(printed.exits.map(({ pod }) => pod.name).sort()).toEqual([...names].sort());
      expect(printed.exits.map(({ trigger }) => trigger.kind)).toEqual([
        'this-command',
        'this-command',
        'this-command',
      ]);
      const sent = deletesOf(cluster);
      expect(sent).toHaveLength(3);
      const uids = sent.map(
        ({ body }) => (JSON.parse(body ?? '{}') as { preconditions: { uid: string } }).preconditions.uid,
      );
      expect(uids.sort()).toEqual(printed.exits.map(({ pod }) => pod.uid).sort());
    }));

  it.each([
    ['is an error', [], 1],
    ['is accepted, under --ignore-not-found', ['--ignore-not-found'], 0],
  ] as const)('are deleted even if another one of them disappears before its DELETE, which %s', (_, more, code) =>
    playing(async (cluster, [first = '', second = '']) => {
      const { server, flags } = cluster;
      const remove = () => server.write('pods', 'DELETED', { metadata: { namespace: server.namespace, name: first } });
      const ran = await runMain([first, second, '-i', '--wait=false', ...more, ...flags], {
        answers: [],
        ask: async () => (remove(), 'y'),
      });
      expect(ran.code, ran.stderr).toBe(code);
      expect(ran.stderr.includes(`error: there is no pod "${first}"`)).toBe(code === 1);
      expect(ran.stdout).toContain(`pod "${second}" deleted`);
    }),
  );
});
