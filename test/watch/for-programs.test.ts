/** What a watch gives to other programs: metrics, recordings and traces. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { narrowPod } from '../../src/model/kube.ts';
import { systemClock } from '../../src/run/clock.ts';
import { createRecordings } from '../../src/watch/destinations.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { observationsOf, rawObservationsOf } from '../helpers/recordings.ts';
import { playing, valuesOf, watchAndScrape } from './helpers/watching.ts';

it('counts every exit once, records each, and why, recommend and replay read them', () =>
  playing('second/rollout-25', async ({ flags, folder }) => {
    const recordings = join(folder, 'exits');
    const words = [...flags, '--record-dir', recordings];
    const hasAll = (text: string): boolean => [...text.matchAll(/✔/g)].length === 25;
    const { stderr, metrics, answers } = await watchAndScrape(words, hasAll);
    expect(stderr).toMatch(/^podexit: metrics at http:\/\/127\.0\.0\.1:\d+\/metrics$/m);
    expect(valuesOf(metrics, 'podexit_exits_total')).toEqual({
      '{namespace="rollout-25",workload="deployment/checkout",outcome="graceful",trigger="rollout"}': 25,
    });
    expect(valuesOf(metrics, 'podexit_exit_seconds_count')).toEqual({ '': 25 });
    expect(valuesOf(metrics, 'podexit_grace_used_ratio_count')).toEqual({ '{namespace="rollout-25"}': 25 });
    expect(valuesOf(metrics, 'podexit_phase_seconds_count')['{phase="drain"}']).toBe(25);
    expect(valuesOf(metrics, 'podexit_terminating_pods')).toEqual({ '': 0 });
    expect(valuesOf(metrics, 'podexit_watch_streams')['']).toBeGreaterThanOrEqual(6);
    expect(valuesOf(metrics, 'podexit_watch_gaps_total')).toEqual({ '': 0 });
    expect(answers).toEqual(['/metrics 200', '/readyz 200', '/healthz 200', '/other 404']);

    const files = readdirSync(recordings);
    expect(files).toHaveLength(25);
    const [, , pod = ''] = (files[0] ?? '').split('_');
    const why = await runMain(['why', pod, '--from', recordings, '-o', 'sentence']);
    expect(why.stdout).toMatch(/^Graceful/m);
    const replayed = await runMain(['replay', join(recordings, files[0] ?? ''), '-o', 'sentence']);
    expect(replayed.code).toBe(0);
    expect(replayed.stdout).toContain(why.stdout.trim());
    const recommended = await runMain(['recommend', recordings]);
    expect(recommended.stdout).toContain('Deployment/checkout  25 exits, 0 killed');
  }));

it('removes the oldest recordings, and goes on when no more can be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const dropped: string[] = [];
  let now = Date.parse('2026-11-28T10:00:00Z');
  const ports = { clock: { ...systemClock, now: () => now }, version: '1' };
  const recordings = createRecordings({ folder, maxBytes: 400 * 1024 }, ports, (what) => dropped.push(what));
  const log = observationsOf(await rawObservationsOf('graceful-exit'));
  const pod = (uid: string) => narrowPod({ kind: 'Pod', metadata: { name: 'web/0', namespace: 'shop', uid } });
  for (let count = 1; count <= 30; count++, now += 1000) recordings.save(pod(`uid-${count}`), log);
  const names = readdirSync(folder).sort();
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(names.at(-1)).toBe('20261128T100029.000Z_shop_web-0_uid-30.ndjson');
  expect([names.length > 1, names.length < 30, bytes <= 400 * 1024]).toEqual([true, true, true]);
  rmSync(folder, { recursive: true });
  recordings.save(pod('uid-31'), log);
  expect(dropped).toEqual(['recordings']);
});

it('ends with 1 before anything else if the port for metrics is taken', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const { code, stderr } = await runMain([
    ...['watch', '--metrics', `127.0.0.1:${port}`, '--record-dir', join(folder, 'exits'), '--kubeconfig', folder],
  ]);
  other.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`error: cannot serve metrics on 127.0.0.1:${port} (EADDRINUSE)`);
  expect(readdirSync(folder)).toEqual([]);
});
