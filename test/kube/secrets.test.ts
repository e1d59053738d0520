import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/kube/cluster.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { getObject } from '../../src/kube/get.ts';
import { followLog } from './helpers/observed.ts';
import { refusalOf } from '../../src/kube/refused.ts';
import { createRedactor } from '../../src/kube/redact.ts';
import { watchObjects } from './helpers/observed.ts';
import type { Handler } from './helpers/api.ts';
import { connected, json, nowhere, pod, serve, status, tempDir } from './helpers/api.ts';
import { certificates } from './helpers/certificates.ts';
import { testEnv } from './helpers/env.ts';
import { all, stopping } from './helpers/take.ts';
import type { TlsApi } from './helpers/tls-api.ts';
import { serveTls } from './helpers/tls-api.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const canary = (place: string) => `canary-${place}-0123456789`;

/** Every place of a kubeconfig that can contain a secret, each with its own canary. */
async function places(): Promise<Record<string, { user: object; cluster?: object; skip?: string[] }>> {
  const dir = await tempDir();
  const { client } = await certificates();
  await writeFile(join(dir, 'token'), canary('tokenFile'));
  await writeFile(join(dir, 'key'), canary('keyFile'));
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: canary('exec-token') },
  };
  const exec = { apiVersion: credential.apiVersion, command: 'sh', interactiveMode: 'Never' };
  const print = `echo '${JSON.stringify(credential)}'`;
  return {
    token: { user: { token: canary('token') } },
    tokenFile: { user: { tokenFile: join(dir, 'token') } },
    password: { user: { username: 'user', password: canary('password') } },
    keyData: { user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(canary('keyData')) } },
    certData: {
      user: { 'client-certificate-data': base64(canary('certData')), 'client-key-data': base64(client.key) },
    },
    keyFile: { user: { 'client-certificate-data': base64(client.cert), 'client-key': join(dir, 'key') } },
    exec: {
      user: {
        exec: { ...exec, args: ['-c', print, canary('exec-arg')], env: [{ name: 'E', value: canary('exec-env') }] },
      },
    },
    execFails: { user: { exec: { ...exec, args: ['-c', `echo ${canary('exec-output')}; exit 1`] } } },
    execMissing: { user: { exec: { ...exec, command: 'no-such-plugin', args: [canary('missing-arg')] } } },
    provider: {
      user: {
        'auth-provider': {
          name: 'oidc',
          config: { 'id-token': `x.${base64(canary('oidc'))}.y`, 'client-secret': canary('client-secret') },
        },
      },
    },
    proxy: { user: { token: canary('proxied') }, cluster: { 'proxy-url': `http://u:${canary('proxy')}@127.0.0.1:1` } },
  };
}

/** A hostile server that echoes what it received. */
const echo =
  (code: number): Handler =>
  ({ headers }, response) => {
    const authorization = headers.authorization ?? '';
    const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    json(
      response,
      code,
      status(code, 'Echo', `you sent ${authorization} and ${authorization.split(' ')[1]} and ${decoded}`),
    );
  };

const servers: Record<string, Handler> = {
  'that answers': (_, response) => json(response, 200, pod('web', '1')),
  'that echoes in a 401': echo(401),
  'that echoes in a 403': echo(403),
  'that echoes in a 500': echo(500),
  'that breaks off': (_, __, request) => request.socket.destroy(),
};

describe('no secret is printed at any verbosity', () => {
  it.each(Object.keys(servers))('with a server %s', async (name) => {
    const api = await serveTls(servers[name] as Handler);
    const received = await allOutput(api);
    expect(api.asked.map(({ headers }) => headers.authorization)).toContain(`Bearer ${canary('token')}`);
    expect(received.text).not.toMatch(/canary-/);
    expect(received.places).toBe(11);
    expect(received.lines).toBeGreaterThan(20);
  });

  it('with an unreachable server', async () => {
    expect((await allOutput({ url: nowhere.replace('http:', 'https:') })).text).not.toMatch(/canary-/);
  });

  it('with an untrusted server, or from its address', async () => {
    const { server } = await certificates();
    const api = await serve((_, response) => json(response, 200, {}), server);
    const url = api.url.replace('https://', `https://user:${canary('userinfo')}@`);
    const received = await allOutput({ url: `${url}/?token=${canary('query')}` });
    expect(received.text).not.toMatch(/canary-/);
    expect(received.text).toContain('server.untrusted');
  });

  it('but other texts still are', async () => {
    const api = await serveTls((_, response) => json(response, 200, {}));
    expect((await allOutput(api)).text).toContain(`GET ${api.url}/api/v1/namespaces/shop/pods/web 200`);
  });
});

