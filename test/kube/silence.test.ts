/** What podexit asks about a silent stream. An open one needs no new credentials, so a failing plugin says nothing about it. */
import { expect, it, vi } from 'vitest';
import type { ApiRequest } from '../../src/kube/cluster.ts';
import { askWhatIsNew, checkSilence } from '../../src/kube/silence.ts';
import type { StreamContext } from '../../src/kube/watch-position.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { connected, json, serve, type Api } from './helpers/api.ts';
import { execUser } from './helpers/plugin.ts';
import { serveTls } from './helpers/certificates.ts';

const target = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;

async function asked(api: Pick<Api, 'url'>, user: object = {}) {
  const { signal } = new AbortController();
  const position = { newest: '7', keys: new Set(['shop/web']) };
  const cluster = await connected(api, { user });
  return await askWhatIsNew({ cluster, target, position, signal, deliver: () => {} });
}

it('if a credential plugin fails, it is unknown whether a silent stream has missed something', async () => {
  const api = await serveTls((_, response) => json(response, 200, {}));
  expect(await asked(api, execUser('exit 1'))).toMatchObject({ has: 'unknown' });
  expect(api.asked).toEqual([]);
});

it("if a proxy answers with its own 404 page, it is unknown whether a silent stream's object is gone", async () => {
  const api = await serve((_, response) => void response.writeHead(404).end('<html>no backend</html>'));
  expect(await asked(api)).toMatchObject({ has: 'unknown' });
});

const dated = { kind: 'dated', at: 9000, sentAt: 5000, date: 8000 } as const;

/** Asks about a silent stream of a server that answers only if `answersAtOnce`, until `answerAll`. */
function askedAbout(
  stream: 'pod' | 'events',
  answersAtOnce: (asked: Pick<ApiRequest, 'query'>) => boolean,
  status = 200,
) {
  const body = { metadata: { name: 'web', namespace: 'shop', resourceVersion: '7' } };
  const delivered: RawObservation[] = [];
  const waiting: (() => void)[] = [];
  const request = async (asked: Pick<ApiRequest, 'query'>) => {
    if (!answersAtOnce(asked)) await new Promise<void>((resolve) => waiting.push(resolve));
    return { status, body, headers: {}, dated: [dated] };
  };
  const context = {
    cluster: { env: { now: () => 5000 }, request },
    target: { ...target, stream },
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

it('a refusal needs no storage, so it shows nothing of it', async () => {
  const { found, delivered } = askedAbout('events', () => true, 429);
  await found;
  expect(delivered).toEqual([{ ...dated, read: 'failed' }]);
});
