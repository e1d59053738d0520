/** The pods of `--all-terminating`: several with the same name, an owner without a watch, a recording that fails. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Loopback } from '../sim/faults/faulty-server.ts';
import { uniquePodNames } from '../../src/output/report-files.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { servingPatiently, type PatientServing } from '../helpers/serving-patiently.ts';
import { runMain } from './helpers/in-process.ts';

const terminating = { deletionTimestamp: '2031-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 };
/** The kubelet removes a pod with a grace period of 0. */
const removed = { ...terminating, deletionGracePeriodSeconds: 0 };

/** Writes one state of a pod that has the label `a=b` and no owner. */
function write(server: Loopback, type: 'ADDED' | 'MODIFIED' | 'DELETED', name: string, uid: string, metadata = {}) {
  const creationTimestamp = '2031-01-01T00:00:00Z';
  const { namespace } = server;
  server.write('pods', type, {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace, uid, creationTimestamp, labels: { a: 'b' }, ...metadata },
    spec: { containers: [{ name: 'app' }] },
    status: {},
  });
}

/** Like a StatefulSet's pod: it terminates, and then its successor does. */
async function endTwice({ server, pause }: PatientServing): Promise<void> {
  for (const uid of ['u1', 'u2']) {
    write(server, 'ADDED', 'web-0', uid);
    await pause(400);
    write(server, 'MODIFIED', 'web-0', uid, terminating);
    await pause(400);
    write(server, 'DELETED', 'web-0', uid, removed);
  }
}

const traced = ['-l', 'a=b', '--all-terminating', '-o', 'json'];

describe.concurrent('a pod with the name of an earlier pod that terminated', () => {
  it('has its own report file', () =>
    servingPatiently('exit-143', {}, async (cluster) => {
      const { flags, folder, asked } = cluster;
      const files = [`--report=${join(folder, 'POD.json')}`, `--record=${join(folder, 'rec.ndjson')}`];
      void asked('watch', 'pods').then(() => endTwice(cluster));
      const ran = await runMain([...traced, ...files, ...flags]);
      const { exits } = JSON.parse(ran.stdout) as { exits: ExitReport[] };
      expect(exits.map(({ pod }) => pod.uid)).toEqual(['u1', 'u2']);
      const names = ['rec.ndjson', 'web-0-2.json', 'web-0.json'];
      expect(readdirSync(folder).filter((name) => names.includes(name))).toEqual(names);
      const uidIn = (name: string) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as ExitReport).pod.uid;
      expect([uidIn('web-0.json'), uidIn('web-0-2.json')]).toEqual(['u1', 'u2']);
      const replayed = await runMain(['replay', join(folder, 'rec.ndjson'), '-o', 'json']);
      expect(JSON.parse(replayed.stdout)).toMatchObject({ exits });
    }));

  it('never gets the file name of a third pod', () => {
    const nameOf = uniquePodNames();
    const pods = [
      ['web-0', 'u1'],
      ['web-0-2', 'u2'],
      ['web-0', 'u3'],
      ['web-0', 'u1'],
      ['web-0', 'u3'],
    ] as const;
    expect(pods.map(([name, uid]) => nameOf({ name, uid }))).toEqual([
      'web-0',
      'web-0-2',
      'web-0-3',
      'web-0',
      'web-0-3',
    ]);
  });
});

describe.concurrent('pods of an owner that cannot be watched', () => {
  const owned = { ownerReferences: [{ apiVersion: 'x.io/v1', kind: 'CloneSet', name: 'web', controller: true }] };
  const briefly = { ...owned, ...terminating, deletionGracePeriodSeconds: 1 };
  const twoPods = (server: Loopback): void => {
    write(server, 'ADDED', 'web-0', 'u1', owned);
    write(server, 'ADDED', 'web-1', 'u2', owned);
  };
  const end = async ({ server, pause }: PatientServing, name: string, uid: string): Promise<void> => {
    write(server, 'MODIFIED', name, uid, briefly);
    await pause(300);
    write(server, 'DELETED', name, uid, { ...owned, ...removed });
  };

  it('are traced until all pods from the start are gone', () =>
    servingPatiently('exit-143', {}, async (cluster) => {
      const { flags, server, asked, pause } = cluster;
      twoPods(server);
      void asked('watch', 'pods')
        .then(() => end(cluster, 'web-0', 'u1'))
        // Long after the report about the first pod.
        .then(() => pause(6000))
        .then(() => end(cluster, 'web-1', 'u2'));
      const ran = await runMain([...traced, ...flags]);
      expect(
        ran.stderr.match(/cannot determine when the rollout completes: CloneSet web is not followed/g),
      ).toHaveLength(1);
      expect((JSON.parse(ran.stdout) as { exits: ExitReport[] }).exits.map(({ pod }) => pod.name)).toEqual([
        'web-0',
        'web-1',
      ]);
    }));

  it('leave it unknown at --timeout whether the rollout completed', () =>
    servingPatiently('exit-143', {}, async (cluster) => {
      const { flags, server, asked } = cluster;
      twoPods(server);
      void asked('watch', 'pods').then(() => end(cluster, 'web-0', 'u1'));
      const ran = await runMain([...traced, '--timeout=6s', ...flags]);
      expect(ran.stderr).toContain('gave up at --timeout: whether the rollout was done is not known');
      expect(ran.code).toBe(3);
    }));
});
