/** A server that answers but never returns the pod: podexit prints what it waits for, and gives up in a pipeline. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Handler } from '../kube/helpers/api.ts';
import { json, serve, status, tempDir } from '../kube/helpers/api.ts';
import { testEnv } from '../kube/helpers/env.ts';
import { runMain } from './helpers/in-process.ts';

/** Seconds of the run's clock per real second. A busy machine that is 0.2 s late is 4 s late by this fast clock. */
const clocks = { fast: 20, slow: 4 };

async function runAgainst(handler: Handler, words: readonly string[], speed: number) {
  const api = await serve(handler);
  const kubeconfig = join(await tempDir(), 'config');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    clusters: [{ name: 'c', cluster: { server: api.url } }],
    users: [{ name: 'u', user: {} }],
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  const { now, setTimeout } = testEnv({ speed });
  const ran = await runMain([...words, '--kubeconfig', kubeconfig], { clock: { now, setTimeout } });
  return { ...ran, deletes: api.asked.filter(({ method }) => method !== 'GET') };
}

const busy: Handler = (_, response) => json(response, 503, status(503, 'ServiceUnavailable', 'not now'));
/** Sends the headers of an answer and nothing else. */
const headersOnly: Handler = (_, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();

const saidAt = (stderr: string): number[] =>
  [...stderr.matchAll(/waiting for pod "web" for (\d+) s: /g)].map(([, seconds]) => Number(seconds));

it.each([
  ['answers 503 to everything', busy, 'the server answers 503 to the list of pods: not now'],
  ['opens the watch and sends nothing', headersOnly, ''],
])('podexit waits a minute for a server that %s, and prints so at growing intervals', async (_, handler, reason) => {
  const { code, stdout, stderr, deletes } = await runAgainst(handler, ['web'], clocks.fast);
  const said = saidAt(stderr);
  expect(said[0]).toBeGreaterThanOrEqual(3);
  expect(said[0]).toBeLessThan(10);
  expect(said.length).toBeGreaterThanOrEqual(3);
  expect(said.length).toBeLessThanOrEqual(6);
  expect(stderr).toContain(reason);
  expect(stderr).toContain('pod "web" in namespace "shop" could not be read within 60 s');
  expect(stdout).toBe('');
  expect(code).toBe(1);
  expect(deletes).toEqual([]);
});

it('an explicit --timeout is still the limit', async () => {
  const { code, stderr } = await runAgainst(busy, ['web', '--timeout=5s'], clocks.slow);
  expect(saidAt(stderr)[0]).toBeGreaterThanOrEqual(3);
  expect(saidAt(stderr).at(-1)).toBeLessThan(15);
  expect(stderr).toContain('could not be read within 5 s');
  expect(code).toBe(1);
});
