import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { refusedDelete, refusedPods } from '../../src/kube/refused.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { readRefusal } from '../../src/kube/status.ts';
import type { Handler } from './helpers/api.ts';
import { connected, json, nowhere, pod, serve, status } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, stopping } from './helpers/take.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };
const terminating = pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' });

async function run(handler: Handler, more: object = {}) {
  const api = await serve(handler);
  const cluster = await connected(api, { env: testEnv({ speed: 100 }) });
  const rawObservations = all(deletePod(cluster, { ...target, ...more }, { signal: stopping() }));
  const seen = await rawObservations.catch((error: unknown) => error as Error);
  const sent = api.asked.filter(({ method }) => method !== 'GET');
  return { api, seen: seen instanceof Error ? [] : seen, error: seen instanceof Error ? seen : undefined, sent };
}

describe('deletePod', () => {
  it('sends one DELETE with a uid precondition and a Content-Length', async () => {
    const { seen, sent } = await run((_, response) => json(response, 200, terminating));
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
    let received = 0;
    const api = await serve((_, response) => setTimeout(() => json(response, 200, terminating), 100));
    const before: number[] = [];
    for await (const { kind } of deletePod(await connected(api), target, { signal: stopping() })) {
      if (kind === 'requested') before.push(api.asked.length, ++received);
    }
    expect(before).toEqual([0, 1]);
  });

  it('sends no grace period if none is requested', async () => {
    const { sent } = await run((_, response) => json(response, 200, terminating), { graceSeconds: null });
    expect(JSON.parse(sent[0]?.body ?? '')).not.toHaveProperty('gracePeriodSeconds');
  });

  it('evicts with the same precondition, and accepts a Status as the answer', async () => {
    const success = { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 };
    const { seen, sent } = await run((_, response) => json(response, 201, success), { evict: true });
    expect(seen[1]).toEqual({ kind: 'answered', at: seen[1]?.at, verb: 'evict', status: 201 });
    expect(sent[0]).toMatchObject({ method: 'POST', path: '/api/v1/namespaces/shop/pods/web/eviction' });
    expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      deleteOptions: { preconditions: { uid: 'uid-web' }, gracePeriodSeconds: 5 },
    });
  });

  it('treats a 201 with a failure Status as a failure', async () => {
    const failure = status(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
    const { error, sent } = await run((_, response) => json(response, 201, failure), { evict: true });
    expect(error).toMatchObject({ code: 'evict.failed' });
    expect(sent).toHaveLength(1);
  });

  it('is not sent again if the answer was lost and a GET shows that it was executed', async () => {
    const { seen, sent } = await run(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, 200, terminating);
    });
    expect(kinds(seen)).toEqual(['requested', 'looked']);
    expect(seen[1]).toMatchObject({ object: terminating });
    expect(sent).toHaveLength(1);
  });

  it('is not sent again if the answer was lost and the pod is gone', async () => {
    const { seen, sent } = await run(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, 404, status(404, 'NotFound', 'pods "web" not found'));
    });
    expect(seen[1]).toEqual({ kind: 'looked', at: seen[1]?.at, sentAt: expect.any(Number) as number });
    expect(sent).toHaveLength(1);
  });

  it('never deletes a successor: another uid shows that the DELETE was executed', async () => {
    const successor = { kind: 'Pod', metadata: { name: 'web', uid: 'uid-successor', resourceVersion: '12' } };
    const { seen, sent } = await run(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, 200, successor);
    });
    expect(kinds(seen)).toEqual(['requested', 'looked']);
    expect(sent).toHaveLength(1);
  });

  it('is sent again if a GET shows the same uid without deletionTimestamp', async () => {
    let deletes = 0;
    const { seen, sent } = await run(({ method }, response, request) => {
      if (method === 'GET') return json(response, 200, pod('web', '5'));
      if (deletes++ === 0) return void request.socket.destroy();
      json(response, 200, terminating);
    });
    expect(kinds(seen)).toEqual(['requested', 'requested', 'answered']);
    expect(sent).toHaveLength(2);
  });

  it('reads the pod after a 500 too, until the GET is answered', async () => {
    let looks = 0;
    const { seen, sent } = await run(({ method }, response, request) => {
      if (method === 'DELETE')
        return json(response, 500, status(500, 'InternalError', 'etcdserver: request timed out'));
      if (looks++ < 2) return void request.socket.destroy();
      json(response, 200, terminating);
    });
    expect(kinds(seen)).toEqual(['requested', 'looked']);
    expect(sent).toHaveLength(1);
  });

  it('waits as long as a 429 says, and is sent again', async () => {
    let deletes = 0;
    const api = await serve((_, response) => {
      if (deletes++ > 0) return json(response, 200, terminating);
      json(response, 429, status(429, 'TooManyRequests', 'too many requests'), { 'retry-after': '3' });
    });
    const env = testEnv({ speed: 100 });
    const seen = await all(deletePod(await connected(api, { env }), target, { signal: stopping() }));
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
    const { error, sent, api } = await run(({ method }, response) => {
      if (method === 'GET') json(response, 200, pod('web', '5'));
      else
        json(
          response,
          500,
          status(500, 'InternalError', 'failed calling webhook "slow.example.com": context deadline exceeded'),
        );
    });
    expect(error).toMatchObject({ code: 'delete.failed' });
    expect(api.asked.filter(({ method }) => method === 'GET')).toHaveLength(sent.length);
  });

  it('does not read for ever if deleting pods is permitted but reading them is not', async () => {
    const message =
      'pods "web" is forbidden: User "dev" cannot get resource "pods" in API group "" in the namespace "shop"';
    const { error } = await run(({ method }, response, request) => {
      if (method === 'DELETE') request.socket.destroy();
      else json(response, 403, status(403, 'Forbidden', message));
    });
    expect(error).toMatchObject({ code: 'delete.forbidden' });
  });

  it('ends quietly on abort', async () => {
    const stop = new AbortController();
    const api = await serve(() => stop.abort());
    const seen = await all(deletePod(await connected(api), target, { signal: stop.signal }));
    expect(kinds(seen)).not.toContain('answered');
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
    const [list, get] = [
      refusedPods(cluster, { namespace: 'shop' }, refusal),
      refusedPods(cluster, { namespace: 'shop', name: 'web' }, refusal),
    ];
    expect([list.code, get.code]).toEqual(['pods.unreadable', 'pod.unreadable']);
    expect([list.hint, get.hint]).not.toContainEqual(expect.stringContaining('kind: Role'));
  });

  it('distinguishes a webhook denial from a missing permission', () => {
    const denial = status(403, 'Forbidden', 'admission webhook "guard.example.com" denied the request: not on Fridays');
    const error = refusedDelete(cluster, { namespace: 'shop', name: 'web' }, readRefusal(403, denial));
    expect(error).toMatchObject({ code: 'delete.denied' });
    expect(error.message).toContain('not on Fridays');
    expect(error.hint).not.toContain('kind: Role');
  });
});
