/** An API server or proxy that answers but never helps: podexit says what it waits for, and never waits forever. */
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Health } from '../../src/kube/watch-position.ts';
import { getObject, tryGet, listObjects } from '../../src/kube/get.ts';
import { unwatched } from '../../src/kube/watch.ts';
import { watchObjects, all, kinds, stopping, take } from '../kube/helpers/observed.ts';
import { type Handler, connected, json, line, pod, podList, serve, status } from '../kube/helpers/api.ts';
import { certificates } from '../kube/helpers/certificates.ts';
import { testEnv } from '../kube/helpers/env.ts';

const pods = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;
const fast = (): { env: ReturnType<typeof testEnv> } => ({ env: testEnv({ speed: 50 }) });

/** The response of a server that is busy, starts up, or has lost its store. */
const busy = (code: number) => (response: ServerResponse) => json(response, code, status(code, 'Busy', 'not now'));
const page = (response: ServerResponse): void =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>log in</html>');
const huge = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"web","uid":"');
  const block = Buffer.alloc(1 << 20, 'x');
  let left = 40;
  const more = (): void => {
    if (response.destroyed) return;
    if (left-- > 0) response.write(block, more);
    else response.end('"}}]}');
  };
  more();
};

describe('a server that never gives the pod', () => {
  it.each([429, 500, 503])('makes podexit wait and say why if it answers %i to everything', async (code) => {
    const api = await serve((_, response) => busy(code)(response));
    const reasons: string[] = [];
    const stop = new AbortController();
    const waitingFor = (reason: string): void => void (reasons.push(reason) > 2 && stop.abort());
    const health: Health = { ...unwatched(), waitingFor };
    const cluster = await connected(api, fast());
    expect(kinds(await all(watchObjects(cluster, pods, { signal: stop.signal, health })))).not.toContain('listed');
    expect(reasons[0]).toBe(`the server answers ${code} to the list of pods: not now`);
  });

  it('is no Kubernetes API if it answers with an HTML page', async () => {
    const api = await serve((_, response) => page(response));
    const watching = all(watchObjects(await connected(api, fast()), pods, { signal: stopping() }));
    await expect(watching).rejects.toMatchObject({ code: 'server.not-kubernetes' });
  });

  it.each([400, 403, 404])('is no Kubernetes API if it answers a GET with a page and %i', async (code) => {
    const api = await serve((_, response) => void response.writeHead(code).end('<html>no backend</html>'));
    const getting = getObject(await connected(api, fast()), '/api/v1/namespaces/shop/pods/web');
    await expect(getting).rejects.toMatchObject({ code: 'server.not-kubernetes' });
  });

  it.each([false, true])(
    'fails with a clear error if it sends an object of 40 MB (streamed: %s)',
    async (isStreamed) => {
      const api = await serve(({ query }, response) => {
        if (query['watch'] && !isStreamed) busy(422)(response);
        else huge(response);
      });
      const watching = all(watchObjects(await connected(api, fast()), pods, { signal: stopping() }));
      await expect(watching).rejects.toMatchObject({ code: 'server.oversized-object' });
      expect(api.asked.length).toBeLessThanOrEqual(2);
    },
  );

  it('loses only the stream of another object that is too large', async () => {
    const api = await serve((_, response) => huge(response));
    const node = { stream: 'node', path: '/api/v1/nodes', name: 'node1' } as const;
    const seen = await all(watchObjects(await connected(api, fast()), node, { signal: stopping() }));
    expect(seen.at(-1)).toMatchObject({ kind: 'refused', stream: 'node' });
  });
});

describe('a streaming list that always fails while plain lists work', () => {
  const never: Record<string, (response: ServerResponse) => void> = {
    'is answered with 410': (response) => json(response, 410, status(410, 'Expired', 'too old')),
    'ends in a 410': (response) => response.writeHead(200).end(line('ERROR', status(410, 'Expired', 'too old'))),
    'is answered with 500': busy(500),
    'is answered with 503': busy(503),
    'is answered with 429': busy(429),
    'is answered with a page': page,
    'is cut': (response) => void response.write('{"type":', () => response.destroy()),
  };

  it.each(Object.entries(never))('is replaced by them if it %s', (_, answer) => isReplaced(answer));

  async function isReplaced(answer: (response: ServerResponse) => void): Promise<void> {
    const handler: Handler = ({ query }, response) => {
      if (query['sendInitialEvents']) return answer(response);
      if (query['watch']) return void response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      json(response, 200, podList('7', [pod('web', '6')]));
    };
    const api = await serve(handler);
    const seen = await take(watchObjects(await connected(api, fast()), pods, { signal: stopping(30_000) }), 2);
    expect(kinds(seen)).toEqual(['listed', 'synced']);
    expect(api.asked.filter(({ query }) => query['sendInitialEvents']).length).toBeLessThanOrEqual(2);
  }
});

