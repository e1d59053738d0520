/** Which credentials of a kubeconfig are sent, and when. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { impersonationHeaders } from '../../src/kube/credentials/resolve.ts';
import { getObject } from '../../src/kube/get.ts';
import { casesIn } from '../helpers/case-file.ts';
import { connected, json, pod, serve, tempDir, parsed } from './helpers/api.ts';
import { certificates, serveTls } from './helpers/certificates.ts';
import { answer, serveHttp2 } from './helpers/http2-api.ts';
import { deleted, stopping } from './helpers/observed.ts';
import { execUser } from './helpers/plugin.ts';

const ok = () => serveTls((_, response) => json(response, 200, {}));
const expired = { 'cmd-path': '/no/such/gcloud', 'access-token': 'old', expiry: '2020-01-01T00:00:00Z' };

interface Case {
  user: object;
  flags?: Partial<ConnectOptions>;
  header?: string;
}

it.each(casesIn<Case>(new URL('credentials.yaml', import.meta.url), ['user', 'flags', 'header']))(
  'over TLS %s is sent',
  async (_, { user, flags, header }) => {
    const api = await ok();
    await getObject(await connected(api, { user, flags }), '/x');
    expect(api.asked[0]?.headers.authorization).toBe(header);
  },
);

it('a token file is read again for each request, and wins over --token, as in client-go', async () => {
  const api = await ok();
  const tokenFile = join(await tempDir(), 'token');
  await writeFile(tokenFile, 'first\n');
  const cluster = await connected(api, { user: { tokenFile }, flags: { token: 'of-flag' } });
  await getObject(cluster, '/x');
  await writeFile(tokenFile, 'second\n');
  await getObject(cluster, '/x');
  expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
});

it('a client certificate wins over a plugin, which does not run then', async () => {
  const { directory } = await certificates();
  const files = { 'client-certificate': join(directory, 'client.crt'), 'client-key': join(directory, 'client.key') };
  const cluster = await connected(await ok(), { user: { ...files, ...execUser('exit 1') } });
  expect((await getObject(cluster, '/x')).status).toBe(200);
});

it('an auth-provider without a token is named in the error', async () => {
  const user = { 'auth-provider': { name: 'gcp', config: expired } };
  await expect(getObject(await connected(await ok(), { user }), '/x')).rejects.toMatchObject({
    code: 'auth.provider-failed',
    message: expect.stringContaining('"gcp"') as string,
  });
});

it('without TLS nothing is sent but the user to impersonate, and no plugin is run, as with kubectl', async () => {
  const api = await serve((_, response) => json(response, 200, {}));
  const ran = join(await tempDir(), 'ran');
  const users = [
    { token: 'abcd' },
    { tokenFile: '/proc/self/comm' },
    { username: 'u', password: 'pass' },
    { 'auth-provider': { name: 'gcp', config: expired } },
    execUser(`touch ${ran}`),
  ];
  const as = { as: 'jane', 'as-groups': ['dev'] };
  for (const user of users) await getObject(await connected(api, { user: { ...user, ...as } }), '/x');
  // An address without a scheme.
  await getObject(await connected({ url: new URL(api.url).host }, { flags: { token: 'abcd', as: 'jane' } }), '/x');
  expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(Array(6).fill(undefined));
  expect(api.asked.map(({ headers }) => headers['impersonate-user'])).toEqual(Array(6).fill('jane'));
  expect(existsSync(ran)).toBe(false);
});

describe('impersonation', () => {
  it('sets the headers of its flags', async () => {
    const api = await serve((_, response) => json(response, 200, {}));
    const extra = ['example.com/reason=debugging', 'scopes=a'];
    const flags = { as: 'jane', asUid: 'u-1', asGroup: ['dev', 'ops'], asUserExtra: extra };
    await getObject(await connected(api, { flags }), '/x');
    const raw = api.asked[0]?.rawHeaders ?? [];
    const pairs = raw.flatMap((name, i) => (name.startsWith('Impersonate') ? [[name, raw[i + 1]]] : []));
    expect(pairs).toEqual([
      ['Impersonate-User', 'jane'],
      ['Impersonate-Uid', 'u-1'],
      ['Impersonate-Group', 'dev'],
      ['Impersonate-Group', 'ops'],
      ['Impersonate-Extra-example.com%2Freason', 'debugging'],
      ['Impersonate-Extra-scopes', 'a'],
    ]);
  });

  it('is that of the kubeconfig if no flag sets one', () => {
    const text = 'users: [{name: u, user: {as: joe, as-groups: [g], as-user-extra: {k: [v, w]}}}]';
    expect(impersonationHeaders(parsed(text, '/c').users.get('u')?.impersonate)).toEqual({
      'Impersonate-User': 'joe',
      'Impersonate-Group': ['g'],
      'Impersonate-Extra-k': ['v', 'w'],
    });
  });

  it.each([
    [
      'HTTP/1.1',
      async () => ({ ...(await serve((_, response) => json(response, 200, pod('web', '1')))), cluster: {} }),
    ],
    ['HTTP/2', () => serveHttp2((_, response) => answer(response, 200, pod('web', '1')))],
  ])('sends non-ASCII characters in UTF-8 over %s, as Go does', async (_, start) => {
    const api = await start();
    const flags = { as: 'jürgen', asGroup: ['żółw', 'plain'], asUserExtra: ['reason=夜中 😀'] };
    const cluster = await connected(api, { flags });
    // One request without a body and one with a body: Node writes their headers in different ways.
    await getObject(cluster, '/api/v1/namespaces/shop/pods/web');
    await deleted(cluster, { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 7 }, stopping(200));
    expect(api.asked.map(({ method }) => method)).toEqual(expect.arrayContaining(['GET', 'DELETE']));
    for (const { method, headers, body } of api.asked) {
      const read = (name: string) => Buffer.from([headers[name]].flat().join(), 'latin1').toString('utf8');
      expect(read('impersonate-user')).toBe('jürgen');
      expect(read('impersonate-group')).toMatch(/^żółw, ?plain$/);
      expect(read('impersonate-extra-reason')).toBe('夜中 😀');
      if (method === 'DELETE') expect(JSON.parse(body)).toMatchObject({ gracePeriodSeconds: 7 });
    }
  });
});
