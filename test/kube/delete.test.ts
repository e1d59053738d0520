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
import { deleted, kinds, stopping } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { questionOf, serveAnswers, type Answer } from './helpers/scripted-api.ts';
import { serveTls } from './helpers/certificates.ts';

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

interface Refused {
  real?: string;
  refuses?: NonNullable<Answer['refuses']>;
  /** The status of a page. */
  page?: number;
  /** Absent: delete. */
  verb?: 'evict' | 'get' | 'list';
  code: string;
  message?: string;
  hint?: string;
  notHint?: string;
}

const parts = ['real', 'refuses', 'page', 'verb', 'code', 'message', 'hint', 'notHint'] as const;
const refusals = casesIn<Refused>(new URL('refusals.yaml', import.meta.url), parts);

describe('a refused request', () => {
  const cluster = { server: 'https://host:6443', contextName: 'test', clean: (text: string) => text };

  function refusalOf({ real: name, refuses, page = 0 }: Refused) {
    const answer = real.find(({ about }) => about === name);
    if (answer) return readRefusal(answer.status, answer.response);
    return refuses
      ? readRefusal(refuses[0], status(refuses[0], refuses[1], refuses[2] ?? '', refuses[3]))
      : readRefusal(page, '<html>');
  }

  it.each(refusals)('%s', (_, one) => {
    const { verb, code, message = '', hint = '', notHint } = one;
    const pod = { namespace: 'shop', ...(verb !== 'list' && { name: 'web' }), evict: verb === 'evict' };
    const isRead = verb === 'get' || verb === 'list';
    const error = isRead
      ? refusedPods(cluster, pod, refusalOf(one))
      : refusedDelete(cluster, { name: '', ...pod }, refusalOf(one));
    expect(error).toMatchObject({ code, exitCode: 1 });
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    if (notHint !== undefined) expect(error.hint).not.toContain(notHint);
  });

  it('is a case for every DELETE and eviction that the real cluster refused', () => {
    const refused = real
      .filter(({ method, status: code }) => method !== 'GET' && code >= 300)
      .map(({ about }) => about);
    expect(refused.length).toBeGreaterThanOrEqual(5);
    expect(refused.filter((about) => !refusals.some(([, one]) => one.real === about))).toEqual([]);
  });
});
