/** The name of an impersonated user may have non-ASCII characters. They are sent as UTF-8, as in Go. */
import { expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { connected, json, pod, serve } from './helpers/api.ts';
import { answer, serveHttp2 } from './helpers/http2-api.ts';
import { deleted } from './helpers/observed.ts';
import { stopping } from './helpers/take.ts';

const flags = { as: 'jürgen', asGroup: ['żółw', 'plain'], asUserExtra: ['reason=夜中 😀'] };
const doomed = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 7 };

it.each([
  ['HTTP/1.1', async () => ({ ...(await serve((_, response) => json(response, 200, pod('web', '1')))), cluster: {} })],
  ['HTTP/2', () => serveHttp2((_, response) => answer(response, 200, pod('web', '1')))],
])('over %s', async (_, start) => {
  const api = await start();
  const cluster = await connected(api, { flags });
  // One request without a body and one with a body: Node writes their headers in different ways.
  await getObject(cluster, '/api/v1/namespaces/shop/pods/web');
  await deleted(cluster, doomed, stopping(200));
  expect(api.asked.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'DELETE']));
  for (const { method, headers, body } of api.asked) {
    const read = (name: string) => Buffer.from([headers[name]].flat().join(), 'latin1').toString('utf8');
    expect(read('impersonate-user')).toBe('jürgen');
    expect(read('impersonate-group')).toMatch(/^żółw, ?plain$/);
    expect(read('impersonate-extra-reason')).toBe('夜中 😀');
    if (method === 'DELETE') expect(JSON.parse(body)).toMatchObject({ gracePeriodSeconds: 7 });
  }
});
