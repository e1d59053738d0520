/** The pods' watch is lost, and the API server has forgotten what happened meanwhile: which exits are counted, and how. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { failure, HttpError } from '../../src/demo/data/status.ts';
import type { ChangeType, KubeObject } from '../../src/demo/data/kube-object.ts';
import type { Stream } from '../../src/demo/http/exchange.ts';
import { startLoopback } from '../../src/demo/loopback.ts';
import { parseScenario } from '../../src/demo/scenario.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { scenarioFile } from '../helpers/recordings.ts';
import { linesOf, watchUntil } from './helpers/watching.ts';

/** A server of which the pods can be changed, and their watch be refused. */
async function startServer() {
  const text = readFileSync(scenarioFile('rollout-25'), 'utf8');
  const { kind, status, ...template } = podOf(text);
  const streams = new Set<Stream>();
  let refusal: HttpError | undefined;
  const server = await startLoopback({
    scenario: parseScenario(text),
    attachDelayMs: 2 ** 30,
    interfere: () => ({
      async around({ request }, serve) {
        if (refusal && request.kind?.plural === 'pods') throw refusal;
        return serve();
      },
      opened: (stream) => void streams.add(stream),
      outgoing: (_, line, send) => send(line),
      start: () => {},
      stop: () => {},
    }),
  });
  const write = (type: ChangeType, name: string, uid: string, more: object, now: object = status): void => {
    const metadata = { ...template.metadata, namespace: server.namespace, name, uid, ...more };
    server.write('pods', type, { kind, ...template, metadata, status: now });
  };
  const deleted = () => ({
    deletionTimestamp: new Date(Date.now() + 30_000).toISOString().replace(/\.\d+Z$/, 'Z'),
    deletionGracePeriodSeconds: 30,
  });
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const state = { terminated: { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at } };
  const containerStatuses = status.containerStatuses.map((one) => ({ ...one, ready: false, state }));
  const ended = { ...status, phase: 'Succeeded', containerStatuses };
  return {
    ...server,
    create: (name: string, uid = name) => write('ADDED', name, uid, {}),
    terminate: (name: string, uid = name) => write('MODIFIED', name, uid, deleted()),
    remove: (name: string, uid = name) => write('DELETED', name, uid, deleted(), ended),
    /** The pods' watch breaks, and cannot come back. */
    lose(why = failure(500, '', 'the disk is full')) {
      refusal = new HttpError(why);
      for (const { exchange } of streams) if (exchange.request.kind?.plural === 'pods') exchange.cut();
    },
    /** It can come back, but the history is gone. */
    restore() {
      write('ADDED', 'later', 'later', {});
      server.compact();
      refusal = undefined;
    },
  };
}

type RunningPod = KubeObject & { status: { containerStatuses: { ready: boolean }[] } };

/** A running pod of the recording, as it was before its deletion. */
function podOf(text: string): RunningPod {
  const objects = text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line) as { event?: { object?: RunningPod } }).event?.object ?? []);
  const pod = objects.find(({ kind, status }) => kind === 'Pod' && status.containerStatuses?.[0]?.ready);
  if (!pod) throw new Error('the recording has no such pod');
  const { deletionTimestamp: _, deletionGracePeriodSeconds: _seconds, ...metadata } = pod.metadata;
  return { ...pod, metadata };
}

const forbidden =
  'pods is forbidden: User "watcher" cannot watch resource "pods" in API group "" in the namespace "shop"';

it.each([
  ['the permission is taken away', failure(403, 'Forbidden', forbidden), 'you may not watch pods'],
  ['the token expires', failure(401, 'Unauthorized', 'Unauthorized'), 'does not accept the credentials'],
])('prints its summary and ends with 1 when %s', async (_name, why, message) => {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig());
  server.create('ends');
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  void hasBegun
    .then(() => sleep(1500))
    .then(() => server.terminate('ends'))
    .then(() => sleep(500))
    .then(() => server.remove('ends'))
    .then(() => sleep(4000))
    .then(() => server.lose(why));
  const words = ['-n', server.namespace, '--kubeconfig', kubeconfig, '-o', 'ndjson', '--no-logs'];
  const { code, stdout, stderr } = await watchUntil(words, () => false, { onStderr: begun });
  await server.close();
  rmSync(folder, { recursive: true });
  expect(code).toBe(1);
  expect(linesOf(stdout, 'watch-summary')).toMatchObject([{ exits: 1, stillTerminating: 0 }]);
  expect(stderr).toContain(message);
});

it('counts each pod that it knew once: with a line, as unseen, or within a gap that is named', async () => {
  const server = await startServer();
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig());
  const known = ['stays', 'ends', 'disappears', 'is-replaced', 'ends-after-the-last-gap-began'];
  for (const name of known) server.create(name);
  let begun = (): void => {};
  const hasBegun = new Promise<void>((resolve) => (begun = resolve));
  const story = async (): Promise<void> => {
    await hasBegun;
    await sleep(1500);
    server.terminate('ends');
    await sleep(500);
    server.lose();
    await sleep(200);
    for (const name of ['ends', 'disappears', 'is-replaced']) server.remove(name);
    server.create('is-replaced', 'the-next-of-this-name');
    server.create('comes-and-goes');
    server.remove('comes-and-goes');
    server.restore();
    await sleep(4000);
    server.terminate('is-replaced', 'the-next-of-this-name');
    await sleep(200);
    server.remove('is-replaced', 'the-next-of-this-name');
    await sleep(4000);
    server.lose();
    await sleep(200);
    server.remove('ends-after-the-last-gap-began');
  };
  const words = ['-n', server.namespace, '--kubeconfig', kubeconfig, '-o', 'ndjson', '--no-logs'];
  const printed = await watchUntil(words, () => false, { onStderr: begun, until: story() });
  await server.close();
  rmSync(folder, { recursive: true });

  const reported = linesOf<{ report: ExitReport }>(printed.stdout, 'report').map(({ report }) => report.pod.uid);
  expect(reported.sort()).toEqual(['ends', 'the-next-of-this-name']);
  expect(linesOf(printed.stdout, 'watch-summary')).toMatchObject([
    { exits: 2, unseen: 2, gaps: 2, stillTerminating: 0 },
  ]);
  expect(printed.stderr).toContain('disappears: its termination was not observed');
  expect(printed.stderr).toContain('is-replaced: its termination was not observed');
  const gaps = linesOf<{ streams: string[]; from: string; to: string }>(printed.stdout, 'watch-gap');
  expect(gaps.map(({ streams }) => streams)).toEqual([['pods'], ['pods']]);
  for (const { from, to } of gaps) expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(150);
});
