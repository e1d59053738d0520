import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ClusterMemory } from '../../src/kube/cluster.ts';
import { getObject } from '../../src/kube/get.ts';
import { reportShortage } from '../../src/kube/http/client.ts';
import { TransportFailure } from '../../src/kube/http/failure.ts';
import { watchObjects } from '../../src/kube/watch.ts';
import { connected, json, pod, serve, status } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { deleted, kinds, stopping } from './helpers/observed.ts';
import { serveTls } from './helpers/certificates.ts';

const path = '/api/v1/namespaces/shop/pods/web';
const doomed = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: null };

describe('a request', () => {
  it('has the expected path, query and headers, and reuses the connection', async () => {
    const api = await serve((_, response) => json(response, 200, pod('web', '1')));
    const cluster = await connected({ url: `${api.url}/k8s/clusters/c-1/` }, { flags: { version: '1.2.3' } });
    await getObject(cluster, path);
    const answer = await getObject(cluster, path, { query: { labelSelector: 'a in (b,c)' } });
    expect(answer.body).toEqual(pod('web', '1'));
    expect(answer.sentAt).toBeLessThanOrEqual(answer.at);
    expect(api.asked[0]).toMatchObject({ path: `/k8s/clusters/c-1${path}`, body: '' });
    expect(api.asked[0]?.headers).toMatchObject({
      'user-agent': 'kubectl-podexit/1.2.3 (node)',
      accept: 'application/json',
    });
    expect(api.asked[0]?.headers).not.toHaveProperty('content-length');
    expect(api.asked[1]?.query).toEqual({ labelSelector: 'a in (b,c)' });
    expect(api.connections()).toBe(1);
  });

  it('is sent again at once if the server closes the kept-alive connection meanwhile', async () => {
    let asked = 0;
    const api = await serve((one, response, request) => {
      if (++asked === 2) request.socket.resetAndDestroy();
      else json(response, 200, pod('web', String(one.connection)));
    });
    const cluster = await connected(api);
    await getObject(cluster, path);
    expect((await getObject(cluster, path)).body).toEqual(pod('web', '2'));
  });

  it('is not sent again if a new connection breaks', async () => {
    const api = await serve((_, __, request) => request.socket.resetAndDestroy());
    await expect(getObject(await connected(api), path)).rejects.toMatchObject({ code: 'server.unreachable' });
    expect(api.asked).toHaveLength(1);
  });

  it('follows a redirect on the same host', async () => {
    const api = await serve(({ path: asked }, response) => {
      if (asked === '/new') json(response, 200, pod('web', '1'));
      else response.writeHead(307, { location: '/new' }).end();
    });
    expect((await getObject(await connected(api), path)).status).toBe(200);
  });

  it('never forwards credentials to another host', async () => {
    const other = await serve((_, response) => json(response, 200, pod('web', '1')));
    const api = await serveTls((_, response) => response.writeHead(302, { location: `${other.url}/x` }).end());
    await expect(getObject(await connected(api, { user: { token: 'secret-token' } }), path)).rejects.toMatchObject({
      code: 'server.redirected',
      message: `the server ${api.url} redirects to ${other.url}: refusing to forward credentials`,
    });
    expect(other.asked).toEqual([]);
  });

  it('stops at a redirect loop, and at once at a redirect of a DELETE', async () => {
    const api = await serve((_, response) => response.writeHead(302, { location: path }).end());
    const cluster = await connected(api);
    await expect(getObject(cluster, path)).rejects.toMatchObject({
      code: 'server.redirected',
      message: `the server ${api.url} redirects more than 5 times`,
    });
    expect(api.asked).toHaveLength(6);
    await expect(cluster.request({ method: 'DELETE', path })).rejects.toMatchObject({
      code: 'server.redirected',
      message: `the server ${api.url} redirects a DELETE, which podexit does not follow`,
    });
    expect(api.asked).toHaveLength(7);
  });

  it('reports rejected credentials after one try if they cannot be renewed', async () => {
    const api = await serveTls((_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')));
    await expect(getObject(await connected(api, { user: { token: 'wrong-token' } }), path)).rejects.toMatchObject({
      code: 'auth.unauthorized',
      message: expect.stringContaining('context "test"') as string,
    });
    expect(api.asked).toHaveLength(1);
  });

  it('respects --request-timeout, except a write, which may still be executed', async () => {
    const api = await serve(({ method }, response) => {
      if (method === 'DELETE') setTimeout(() => json(response, 200, pod('web', '9')), 400);
    });
    const cluster = await connected(api, { flags: { requestTimeoutMs: 80 } });
    await expect(getObject(cluster, path)).rejects.toMatchObject({
      code: 'server.unreachable',
      message: expect.stringMatching(/0\.08 s/) as string,
    });
    expect(kinds(await deleted(cluster, doomed))).toEqual(['requested', 'answered']);
    expect(api.asked.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
  });

  it('can be aborted before the headers arrive', async () => {
    const stop = new AbortController();
    const api = await serve(() => stop.abort());
    await expect(getObject(await connected(api), path, { signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  it('is reported as "unreachable" if its answer breaks off', async () => {
    const api = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(getObject(await connected(api), path)).rejects.toMatchObject({ code: 'server.unreachable' });
  });

  it('has an undefined body if the answer is not JSON', async () => {
    const api = await serve((_, response) => response.end('<html>'));
    expect((await getObject(await connected(api), path)).body).toBeUndefined();
  });
});

it('nothing is sent after the cluster was closed, not even a retry', async () => {
  const api = await serve((_, response) => {
    if (api.asked.length === 1) json(response, 200, pod('web', '1'));
    else cluster.close();
  });
  const env = testEnv({ speed: 20 });
  const cluster = await connected(api, { env });
  await getObject(cluster, path);
  await expect(getObject(cluster, path)).rejects.toMatchObject({ code: 'server.unreachable' });
  expect(api.asked).toHaveLength(2);
  expect(env.waits).toEqual([]);
});

it('an endless answer is abandoned, and its connection is closed', async () => {
  const piece = Buffer.alloc(8 * 1024 * 1024, ' ');
  function* pieces() {
    for (;;) yield piece;
  }
  const closed: Promise<void>[] = [];
  const api = await serve((_, response) => {
    closed.push(new Promise((resolve) => response.once('close', resolve)));
    Readable.from(pieces()).pipe(response);
  });
  const cluster = await connected(api);
  const error = { code: 'server.endless-answer', message: expect.stringContaining('256 MiB') as unknown };
  await expect(getObject(cluster, path)).rejects.toMatchObject(error);
  const target = { stream: 'pod', path: '/api/v1/namespaces/shop/pods' } as const;
  const listing = watchObjects(cluster, target, { signal: stopping(), deliver: () => {}, once: true });
  await expect(listing).rejects.toMatchObject({ code: 'server.oversized-object' });
  expect(api.asked).toHaveLength(2);
  await Promise.all(closed);
});

it('a machine that cannot open another connection is reported once for all streams, at every -v level, with a hint', () => {
  const memory: ClusterMemory = { reached: true, streamingLists: 'untried' };
  const said: string[] = [];
  const log = (level: number, message: string) => void said.push(`${level} ${message}`);
  for (const code of ['ECONNREFUSED', 'EMFILE', 'EPROXY', 'EMFILE'])
    reportShortage(new TransportFailure(code, { sent: false, code }), memory, { log });
  expect(said).toEqual([expect.stringMatching(/^0 this process may open no more files.*ulimit -n/)]);
});
