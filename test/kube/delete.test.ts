import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusedDelete, refusedPods } from '../../src/kube/refused.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { connected, json, nowhere, pod, serve, status, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { deleted } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { kinds, stopping } from './helpers/take.ts';
import { serveTls } from './helpers/tls-api.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };

/** A status and its body, a page of a proxy, or a connection that breaks before the answer. */
type Answer = readonly [code: number, body: object] | 'page' | 'lost';

const living: Answer = [200, pod('web', '5')];
const terminating: Answer = [200, pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' })];
const successor: Answer = [200, pod('web', '12', { uid: 'uid-successor' })];
const notFound: Answer = [404, status(404, 'NotFound', 'pods "web" not found')];
const erred: Answer = [500, status(500, 'InternalError', 'etcdserver: request timed out')];

/** Deletes the pod of a server that gives these answers to DELETEs or evictions, and to GETs; the last one repeatedly. */
async function run(deletes: readonly Answer[], gets: readonly Answer[] = [], more: object = {}) {
  const left = { GET: [...gets], other: [...deletes] };
  const api = await serve(({ method }, response, request) => {
    const answers = left[method === 'GET' ? 'GET' : 'other'];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 'lost';
    if (answer === 'lost') request.socket.destroy();
    else if (answer === 'page') response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no such page');
    else json(response, ...answer);
  });
  const env = testEnv({ speed: 1000 });
  const seen = await deleted(await connected(api, { env }), { ...target, ...more }).catch((thrown: Error) => thrown);
  const sent = api.asked.filter(({ method }) => method !== 'GET');
  const looks = api.asked.length - sent.length;
  return { seen: seen instanceof Error ? [] : seen, error: seen instanceof Error ? seen : undefined, sent, looks, env };
}

describe('deletePod', () => {
  it('sends one DELETE with a uid precondition and a Content-Length', async () => {
    const { seen, sent } = await run([terminating]);
    expect(seen).toMatchObject([
      { kind: 'requested', verb: 'delete', graceSeconds: 5, uid: 'uid-web' },
      { kind: 'answered', verb: 'delete', status: 200, object: terminating[1] },
    ]);
    expect(sent).toHaveLength(1);
    expect(JSON.parse(sent[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'uid-web' },
      gracePeriodSeconds: 5,
    });
    expect(sent[0]?.headers['content-length']).toBe(String(sent[0]?.body.length));
    expect(sent[0]?.query).toEqual({});
  });

  it('reports the request when it is sent, before any answer', async () => {
    const api = await serve((_, response) => setTimeout(() => json(response, ...terminating), 100));
    const before: number[] = [];
    for await (const { kind } of deletePod(await connected(api), target, { signal: stopping() }))
      if (kind === 'requested') before.push(api.asked.length);
    expect(before).toEqual([0]);
  });

  it('sends no grace period if none is requested', async () => {
    const { sent } = await run([terminating], [], { graceSeconds: null });
    expect(JSON.parse(sent[0]?.body ?? '')).not.toHaveProperty('gracePeriodSeconds');
  });

  it('evicts with the same precondition, and accepts a Status as the answer', async () => {
    const success = { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 };
    const { seen, sent } = await run([[201, success]], [], { evict: true });
    expect(seen[1]).toEqual({ kind: 'answered', at: seen[1]?.at, verb: 'evict', status: 201 });
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/shop/pods/web/eviction' });
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      deleteOptions: { preconditions: { uid: 'uid-web' }, gracePeriodSeconds: 5 },
    });
  });

  it('treats a 201 with a failure Status as a failure', async () => {
    const failure = status(500, 'InternalError', 'This pod has more than one PodDisruptionBudget');
    const { error, sent } = await run([[201, failure]], [], { evict: true });
    expect(error).toMatchObject({ code: 'evict.failed', hint: expect.stringContaining('only one budget') as string });
    expect(sent).toHaveLength(1);
  });

  it.each<[string, Answer[], Answer[], string[], requests: [sent: number, looks: number]]>([
    ['the pod terminates', ['lost'], [terminating], ['requested', 'looked'], [1, 1]],
    ['the pod is gone', ['lost'], [notFound], ['requested', 'looked'], [1, 1]],
    ['another pod has its name', ['lost'], [successor], ['requested', 'looked'], [1, 1]],
    ['the third GET is answered', [erred], ['lost', 'lost', terminating], ['requested', 'looked'], [1, 3]],
    ['the pod lives', ['lost', terminating], [living], ['requested', 'requested', 'answered'], [2, 1]],
    ['a proxy answered', ['page', terminating], ['page', living], ['requested', 'requested', 'answered'], [2, 2]],
    ['the next try finds no pod', [erred, notFound], [living], ['requested', 'requested'], [2, 1]],
    [
      'the last try was executed after all',
      [erred],
      [...Array<Answer>(8).fill(living), terminating],
      [...Array<string>(9).fill('requested'), 'looked'],
      [9, 9],
    ],
  ])('after an inconclusive answer sends again only if a GET shows the same pod: %s', async (_, ...one) => {
    const [deletes, gets, wanted, requests] = one;
    const { seen, sent, looks } = await run(deletes, gets);
    expect(kinds(seen)).toEqual(wanted);
    expect([sent.length, looks]).toEqual(requests);
  });

  it('lets the next GET decide if a credential plugin fails at the first', async () => {
    const api = await serveTls(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, ...terminating);
    });
    const runs = join(await tempDir(), 'runs');
    const credential = execCredential({ token: 't-1234', expirationTimestamp: '2020-01-01T00:00:00Z' });
    const user = execUser(`echo run >> ${runs}; [ $(wc -l < ${runs}) -eq 2 ] || echo '${credential}'`);
    const cluster = await connected(api, { user, env: testEnv({ speed: 100 }) });
    expect(kinds(await deleted(cluster, target))).toEqual(['requested', 'looked']);
    expect((await readFile(runs, 'utf8')).trim().split('\n')).toHaveLength(3);
  });

  it('waits as long as a 429 says, and is sent again', async () => {
    const busy = status(429, 'TooManyRequests', 'too many requests', { retryAfterSeconds: 3 });
    const { seen, env } = await run([[429, busy], terminating]);
    expect(kinds(seen)).toEqual(['requested', 'answered', 'requested', 'answered']);
    expect(seen[1]).toMatchObject({ status: 429 });
    expect(env.waits).toContain(3000);
  });

  it('retries for a while without a connection, then fails; nothing was requested', async () => {
    const cluster = await connected({ url: nowhere }, { env: testEnv({ speed: 2000 }) });
    const seen: unknown[] = [];
    const running = (async () => {
      for await (const rawObservation of deletePod(cluster, target, { signal: stopping() })) seen.push(rawObservation);
    })();
    await expect(running).rejects.toMatchObject({ code: 'server.unreachable' });
    expect(seen).toEqual([]);
  });

  it('gives up on a server that always fails, with a GET after each try', async () => {
    const { error, sent, looks } = await run([erred], [living]);
    expect(error).toMatchObject({ code: 'delete.failed' });
    expect(looks).toBe(sent.length);
  });

  it('does not read for ever if deleting pods is permitted but reading them is not', async () => {
    const message =
      'pods "web" is forbidden: User "dev" cannot get resource "pods" in API group "" in the namespace "shop"';
    const { error } = await run(['lost'], [[403, status(403, 'Forbidden', message)]]);
    expect(error).toMatchObject({ code: 'delete.forbidden' });
  });

  it('ends quietly on abort', async () => {
    const stop = new AbortController();
    const api = await serve(() => stop.abort());
    expect(kinds(await deleted(await connected(api), target, stop.signal))).not.toContain('answered');
  });
});

