import { writeFile } from 'node:fs/promises';
import { constants } from 'node:http2';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { connected, pod, tempDir } from './helpers/api.ts';
import { certificates, serveTls } from './helpers/certificates.ts';
import { type Http2Handler, answer, freezable, serveHttp2 } from './helpers/http2-api.ts';
import { testEnv } from './helpers/env.ts';
import { deleted, kinds } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';

const path = '/api/v1/namespaces/shop/pods/web';
const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };
const terminating = pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' });

describe('if the server offers HTTP/2', () => {
  it('concurrent requests share one connection, and have the expected headers', async () => {
    const api = await serveHttp2((_, response) => answer(response, 200, pod('web', '1')));
    const cluster = await connected(api, { user: { token: 'bearer-token' }, flags: { version: '1.2.3' } });
    const answers = await Promise.all([1, 2, 3].map(() => getObject(cluster, path)));
    expect(answers.map(({ body }) => body)).toEqual([pod('web', '1'), pod('web', '1'), pod('web', '1')]);
    expect(api.asked.map(({ version, connection }) => [version, connection])).toEqual(Array(3).fill(['2.0', 1]));
    expect(api.asked[0]).toMatchObject({ method: 'GET', path, body: '' });
    expect(api.asked[0]?.headers).toMatchObject({
      'user-agent': 'kubectl-podexit/1.2.3 (node)',
      accept: 'application/json',
      authorization: 'Bearer bearer-token',
      ':authority': new URL(api.url).host,
    });
  });

  it('a client certificate is sent, and a new connection sends the one that a plugin renewed', async () => {
    const made = await certificates();
    const folder = await tempDir();
    const api = await serveHttp2(({ connection }, response) => answer(response, connection === 1 ? 401 : 200, {}), {
      requestCert: true,
      rejectUnauthorized: true,
      ca: made.ca,
    });
    const credential = (cert: string) =>
      execCredential({ clientCertificateData: cert, clientKeyData: made.client.key });
    const [first, then] = [join(folder, 'first'), join(folder, 'then')];
    await writeFile(first, credential(made.client.cert));
    // The same certificate with its chain counts as another identity.
    await writeFile(then, credential(`${made.client.cert}${made.ca}`));
    const script = `if [ -e ${folder}/ran ]; then cat ${then}; else touch ${folder}/ran; cat ${first}; fi`;
    const cluster = await connected(api, { user: execUser(script) });
    expect((await getObject(cluster, path)).status).toBe(200);
    expect(api.asked.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('a token that no header can carry is refused before anything is sent', async () => {
    const api = await serveHttp2((_, response) => answer(response, 200, {}));
    const cluster = await connected(api, { user: { token: 'canary\r\ninjected: yes' } });
    const error: unknown = await getObject(cluster, path).catch((why: unknown) => why);
    expect(error).toMatchObject({ code: 'auth.unusable' });
    expect(String((error as Error).message)).not.toContain('canary');
    expect(api.asked).toEqual([]);
  });

  it('a second connection is opened if the first has reached its limit of streams', async () => {
    const api = await serveHttp2((one, response) => void (one.path === path && answer(response, 200, {})), {
      settings: { maxConcurrentStreams: 2 },
    });
    const cluster = await connected(api);
    await getObject(cluster, path);
    const stop = new AbortController();
    const held = [1, 2].map(() => cluster.stream({ method: 'GET', path: '/held', signal: stop.signal }));
    expect((await getObject(cluster, path)).status).toBe(200);
    expect(new Set(api.asked.map(({ connection }) => connection))).toEqual(new Set([1, 2]));
    stop.abort();
    await expect(Promise.all(held)).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('a request can be aborted before the headers, and even before the connection', async () => {
    const stop = new AbortController();
    const api = await serveHttp2(() => stop.abort());
    const cluster = await connected(api);
    const aborted = { name: 'AbortError' };
    await expect(getObject(cluster, path, { signal: stop.signal })).rejects.toMatchObject(aborted);
    await expect(getObject(await connected(api), path, { signal: stop.signal })).rejects.toMatchObject(aborted);
    expect(api.asked).toHaveLength(1);
  });

  it('an answer that is read slowly is throttled, and arrives completely', async () => {
    const chunk = 'x'.repeat(1024 * 1024);
    let written = 0;
    const api = await serveHttp2((_, response) => {
      const more = () => {
        if (written === 32) return void response.end();
        written++;
        response.write(chunk, more);
      };
      more();
    });
    const flow = await (await connected(api)).stream({ method: 'GET', path });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(written).toBeLessThan(32);
    let bytes = 0;
    for await (const part of flow.body) bytes += (part as Buffer).length;
    expect(bytes).toBe(32 * chunk.length);
  });
});

describe('if the server does not offer HTTP/2', () => {
  it('HTTP/1.1 is used', async () => {
    const api = await serveTls((_, response) => void response.end('{}'));
    const cluster = await connected(api);
    await Promise.all([getObject(cluster, path), getObject(cluster, path)]);
    expect(api.asked).toHaveLength(2);
  });

  it('HTTP/1.1 is used with DISABLE_HTTP2 too, as in kubectl', async () => {
    const api = await serveHttp2((_, response) => answer(response, 200, {}));
    await getObject(await connected(api, { env: testEnv({ variables: { DISABLE_HTTP2: '1' } }) }), path);
    expect(api.asked.map(({ version }) => version)).toEqual(['1.1']);
  });
});

describe('an HTTP/2 connection that ends', () => {
  it('in the middle of an answer is an error, for a reset stream and for a broken connection', async () => {
    for (const ending of ['reset', 'gone'] as const) {
      const api = await serveHttp2((_, response) => {
        response.writeHead(200);
        response.write('{"kind":"Pod"}', () => (ending === 'gone' ? api.cut() : reset(response)));
      });
      await expect(getObject(await connected(api), path)).rejects.toMatchObject({ code: 'server.unreachable' });
    }
  });

  it('with GOAWAY completes its streams, and new requests use a new connection', async () => {
    const release: (() => void)[] = [];
    const api = await serveHttp2((one, response) => {
      if (one.path === path) return answer(response, 200, {});
      response.writeHead(200);
      response.write('a');
      release.push(() => void response.end('b'));
    });
    const cluster = await connected(api);
    const flow = await cluster.stream({ method: 'GET', path: '/held' });
    api.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await getObject(cluster, path);
    expect(api.asked.map(({ connection }) => connection)).toEqual([1, 2]);
    release.forEach((end) => end());
    const parts: string[] = [];
    for await (const part of flow.body) parts.push(String(part));
    expect(parts.join('')).toBe('ab');
  });

  it('while it was idle makes the next GET be sent again at once', async () => {
    let asked = 0;
    const api = await serveHttp2((one, response) => {
      if (++asked === 2) api.cut();
      else answer(response, 200, pod('web', String(one.connection)));
    });
    const cluster = await connected(api);
    await getObject(cluster, path);
    expect((await getObject(cluster, path)).body).toEqual(pod('web', '2'));
  });

  it('silently, because the network is gone, fails its streams with ETIMEDOUT', async () => {
    const api = await serveHttp2((_, response) => void response.writeHead(200).write('{}'));
    const network = await freezable(api);
    const cluster = await connected({ ...network, cluster: api.cluster }, { env: testEnv() });
    const flow = await cluster.stream({ method: 'GET', path });
    network.freeze();
    const read = async () => {
      for await (const _ of flow.body);
    };
    await expect(read()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });
});

describe('a DELETE over HTTP/2', () => {
  it('is sent again without a GET if the server refused it: it was not executed', async () => {
    const { received, asked } = await deleting((nth, _, response) => {
      if (nth === 1) response.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(response, 200, terminating);
    });
    expect(asked).toEqual(['DELETE', 'DELETE']);
    expect(received).toEqual(['requested', 'requested', 'answered']);
  });

  it('is sent again without a GET, on a new connection, if a GOAWAY excludes its stream', async () => {
    for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_ENHANCE_YOUR_CALM]) {
      const { received, asked, connections } = await deleting((nth, _, response) => {
        if (nth === 1) response.stream.session?.goaway(code, 1);
        else answer(response, 200, terminating);
      });
      expect(asked).toEqual(['DELETE', 'DELETE']);
      expect(received).toEqual(['requested', 'requested', 'answered']);
      expect(connections.at(-1)).toBe(2);
    }
  });

  it('may have been executed if its stream was reset: a GET decides, and it is not sent again', async () => {
    const { received, asked } = await deleting((nth, one, response) => {
      if (one.method === 'GET') answer(response, 200, terminating);
      else reset(response);
    });
    expect(asked).toEqual(['DELETE', 'GET']);
    expect(received).toEqual(['requested', 'looked']);
  });
});

/** Deletes while a stream is open, so that a GOAWAY can include one of the two requests and exclude the other. */
async function deleting(handler: (nth: number, ...of: Parameters<Http2Handler>) => void) {
  let nth = 0;
  const api = await serveHttp2((one, response, request) => {
    if (one.path === '/held') response.writeHead(200);
    else handler(++nth, one, response, request);
  });
  const cluster = await connected(api, { env: testEnv({ speed: 100 }) });
  const held = cluster.stream({ method: 'GET', path: '/held' }).catch(() => undefined);
  while (api.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const received = kinds(await deleted(cluster, target));
  cluster.close();
  await held;
  const about = api.asked.filter((one) => one.path !== '/held');
  return {
    received,
    asked: about.map(({ method }) => method),
    connections: about.map(({ connection }) => connection),
  };
}

/** Resets the stream, like a server that cannot continue. Without an error Node would end it normally. */
function reset(response: Parameters<Http2Handler>[1]): void {
  response.stream.destroy(new Error('reset'));
}