describe('a request that fails for a while', () => {
  const after = (times: number, code: number, headers: Record<string, string> = {}): Handler => {
    let left = times;
    return (asked, response) => {
      if (left-- > 0) return json(response, code, status(code, 'Busy', 'not now'), headers);
      json(response, 200, asked.path.endsWith('pods') ? podList('7', [pod('web', '6')]) : pod('web', '6'));
    };
  };

  it.each([
    [1, 429],
    [1, 503],
    [3, 500],
  ])('succeeds after %i × %i: get and list', async (times, code) => {
    const signal = stopping();
    const target = { stream: 'siblings', path: pods.path } as const;
    const asking = async () => connected(await serve(after(times, code)), fast());
    expect((await getObject(await asking(), `${pods.path}/web`)).status).toBe(200);
    expect((await tryGet(await asking(), '/api/v1/namespaces/shop/pods/web', { signal }))?.status).toBe(200);
    expect(await listObjects(await asking(), target, { signal, retry: true })).toMatchObject({ kind: 'listed' });
  });

  it('waits as long as Retry-After says', async () => {
    const env = testEnv({ speed: 50 });
    const cluster = await connected(await serve(after(1, 429, { 'retry-after': '3' })), { env });
    expect((await getObject(cluster, `${pods.path}/web`)).status).toBe(200);
    expect(env.waits).toContain(3000);
  });

  it('is not repeated forever', async () => {
    const api = await serve(after(Infinity, 503));
    expect((await getObject(await connected(api, fast()), '/x')).status).toBe(503);
    expect(api.asked.length).toBeGreaterThan(2);
    expect(api.asked.length).toBeLessThanOrEqual(8);
  });

  it.each([403, 404, 409])('is sent once if the answer is %i', async (code) => {
    const api = await serve((_, response) => busy(code)(response));
    expect((await getObject(await connected(api, fast()), '/x')).status).toBe(code);
    expect(api.asked).toHaveLength(1);
  });
});

describe('a TLS failure gives a clear error', () => {
  const user = { token: 'token-1234' };

  it.each([
    ['TLSv1.2', 'handshake failure', 'may want a client certificate'],
    ['TLSv1.3', 'certificate required', 'it wants a client certificate, and none was shown'],
  ] as const)('for the alert of %s: %s', async (maxVersion, _, words) => {
    const { server, ca } = await certificates();
    const wanted = { ...server, maxVersion, ca, requestCert: true, rejectUnauthorized: true };
    const api = await serve((__, response) => json(response, 200, {}), wanted);
    const cluster = { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const error = await getObject(await connected(api, { cluster, user }), '/x').catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain(words);
    expect((error as Error).message).not.toMatch(/SSL routines|rec_layer/);
  });

  it('if the server does not speak TLS', async () => {
    const plain = await serve((_, response) => json(response, 200, {}));
    const url = plain.url.replace('http:', 'https:');
    const error = await getObject(await connected({ url }, { user }), '/x').catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain('does not speak TLS');
  });

  it('if client and server share no cipher', async () => {
    const { server, ca } = await certificates();
    const strict = createTlsServer({ ...server, minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_CCM_8_SHA256' });
    strict.on('tlsClientError', () => undefined).listen(0, '127.0.0.1');
    onTestFinished(() => void strict.close());
    await once(strict, 'listening');
    const url = `https://127.0.0.1:${(strict.address() as AddressInfo).port}`;
    const cluster = { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const error = await getObject(await connected({ url }, { cluster, user }), '/x').catch((thrown: Error) => thrown);
    expect((error as Error).message).toContain('refused the TLS handshake');
  });
});
