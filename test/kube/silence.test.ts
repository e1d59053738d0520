/** What podexit asks about a silent stream. An open one needs no new credentials, so a failing plugin says nothing about it. */
import { expect, it, vi } from 'vitest';
import { askWhatIsNew, checkSilence } from '../../src/kube/silence.ts';
import type { StreamContext } from '../../src/kube/watch-position.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { connect } from '../../src/kube/connect.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { serving } from '../helpers/serving.ts';
import { connected, serve } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump, load } from 'js-yaml';

it('if a credential plugin fails, it is unknown whether a silent stream has missed something', () =>
  serving('graceful-exit', { tls: selfSigned() }, async ({ server, flags }) => {
    const config = load(await readFile(flags.at(-1) ?? '', 'utf8')) as { users: { user: object }[] };
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'false', interactiveMode: 'Never' };
    config.users = config.users.map((one) => ({ ...one, user: { exec } }));
    const kubeconfig = join(await mkdtemp(join(tmpdir(), 'podexit-')), 'config');
    await writeFile(kubeconfig, dump(config));
    const cluster = await connect({ kubeconfig, namespace: server.namespace, version: '0.0.0' }, testEnv());
    const target = { stream: 'pod' as const, path: `/api/v1/namespaces/${server.namespace}/pods`, name: server.pod };
    const signal = new AbortController().signal;
    const asking = askWhatIsNew({ cluster, target, position: { keys: new Set() }, signal, deliver: () => {} });
    await expect(asking).resolves.toMatchObject({ has: 'unknown' });
    cluster.close();
  }));

it("if a proxy answers with its own 404 page, it is unknown whether a silent stream's object is gone", async () => {
  const api = await serve((_, response) => void response.writeHead(404).end('<html>no backend</html>'));
  const target = { stream: 'pod' as const, path: '/api/v1/namespaces/shop/pods', name: 'web' };
  const position = { newest: '7', keys: new Set(['shop/web']) };
  const { signal } = new AbortController();
  const { has } = await askWhatIsNew({ cluster: await connected(api), target, position, signal, deliver: () => {} });
  expect(has).toBe('unknown');
});

interface Asked {
  readonly query?: Readonly<Record<string, string | undefined>>;
}

const dated = { kind: 'dated', at: 9000, sentAt: 5000, date: 8000 } as const;

/** Asks about a silent stream of a server that answers only if `answersAtOnce`, until `answerAll`. */
function askedAbout(stream: 'pod' | 'events', answersAtOnce: (asked: Asked) => boolean, status = 200) {
  const body = { metadata: { name: 'web', namespace: 'shop', resourceVersion: '7' } };
  const delivered: RawObservation[] = [];
  const waiting: (() => void)[] = [];
  const request = async (asked: Asked) => {
    if (!answersAtOnce(asked)) await new Promise<void>((resolve) => waiting.push(resolve));
    return { status, body, headers: {}, dated: [dated] };
  };
  const context = {
    cluster: { env: { now: () => 5000 }, request },
    target: { stream, path: '/api/v1/namespaces/shop/pods', name: 'web' },
    position: { newest: '7', keys: new Set(['shop/web']) },
    signal: new AbortController().signal,
    deliver: (one: RawObservation) => void delivered.push(one),
  };
  const found = checkSilence(context as unknown as StreamContext, () => Promise.resolve(undefined));
  return { found, delivered, answerAll: () => waiting.forEach((answer) => answer()) };
}

it('an answer that comes too late to compare still shows how long the server took', async () => {
  const { found, delivered, answerAll } = askedAbout('events', () => false);
  expect([await found, delivered]).toEqual([{ kind: 'unanswered' }, []]);
  answerAll();
  await vi.waitFor(() => expect(delivered).toEqual([{ ...dated, read: 'stored' }]));
});

it('a server that does not answer about the pod is asked what it has in memory, which needs no storage', async () => {
  const { found, delivered } = askedAbout('pod', ({ query }) => query?.['resourceVersion'] === '0');
  expect(await found).toEqual({ kind: 'unanswered' });
  await vi.waitFor(() => expect(delivered).toEqual([{ ...dated, read: 'cached' }]));
});

it.each([403, 404, 429, 500])(
  'a page %s of a proxy or a refusal needs no storage, so it shows nothing of it',
  async (status) => {
    const { found, delivered } = askedAbout('events', () => true, status);
    await found;
    expect(delivered).toEqual([{ ...dated, read: 'failed' }]);
  },
);
