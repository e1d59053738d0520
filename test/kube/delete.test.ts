import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { refusedDelete, refusedPods } from '../../src/kube/refused.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { readRefusal } from '../../src/kube/status.ts';
import { casesIn } from '../helpers/case-file.ts';
import { connected, json, nowhere, pod, serve, status, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { deleted } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { questionOf, serveAnswers, type Answer } from './helpers/scripted-api.ts';
import { kinds, stopping } from './helpers/take.ts';
import { serveTls } from './helpers/tls-api.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };

const terminating = pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' });

interface Case {
  target?: object;
  api: Answer[];
  seen?: string[];
  of?: Record<number, object>;
  throws?: object;
  /** How many requests of a kind are sent. */
  asks?: Partial<Record<Answer['to'], number>>;
  waits?: number;
  body?: object;
}

const fields = ['target', 'api', 'seen', 'of', 'throws', 'asks', 'waits', 'body'] as const;

it.each(casesIn<Case>(new URL('delete.yaml', import.meta.url), fields))('%s', async (_, one) => {
  const api = await serveAnswers(one.api);
  const env = testEnv({ speed: 1000 });
  const running = deleted(await connected(api, { env }), { ...target, ...one.target });
  if (one.throws) await expect(running).rejects.toMatchObject(one.throws);
  else expect(kinds(await running)).toEqual(one.seen);
  for (const [index, part] of Object.entries(one.of ?? {})) expect((await running)[Number(index)]).toMatchObject(part);
  for (const [kind, count] of Object.entries(one.asks ?? {}))
    expect(api.asked.filter((asked) => questionOf(asked) === kind)).toHaveLength(count);
  if (one.waits !== undefined) expect(env.waits).toContain(one.waits);
  if (one.body) expect(JSON.parse(api.asked[0]?.body ?? '')).toEqual(one.body);
});

describe('deletePod', () => {
  it('sends one DELETE with a uid precondition and a Content-Length', async () => {
    const api = await serve((_, response) => json(response, 200, terminating));
    const seen = await deleted(await connected(api), target);
    const sent = api.asked;
    expect(seen).toMatchObject([
      { kind: 'requested', verb: 'delete', graceSeconds: 5, uid: 'uid-web' },
      { kind: 'answered', verb: 'delete', status: 200, object: terminating },
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
    const api = await serve((_, response) => setTimeout(() => json(response, 200, terminating), 100));
    const before: number[] = [];
    for await (const { kind } of deletePod(await connected(api), target, { signal: stopping() }))
      if (kind === 'requested') before.push(api.asked.length);
    expect(before).toEqual([0]);
  });

  it('evicts with the same precondition, and accepts a Status as the answer', async () => {
    const success = { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 };
    const api = await serve((_, response) => json(response, 201, success));
    const seen = await deleted(await connected(api), { ...target, evict: true });
    const sent = api.asked;
    expect(seen[1]).toEqual({ kind: 'answered', at: seen[1]?.at, verb: 'evict', status: 201 });
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/shop/pods/web/eviction' });
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      deleteOptions: { preconditions: { uid: 'uid-web' }, gracePeriodSeconds: 5 },
    });
  });

  it('lets the next GET decide if a credential plugin fails at the first', async () => {
    const api = await serveTls(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, 200, terminating);
    });
    const runs = join(await tempDir(), 'runs');
    const credential = execCredential({ token: 't-1234', expirationTimestamp: '2020-01-01T00:00:00Z' });
    const user = execUser(`echo run >> ${runs}; [ $(wc -l < ${runs}) -eq 2 ] || echo '${credential}'`);
    const cluster = await connected(api, { user, env: testEnv({ speed: 100 }) });
    expect(kinds(await deleted(cluster, target))).toEqual(['requested', 'looked']);
    expect((await readFile(runs, 'utf8')).trim().split('\n')).toHaveLength(3);
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