/** All output of runs with every place: errors with their causes, logs, stderr, raw observations. */
async function allOutput(
  api: Pick<TlsApi, 'url'> & Partial<TlsApi>,
): Promise<{ text: string; places: number; lines: number }> {
  const said: string[] = [];
  const allPlaces = Object.values(await places());
  for (const { user, cluster } of allPlaces) {
    const env = testEnv({ speed: 5000, variables: { PATH: process.env['PATH'] ?? '' } });
    try {
      const connection = await connected(api, { user, ...(cluster && { cluster }), env });
      for (const action of actions) said.push(await action(connection).then(String, errorText));
    } catch (error) {
      said.push(errorText(error));
    }
    said.push(...env.said);
  }
  const text = said.join('\n');
  const hidden = [`user:${canary('password')}`, canary('token'), canary('exec-token')].map(base64);
  expect(hidden.filter((form) => text.includes(form))).toEqual([]);
  return { text, places: allPlaces.length, lines: said.length };
}

const target = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;
const doomed = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: null };

const actions: ((cluster: Cluster) => Promise<unknown>)[] = [
  async (cluster) => refusalOf(cluster, await getObject(cluster, '/api/v1/namespaces/shop/pods/web')).message,
  async (cluster) => JSON.stringify(await all(watchObjects(cluster, target, { signal: stopping(60) }))),
  async (cluster) =>
    JSON.stringify(
      await all(followLog(cluster, { namespace: 'shop', pod: 'web', container: 'app' }, { signal: stopping(60) })),
    ),
  async (cluster) => JSON.stringify(await all(deletePod(cluster, doomed, { signal: stopping(60) }))),
];

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, hint } = error as { code?: string; hint?: string };
  return [code, error.message, hint, error.stack, error.cause === undefined ? '' : errorText(error.cause)].join('\n');
}

describe('the redactor', () => {
  it('hides known secrets in each form that a server may echo', () => {
    const redactor = createRedactor();
    redactor.hide('p@ss word');
    expect(redactor.clean(`a p@ss word b ${encodeURIComponent('p@ss word')} c ${base64('p@ss word')}`)).toBe(
      'a <redacted> b <redacted> c <redacted>',
    );
  });

  it('hides even invalid Unicode, as given and as sent', () => {
    const redactor = createRedactor();
    redactor.hide('abc\uD800def');
    const sent = Buffer.from('abc\uD800def');
    expect(redactor.clean(`a abc\uD800def b ${sent.toString()} c ${sent.toString('base64')} d abc%EF%BF%BDdef`)).toBe(
      'a <redacted> b <redacted> c <redacted> d <redacted>',
    );
  });

  it.each([
    ['Authorization: Bearer abcdef.ghi', 'Authorization: Bearer <redacted>'],
    ['Basic dXNlcjpwYXNz', 'Basic <redacted>'],
    ['https://user:pass@host/x', 'https://<redacted>@host/x'],
    ['/x?limit=5&token=abc&a=b', '/x?limit=5&token=<redacted>&a=b'],
    ['-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----', '<redacted>'],
    ['got eyJhbGciOiJub25l.eyJzdWIi.sig', 'got <redacted>'],
    ['the basic authentication failed', 'the basic authentication failed'],
  ])('hides what looks like a secret: %j', (text, clean) => {
    expect(createRedactor().clean(text)).toBe(clean);
  });

  it('ignores secrets that are too short', () => {
    const redactor = createRedactor();
    redactor.hide('a');
    redactor.hide('');
    redactor.hide(undefined);
    expect(redactor.clean('a banana')).toBe('a banana');
  });
});
