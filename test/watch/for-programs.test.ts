/** What a watch gives to other programs: metrics, recordings and traces. */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { playing, valuesOf, watchUntil } from './helpers/watching.ts';

const countOf = (text: string, words: RegExp): number => [...text.matchAll(words)].length;
const hasAll = (text: string): boolean => countOf(text, /✔/g) === 25;

let done = (): void => {};

describe('a watch with metrics and recordings', () => {
  it('counts every exit once, records each, and why, recommend and replay read them', () =>
    playing('second/rollout-25', async ({ flags, folder }) => {
      const recordings = join(folder, 'exits');
      const scraped: Record<string, { status: number; text: string }> = {};
      let address = '';
      const scrape = async (path: string): Promise<void> => {
        const answer = await fetch(`${address}${path}`);
        scraped[path] = { status: answer.status, text: await answer.text() };
      };
      let isScraped = false;
      const { stderr } = await watchUntil(
        [...flags, '--metrics', '127.0.0.1:0', '--record-dir', recordings],
        (text) => {
          if (hasAll(text) && !isScraped) {
            isScraped = true;
            void Promise.all(['/metrics', '/readyz', '/healthz', '/other'].map(scrape)).then(() => done());
          }
          return false;
        },
        {
          onStderr: (text) => (address = /http:\/\/[\d.:]+(?=\/metrics)/.exec(text)?.[0] ?? address),
          until: new Promise<void>((resolve) => (done = resolve)),
        },
      );
      expect(stderr).toMatch(/^podexit: metrics at http:\/\/127\.0\.0\.1:\d+\/metrics$/m);
      const metrics = scraped['/metrics']?.text ?? '';
      expect(valuesOf(metrics, 'podexit_exits_total')).toEqual({
        '{namespace="rollout-25",workload="deployment/checkout",outcome="graceful",trigger="rollout"}': 25,
      });
      expect(valuesOf(metrics, 'podexit_exit_seconds_count')).toEqual({ '': 25 });
      expect(valuesOf(metrics, 'podexit_grace_used_ratio_count')).toEqual({ '{namespace="rollout-25"}': 25 });
      expect(valuesOf(metrics, 'podexit_phase_seconds_count')['{phase="drain"}']).toBe(25);
      expect(valuesOf(metrics, 'podexit_terminating_pods')).toEqual({ '': 0 });
      expect(valuesOf(metrics, 'podexit_watch_streams')['']).toBeGreaterThanOrEqual(6);
      expect(valuesOf(metrics, 'podexit_watch_gaps_total')).toEqual({ '': 0 });
      expect(Object.entries(scraped).map(([path, { status }]) => `${path} ${status}`)).toEqual(
        expect.arrayContaining(['/metrics 200', '/readyz 200', '/healthz 200', '/other 404']),
      );

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

  it('removes the oldest recordings, and counts on when no more can be written', () =>
    playing('second/rollout-25', async ({ flags, folder }) => {
      const recordings = join(folder, 'exits');
      let bytes = -1;
      const { code, stderr } = await watchUntil(
        [...flags, '--record-dir', recordings, '--record-max', '400Ki'],
        (text) => {
          if (countOf(text, /✔/g) >= 15 && bytes < 0) {
            bytes = readdirSync(recordings).reduce((sum, name) => sum + statSync(join(recordings, name)).size, 0);
            rmSync(recordings, { recursive: true });
          }
          return hasAll(text);
        },
      );
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThanOrEqual(400 * 1024);
      expect(code).toBe(0);
      expect(countOf(stderr, /some recordings are left out: /g)).toBe(1);
    }));
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
