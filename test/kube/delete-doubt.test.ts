/** After an inconclusive answer to a DELETE a GET of the pod decides. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deletePod } from '../../src/kube/delete.ts';
import type { Asked, Handler } from './helpers/api.ts';
import { connected, json, pod, serve, status, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, stopping } from './helpers/take.ts';
import { serveTls } from './helpers/tls-api.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };
const living = pod('web', '5');
const terminating = pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' });
const successor = pod('web', '12', { uid: 'uid-successor' });
const notFound = status(404, 'NotFound', 'pods "web" not found');
const erred = status(500, 'InternalError', 'etcdserver: request timed out');

const isDelete = ({ method }: Asked) => method === 'DELETE';

async function run(handler: Handler) {
  const api = await serve(handler);
  const cluster = await connected(api, { env: testEnv({ speed: 1000 }) });
  const seen = await all(deletePod(cluster, target, { signal: stopping() }));
  return { seen, sent: api.asked.filter(isDelete), looks: api.asked.filter((one) => !isDelete(one)) };
}

it.each<[string, number, object]>([
  ['terminates', 200, terminating],
  ['is gone', 404, notFound],
  ['has been replaced', 200, successor],
])('counts the last failed try as executed if the pod %s afterwards', async (_, code, found) => {
  let deletes = 0;
  const { seen, sent, looks } = await run((asked, response) => {
    if (isDelete(asked)) return void (deletes++, json(response, 500, erred));
    if (deletes < 9) json(response, 200, living);
    else json(response, code, found);
  });
  expect(kinds(seen).at(-1)).toBe('looked');
  expect([sent.length, looks.length]).toEqual([9, 9]);
});

it('reads the pod even after the last try with a lost answer', async () => {
  let deletes = 0;
  const { seen } = await run((asked, response, request) => {
    if (isDelete(asked)) return void (deletes++, request.socket.destroy());
    json(response, 200, deletes < 9 ? living : terminating);
  });
  expect(seen.at(-1)).toMatchObject({ kind: 'looked', object: terminating });
});

it('a pod that is gone at the next try is no error: the earlier DELETE may have deleted it', async () => {
  let deletes = 0;
  const { seen } = await run((asked, response) => {
    if (!isDelete(asked)) json(response, 200, living);
    else if (deletes++ === 0) json(response, 500, erred);
    else json(response, 404, notFound);
  });
  expect(kinds(seen)).toEqual(['requested', 'requested']);
});

it('a 404 of a proxy says nothing about the pod', async () => {
  let pages = 0;
  const { seen, sent, looks } = await run((asked, response) => {
    if (pages++ < 2) response.writeHead(404, { 'content-type': 'text/html' }).end('<html>no such page');
    else json(response, 200, isDelete(asked) ? terminating : living);
  });
  expect(kinds(seen)).toEqual(['requested', 'requested', 'answered']);
  expect([sent.length, looks.length]).toEqual([2, 2]);
});

it('if a credential plugin fails at the GET, the next GET decides', async () => {
  const api = await serveTls((asked, response, request) => {
    if (isDelete(asked)) request.socket.destroy();
    else json(response, 200, terminating);
  });
  const runs = join(await tempDir(), 'runs');
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 't-1234', expirationTimestamp: '2020-01-01T00:00:00Z' },
  };
  const script = `echo run >> ${runs}; [ $(wc -l < ${runs}) -eq 2 ] || echo '${JSON.stringify(credential)}'`;
  const exec = { apiVersion: credential.apiVersion, command: 'sh', args: ['-c', script], interactiveMode: 'Never' };
  const env = testEnv({ speed: 100, variables: { PATH: process.env['PATH'] ?? '' } });
  const cluster = await connected(api, { user: { exec }, env });
  const seen = await all(deletePod(cluster, target, { signal: stopping() }));
  expect(kinds(seen)).toEqual(['requested', 'looked']);
  expect((await readFile(runs, 'utf8')).trim().split('\n')).toHaveLength(3);
});