interface Real {
  about: string;
  method: string;
  status: number;
  response: unknown;
}

const real = readFileSync(new URL('../errors.ndjson', import.meta.url), 'utf8')
  .split('\n')
  .filter((text) => text !== '')
  .map((text) => JSON.parse(text) as Real);

const codes: Record<string, { code: string; names?: string; hint?: string }> = {
  'delete in no such namespace': { code: 'pod.gone' },
  'may not delete': { code: 'delete.forbidden', names: 'delete pods', hint: 'kind: Role' },
  'may not evict': { code: 'evict.forbidden', names: 'create pods/eviction', hint: 'kind: Role' },
  'eviction against a PodDisruptionBudget': {
    code: 'evict.disruption-budget',
    names: 'needs 1 healthy pods and has 1 currently',
  },
  'delete with another uid': { code: 'pod.replaced' },
  'delete with another uid as a query': { code: 'pod.replaced' },
  'bad grace': { code: 'delete.failed', names: 'cannot unmarshal' },
  'no credentials': { code: 'pod.forbidden', hint: 'kind: Role' },
  'wrong token': { code: 'auth.unauthorized', names: 'context "test"' },
  'may get and list pods, not watch': { code: 'pod.forbidden', names: 'watch pods', hint: '"watch"' },
};

describe('the real refusals of a cluster', () => {
  const cluster = {
    server: 'https://host:6443',
    contextName: 'test',
    clean: (text: string) => text,
  };

  it.each(Object.entries(codes))('%s', (about, { code, names = '', hint = '' }) => {
    const { method, status: code_, response } = real.find((each) => each.about === about) as Real;
    const refusal = readRefusal(code_, response);
    const pod = { namespace: 'shop', name: 'web', evict: method === 'POST' };
    const error = method === 'GET' ? refusedPods(cluster, pod, refusal) : refusedDelete(cluster, pod, refusal);
    expect(error.code).toBe(code);
    expect(error.message).toContain(names);
    expect(error.hint).toContain(hint);
    expect(error.exitCode).toBe(1);
  });

  it('are complete: the table has every refused DELETE and eviction', () => {
    const refused = real
      .filter(({ method, status: code }) => method !== 'GET' && code >= 300)
      .map(({ about }) => about);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused.filter((about) => !(about in codes))).toEqual([]);
  });

  it.each([403, 404])("do not call a proxy's %i page a denial or a missing pod", (code) => {
    const error = refusedDelete(cluster, { namespace: 'shop', name: 'web' }, readRefusal(code, '<html>'));
    expect(error).toMatchObject({ code: 'delete.failed', hint: expect.stringContaining('the proxy') as string });
  });

  it("do not call a proxy's 403 page a missing permission on pods", () => {
    const refusal = readRefusal(403, '<html>');
    const list = refusedPods(cluster, { namespace: 'shop' }, refusal);
    const get = refusedPods(cluster, { namespace: 'shop', name: 'web' }, refusal);
    expect([list.code, get.code]).toEqual(['pods.unreadable', 'pod.unreadable']);
    expect(`${list.hint}${get.hint}`).not.toContain('kind: Role');
  });

  it('distinguishes a webhook denial from a missing permission', () => {
    const denial = status(403, 'Forbidden', 'admission webhook "guard.example.com" denied the request: not on Fridays');
    const error = refusedDelete(cluster, { namespace: 'shop', name: 'web' }, readRefusal(403, denial));
    expect(error).toMatchObject({ code: 'delete.denied' });
    expect(error.message).toContain('not on Fridays');
    expect(error.hint).not.toContain('kind: Role');
  });
});
