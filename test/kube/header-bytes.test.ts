/** The name of an impersonated user may have non-ASCII characters. They are sent as UTF-8, as in Go. */
import http from 'node:http';
import type net from 'node:net';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import type { Cluster } from '../../src/kube/cluster.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { getObject } from '../../src/kube/get.ts';
import { connected, json, pod, serve } from './helpers/api.ts';
import { answer, serveHttp2 } from './helpers/http2-api.ts';
import { all, stopping } from './helpers/take.ts';

const flags = { as: 'jürgen', asGroup: ['żółw', 'plain'], asUserExtra: ['reason=夜中 😀'] };
const path = '/api/v1/namespaces/shop/pods/web';
const doomed = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 7 };

interface ReceivedRequest {
  method: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** One request without a body and one with a body: Node writes their headers in different ways. */
async function ask(cluster: Cluster): Promise<void> {
  await getObject(cluster, path);
  await all(deletePod(cluster, doomed, { signal: stopping(200) }));
}

function expectUtf8(asked: readonly ReceivedRequest[]): void {
  expect(asked.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'DELETE']));
  for (const { method, headers, body } of asked) {
    const read = (name: string) => Buffer.from([headers[name]].flat().join(), 'latin1').toString('utf8');
    expect(read('impersonate-user')).toBe('jürgen');
    expect(read('impersonate-group')).toMatch(/^żółw, ?plain$/);
    expect(read('impersonate-extra-reason')).toBe('夜中 😀');
    if (method === 'DELETE') expect(JSON.parse(body)).toMatchObject({ gracePeriodSeconds: 7 });
  }
}

it('over HTTP/1.1', async () => {
  const api = await serve((_, response) => json(response, 200, pod('web', '1')));
  await ask(await connected(api, { flags }));
  expectUtf8(api.asked);
});

it('over HTTP/2', async () => {
  const api = await serveHttp2((_, response) => answer(response, 200, pod('web', '1')));
  await ask(await connected(api, { flags, cluster: api.cluster }));
  expectUtf8(api.asked);
});

it('through a proxy that receives absolute URLs', async () => {
  const api = await serve((_, response) => json(response, 200, pod('web', '1')));
  const proxy = http.createServer((request, response) => {
    const url = new URL(request.url ?? '');
    const onward = http.request(url, { method: request.method, headers: request.headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(response);
    });
    request.pipe(onward);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as net.AddressInfo;
  await ask(await connected(api, { flags, cluster: { 'proxy-url': `http://127.0.0.1:${port}` } }));
  expectUtf8(api.asked);
});
