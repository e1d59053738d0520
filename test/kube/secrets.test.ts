import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../src/kube/cluster.ts';
import { getObject } from '../../src/kube/get.ts';
import { refusalOf } from '../../src/kube/refused.ts';
import { createRedactor } from '../../src/kube/redact.ts';
import { casesIn } from '../helpers/case-file.ts';
import { type Handler, connected, json, nowhere, pod, serve, status, tempDir } from './helpers/api.ts';
import { certificates, serveTls, type TlsApi } from './helpers/certificates.ts';
import { testEnv } from './helpers/env.ts';
import { deleted, followLog, watchObjects, all, stopping } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const canary = (place: string) => `canary-${place}-0123456789`;

/** Every place of a kubeconfig that can contain a secret, each with its own canary. */
async function places(): Promise<Record<string, { user: object; cluster?: object }>> {
  const dir = await tempDir();
  const { client } = await certificates();
  await writeFile(join(dir, 'token'), canary('tokenFile'));
  await writeFile(join(dir, 'key'), canary('keyFile'));
  const print = `echo '${execCredential({ token: canary('exec-token') })}'`;
  const execEnv = [{ name: 'E', value: canary('exec-env') }];
  const oidc = { 'id-token': `x.${base64(canary('oidc'))}.y`, 'client-secret': canary('client-secret') };
  return {
    token: { user: { token: canary('token') } },
    tokenFile: { user: { tokenFile: join(dir, 'token') } },
    password: { user: { username: 'user', password: canary('password') } },
    keyData: { user: { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(canary('keyData')) } },
    certData: {
      user: { 'client-certificate-data': base64(canary('certData')), 'client-key-data': base64(client.key) },
    },
    keyFile: { user: { 'client-certificate-data': base64(client.cert), 'client-key': join(dir, 'key') } },
    exec: { user: execUser('', { args: ['-c', print, canary('exec-arg')], env: execEnv }) },
    execFails: { user: execUser(`echo ${canary('exec-output')}; exit 1`) },
    execMissing: { user: execUser('', { command: 'no-such-plugin', args: [canary('missing-arg')] }) },
    provider: { user: { 'auth-provider': { name: 'oidc', config: oidc } } },
    proxy: { user: { token: canary('proxied') }, cluster: { 'proxy-url': `http://u:${canary('proxy')}@127.0.0.1:1` } },
  };
}

/** A hostile server that echoes what it received. */
const echo =
  (code: number): Handler =>
  ({ headers }, response) => {
    const authorization = headers.authorization ?? '';
    const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    const text = `you sent ${authorization} and ${authorization.split(' ')[1]} and ${decoded}`;
    json(response, code, status(code, 'Echo', text));
  };

const servers: Record<string, Handler> = {
  'that answers': (_, response) => json(response, 200, pod('web', '1')),
  'that echoes in a 401': echo(401),
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
    // Other texts still are.
    if (name === 'that answers') expect(received.text).toContain(`GET ${api.url}/api/v1/namespaces/shop/pods/web 200`);
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
});

/** All output of runs with every place: errors with their causes, logs, stderr, raw observations. */
async function allOutput(
  api: Pick<TlsApi, 'url'> & Partial<TlsApi>,
): Promise<{ text: string; places: number; lines: number }> {
  const said: string[] = [];
  const allPlaces = Object.values(await places());
  for (const { user, cluster } of allPlaces) {
    const env = testEnv({ speed: 5000 });
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
const logged = { namespace: 'shop', pod: 'web', container: 'app' };
const doomed = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: null };

const actions: ((cluster: Cluster) => Promise<unknown>)[] = [
  async (cluster) => refusalOf(cluster, await getObject(cluster, '/api/v1/namespaces/shop/pods/web')).message,
  async (cluster) => JSON.stringify(await all(watchObjects(cluster, target, { signal: stopping(60) }))),
  async (cluster) => JSON.stringify(await all(followLog(cluster, logged, { signal: stopping(60) }))),
  async (cluster) => JSON.stringify(await deleted(cluster, doomed, stopping(60))),
];

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, hint } = error as { code?: string; hint?: string };
  return [code, error.message, hint, error.stack, error.cause === undefined ? '' : errorText(error.cause)].join('\n');
}

describe('the redactor', () => {
  it.each([
    ['p@ss word', 'a p@ss word b p%40ss%20word c cEBzcyB3b3Jk d'],
    // Invalid Unicode: as given, and as it is sent.
    ['abc\uD800def', `a abc\uD800def b abc\uFFFDdef c ${base64('abc\uD800def')} d`],
  ])('hides a known secret in each form that a server may echo: %j', (secret, text) => {
    const redactor = createRedactor();
    redactor.hide(secret);
    expect(redactor.clean(text)).toBe('a <redacted> b <redacted> c <redacted> d');
  });

  it.each(casesIn<string>(new URL('redacted.yaml', import.meta.url)))(
    'hides what looks like a secret: %j',
    (text, clean) => expect(createRedactor().clean(text)).toBe(clean),
  );

  it('ignores secrets that are too short', () => {
    const redactor = createRedactor();
    ['a', '', undefined].forEach(redactor.hide);
    expect(redactor.clean('a banana')).toBe('a banana');
  });
});
