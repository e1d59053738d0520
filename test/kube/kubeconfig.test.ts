import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { connect } from '../../src/kube/connect.ts';
import { impersonationHeaders } from '../../src/kube/credentials/resolve.ts';
import { getObject } from '../../src/kube/get.ts';
import { choose } from '../../src/kube/kubeconfig/choose.ts';
import { inClusterKubeconfig, loadKubeconfig, mergeKubeconfigs } from '../../src/kube/kubeconfig/load.ts';
import { parsed } from './helpers/kubeconfig.ts';
import { connected, json, serve, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { execUser } from './helpers/plugin.ts';
import { serveTls } from './helpers/tls-api.ts';

const yaml = (name: string, more = '') => `
apiVersion: v1
kind: Config
${more}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}, {name: both, context: {cluster: ${name}}}]
clusters: [{name: ${name}, cluster: {server: "https://${name}:6443", certificate-authority: ca.crt}}, {name: both, cluster: {server: "https://${name}"}}]
users: [{name: ${name}, user: {token: ${name}-token}}, {name: both, user: {username: ${name}}}]
`;

async function insidePod() {
  const directory = await tempDir();
  await writeFile(join(directory, 'token'), 'sa-token');
  await writeFile(join(directory, 'namespace'), 'sa-namespace\n');
  return {
    directory,
    env: { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: directory },
  };
}

describe('several kubeconfig files', () => {
  it('are merged: the first entry of a name wins as a whole, and so does the first current-context', () => {
    const merged = mergeKubeconfigs([
      parsed(yaml('a'), '/one/config'),
      parsed(yaml('b', 'current-context: b'), '/two/config'),
      parsed(yaml('c', 'current-context: c'), '/three/config'),
    ]);
    expect(merged.currentContext).toBe('b');
    expect([...merged.contexts.keys()].sort()).toEqual(['a', 'b', 'both', 'c']);
    expect(merged.clusters.get('both')).toEqual({ server: 'https://a' });
    expect(merged.users.get('both')).toEqual({ username: 'a' });
    expect(merged.contexts.get('both')).toEqual({ cluster: 'a' });
  });

  it('have paths that are relative to their own directory', () => {
    expect(parsed(yaml('b'), '/two/config').clusters.get('b')?.certificateAuthority).toBe('/two/ca.crt');
    const users = (command: string) =>
      parsed(`users: [{name: u, user: {exec: {command: ${command}}}}]`, '/two/config').users;
    expect(users('bin/login').get('u')?.exec?.command).toBe('/two/bin/login');
    expect(users('login').get('u')?.exec?.command).toBe('login');
  });

  it('are read like kubectl reads YAML: merge keys, only the first document, and of two equal keys the last one', () => {
    const text = `
      users:
        - {name: a, user: &shared {username: u, password: p, password: q}}
        - {name: b, user: {<<: *shared, username: v}}
      ---
      current-context: of-the-second
    `.replaceAll('\n      ', '\n');
    const { users, currentContext } = parsed(text, '/one/config');
    expect(users.get('b')).toEqual({ username: 'v', password: 'q' });
    expect(currentContext).toBeUndefined();
  });

  it.each([
    ['UTF-16, as PowerShell writes them', Buffer.from(`\ufeff${yaml('a')}`, 'utf16le')],
    [
      'UTF-8 with a byte order mark and the line ends of Windows',
      Buffer.from(`\ufeff${yaml('a')}`.replaceAll('\n', '\r\n')),
    ],
  ])('may be %s', async (_, bytes) => {
    const file = join(await tempDir(), 'config');
    await writeFile(file, bytes);
    const { kubeconfig } = await loadKubeconfig({ variables: {}, kubeconfig: file });
    expect(kubeconfig.contexts.get('a')).toEqual({ cluster: 'a', user: 'a', namespace: 'ns-a' });
  });

  it('may be missing or empty', async () => {
    const dir = await tempDir();
    await writeFile(join(dir, 'empty'), '');
    await writeFile(join(dir, 'comment'), '# nothing\n');
    await writeFile(join(dir, 'a'), yaml('a', 'current-context: a'));
    const files = ['missing', 'empty', 'comment', 'a'].map((name) => join(dir, name));
    const { kubeconfig } = await loadKubeconfig({ variables: { KUBECONFIG: ['', ...files, ''].join(delimiter) } });
    expect(kubeconfig.currentContext).toBe('a');
  });

  it('come from ~/.kube/config if KUBECONFIG is not set, and --kubeconfig wins over both', async () => {
    const home = await tempDir();
    await mkdir(join(home, '.kube'));
    await writeFile(join(home, '.kube', 'config'), yaml('home', 'current-context: home'));
    await writeFile(join(home, 'other'), yaml('other', 'current-context: other'));
    expect((await loadKubeconfig({ variables: { HOME: home } })).kubeconfig.currentContext).toBe('home');
    const { kubeconfig } = await loadKubeconfig({ kubeconfig: join(home, 'other'), variables: { HOME: home } });
    expect(kubeconfig.currentContext).toBe('other');
    expect(kubeconfig.contexts.has('home')).toBe(false);
  });
});

describe('loading a kubeconfig', () => {
  const load = async (text: string, options: Partial<ConnectOptions> = {}) => {
    const file = join(await tempDir(), 'config');
    await writeFile(file, text);
    return await connect({ kubeconfig: file, version: '0', ...options }, testEnv());
  };

  it.each([
    ['tabs: [\n\tsecret-canary: {', 'not valid YAML (line'],
    ['- secret-canary', 'not a mapping'],
    ['users: secret-canary', '"users" is text, not a list'],
    ['users: [{user: {token: secret-canary}}]', '"users[0]" has no name'],
    ['users: [{name: u, user: {exec: {args: [{a: secret-canary}]}}}]', '"users[0].user.exec.args[0]" is a mapping'],
  ])('reports the file and the field of an error, but no value: %j', async (text, what) => {
    const error = (await load(text).catch((thrown: unknown) => thrown)) as Error & { hint: string };
    expect(error).toMatchObject({ code: 'kubeconfig.invalid' });
    expect(error.message).toContain(what);
    expect(error.message).toContain('/config');
    expect(`${error.message} ${error.hint} ${String(error.cause)}`).not.toContain('secret-canary');
  });

  it.each<[string, Partial<ConnectOptions>, string, string]>([
    ['an unknown context names the known ones', { context: 'x' }, 'kubeconfig.unknown-context', 'a, both'],
    ['an unknown cluster names the known ones', { cluster: 'x' }, 'kubeconfig.unknown-cluster', 'a, both'],
    ['an unknown user names the known ones', { context: 'both', user: 'x' }, 'kubeconfig.unknown-user', 'a, both'],
    ['no current context', {}, 'kubeconfig.no-context', 'a, both'],
    ['a file that cannot be read', { context: 'a' }, 'kubeconfig.bad-file', 'path'],
    ['groups without a user', { context: 'both', asGroup: ['g'] }, 'usage.impersonation', '--as=USER'],
    ['an extra without a value', { context: 'both', as: 'u', asUserExtra: ['x'] }, 'usage.impersonation', '='],
  ])('%s', async (_, options, code, hint) => {
    await expect(load(yaml('a'), options)).rejects.toMatchObject({
      code,
      hint: expect.stringContaining(hint) as string,
    });
  });

  it('fails if no kubeconfig exists', async () => {
    const env = { HOME: await tempDir() };
    await expect(connect({ version: '0' }, testEnv({ variables: env }))).rejects.toMatchObject({
      code: 'kubeconfig.missing',
    });
    await expect(connect({ version: '0', kubeconfig: '/nowhere' }, testEnv({ variables: env }))).rejects.toMatchObject({
      code: 'kubeconfig.missing',
      message: expect.stringContaining('/nowhere') as string,
    });
  });

  it('is not necessary with --server', async () => {
    const env = { HOME: await tempDir() };
    const cluster = await connect({ version: '0', server: 'host:1234', token: 'token' }, testEnv({ variables: env }));
    expect(cluster).toMatchObject({ server: 'http://host:1234', namespace: 'default' });
    cluster.close();
  });

  it('refuses an invalid server address, without its password', async () => {
    await expect(load(yaml('a'), { context: 'both', server: 'ftp://user:secret-canary@host' })).rejects.toMatchObject({
      code: 'kubeconfig.invalid',
      message: expect.not.stringContaining('secret-canary') as string,
    });
  });
});

describe('a server address without a scheme', () => {
  it.each([
    ['', 'http://host:1234'],
    [', insecure-skip-tls-verify: true', 'https://host:1234'],
    [', certificate-authority: ca.crt', 'https://host:1234'],
  ])('is read as client-go reads it: %j', (more, server) => {
    const kubeconfig = parsed(`clusters: [{name: c, cluster: {server: "host:1234"${more}}}]`, '/c');
    expect(choose({ kubeconfig, files: [] }, { version: '0', cluster: 'c' }).cluster.server).toBe(server);
  });
});

describe('flags over a kubeconfig', () => {
  const files = ['config'];
  const kubeconfig = parsed(yaml('a', 'current-context: a'), '/one/config');

  it('choose entries of the kubeconfig', () => {
    expect(choose({ kubeconfig, files }, { version: '0' })).toMatchObject({
      namespace: 'ns-a',
      cluster: { server: 'https://a:6443' },
    });
    const chosen = choose({ kubeconfig, files }, { version: '0', cluster: 'both', user: 'both', namespace: 'n' });
    expect(chosen).toMatchObject({ namespace: 'n', cluster: { server: 'https://a' }, user: { username: 'a' } });
  });

  it('set the impersonation headers', async () => {
    const api = await serve((_, response) => json(response, 200, {}));
    const flags = {
      as: 'jane',
      asUid: 'u-1',
      asGroup: ['dev', 'ops'],
      asUserExtra: ['example.com/reason=debugging', 'scopes=a'],
    };
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

  it('keep the impersonation of the kubeconfig if no flag sets one', () => {
    const text = 'users: [{name: u, user: {as: joe, as-groups: [g], as-user-extra: {k: [v, w]}}}]';
    expect(impersonationHeaders(parsed(text, '/c').users.get('u')?.impersonate)).toEqual({
      'Impersonate-User': 'joe',
      'Impersonate-Group': ['g'],
      'Impersonate-Extra-k': ['v', 'w'],
    });
  });
});

const expired = { 'cmd-path': '/no/such/gcloud', 'access-token': 'old', expiry: '2020-01-01T00:00:00Z' };

describe('without TLS', () => {
  const ok = async () => await serve((_, response) => json(response, 200, {}));

  it.each([
    ['a token', { token: 'abcd' }],
    ['a token file', { tokenFile: '/proc/self/comm' }],
    ['basic authentication', { username: 'u', password: 'pass' }],
    ['a token of an auth provider', { 'auth-provider': { name: 'gcp', config: expired } }],
  ])('%s is not sent, as with kubectl', async (_, user) => {
    const api = await ok();
    await getObject(await connected(api, { user: { ...user, as: 'jane', 'as-groups': ['dev'] } }), '/x');
    expect(api.asked[0]?.headers).not.toHaveProperty('authorization');
    expect(api.asked[0]?.headers).toMatchObject({ 'impersonate-user': 'jane', 'impersonate-group': 'dev' });
  });

  it('--token is not sent either, even for an address without a scheme, and a plugin is not run', async () => {
    const api = await ok();
    const ran = join(await tempDir(), 'ran');
    const url = api.url.replace('http://', '');
    await getObject(await connected({ url }, { flags: { token: 'abcd' } }), '/x');
    await getObject(await connected({ url }, { user: execUser(`touch ${ran}`) }), '/x');
    expect(api.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    expect(existsSync(ran)).toBe(false);
  });
});

describe('credentials that need no plugin', () => {
  it.each([
    ['a token', { token: 'abc' }, 'Bearer abc'],
    ['basic authentication', { username: 'u', password: 'p' }, `Basic ${Buffer.from('u:p').toString('base64')}`],
    ['nothing', {}, undefined],
  ])('%s', async (_, user, header) => {
    const api = await serveTls((__, response) => json(response, 200, {}));
    await getObject(await connected(api, { user }), '/x');
    expect(api.asked[0]?.headers.authorization).toBe(header);
  });

  it('a token file is read again for each request, and wins over a token', async () => {
    const api = await serveTls((_, response) => json(response, 200, {}));
    const file = join(await tempDir(), 'token');
    await writeFile(file, 'first\n');
    const cluster = await connected(api, { user: { token: 'old', tokenFile: file } });
    await getObject(cluster, '/x');
    await writeFile(file, 'second\n');
    await getObject(cluster, '/x');
    expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  it('an id-token of the legacy OIDC provider, read by the client library', async () => {
    const api = await serveTls((_, response) => json(response, 200, {}));
    const part = (claims: object) => Buffer.from(JSON.stringify(claims)).toString('base64url');
    const idToken = `${part({ alg: 'none' })}.${part({ exp: Math.floor(Date.now() / 1000) + 3600 })}.sig`;
    const issuer = { 'client-id': 'c', 'refresh-token': 'r', 'idp-issuer-url': 'https://issuer.invalid' };
    const config = { 'id-token': idToken, ...issuer };
    await getObject(await connected(api, { user: { 'auth-provider': { name: 'oidc', config } } }), '/x');
    expect(api.asked[0]?.headers.authorization).toBe(`Bearer ${idToken}`);
  });

  it('an auth-provider without a token is named in the error', async () => {
    const api = await serveTls((_, response) => json(response, 200, {}));
    await expect(
      getObject(await connected(api, { user: { 'auth-provider': { name: 'gcp', config: expired } } }), '/x'),
    ).rejects.toMatchObject({
      code: 'auth.provider-failed',
      message: expect.stringContaining('"gcp"') as string,
    });
  });

  it('the service account of a pod replaces a kubeconfig', async () => {
    const { directory, env } = await insidePod();
    const loaded = await loadKubeconfig({ variables: env, serviceAccount: directory });
    expect(choose(loaded, { version: '0' })).toEqual({
      contextName: 'in-cluster',
      namespace: 'sa-namespace',
      cluster: { server: 'https://[fd00::1]:443', certificateAuthority: `${directory}/ca.crt` },
      user: { tokenFile: `${directory}/token` },
    });
    expect(inClusterKubeconfig({ variables: {}, serviceAccount: directory })).toBeUndefined();
    expect(inClusterKubeconfig({ variables: env, serviceAccount: '/nowhere' })).toBeUndefined();
  });

  it('--token replaces the token of the service account, and another server does not get it', async () => {
    const { directory, env } = await insidePod();
    const inside = async (flags: Partial<ConnectOptions>) =>
      choose(await loadKubeconfig({ variables: env, serviceAccount: directory, ...flags }), { version: '0', ...flags });
    expect((await inside({ token: 'of-flag' })).user).toEqual({ token: 'of-flag' });
    const server = 'http://127.0.0.1:1';
    const { cluster, user } = await inside({ server });
    expect([cluster, user]).toEqual([{ server }, {}]);
  });

  it('inside a pod the default namespace is POD_NAMESPACE, or else that of the service account', async () => {
    const { directory, env } = await insidePod();
    const file = join(directory, 'config');
    const text = 'clusters: [{name: c, cluster: {server: "https://c"}}]\ncontexts: [{name: c, context: {cluster: c}}]';
    await writeFile(file, `${text}\ncurrent-context: c\n`);
    const namespaceIn = async (more: object, namespace?: string) =>
      choose(await loadKubeconfig({ variables: { ...env, ...more }, serviceAccount: directory }), {
        version: '0',
        ...(namespace === undefined ? {} : { namespace }),
      }).namespace;
    expect(await namespaceIn({})).toBe('sa-namespace');
    expect(await namespaceIn({ KUBECONFIG: file })).toBe('sa-namespace');
    const inPod = { KUBECONFIG: file, POD_NAMESPACE: 'of-pod' };
    expect(await namespaceIn(inPod)).toBe('of-pod');
    expect(await namespaceIn(inPod, 'given')).toBe('given');
    expect(await namespaceIn({ ...inPod, KUBERNETES_SERVICE_HOST: '' })).toBe('default');
  });
});
