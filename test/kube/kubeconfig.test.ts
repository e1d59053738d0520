import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { connect } from '../../src/kube/connect.ts';
import { choose } from '../../src/kube/kubeconfig/choose.ts';
import { inClusterKubeconfig, loadKubeconfig, mergeKubeconfigs } from '../../src/kube/kubeconfig/load.ts';
import { casesIn } from '../helpers/case-file.ts';
import { parsed, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';

const yaml = (name: string, more = '') => `
apiVersion: v1
kind: Config
${more}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}, {name: both, context: {cluster: ${name}}}]
clusters: [{name: ${name}, cluster: {server: "https://${name}:6443", certificate-authority: ca.crt}}, {name: both, cluster: {server: "https://${name}"}}]
users: [{name: ${name}, user: {token: ${name}-token}}, {name: both, user: {username: ${name}}}]
`;

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
    await writeFile(join(home, '.kube', 'config'), 'current-context: home');
    await writeFile(join(home, 'other'), 'current-context: other');
    const contextOf = async (kubeconfig?: string) =>
      (await loadKubeconfig({ variables: { HOME: home }, kubeconfig })).kubeconfig.currentContext;
    expect([await contextOf(), await contextOf(join(home, 'other'))]).toEqual(['home', 'other']);
  });
});

interface RefusedFlags {
  flags: Partial<ConnectOptions>;
  refused: string;
  hint: string;
}

describe('loading a kubeconfig', () => {
  const load = async (text: string, options: Partial<ConnectOptions> = {}) => {
    const file = join(await tempDir(), 'config');
    await writeFile(file, text);
    return await connect({ kubeconfig: file, version: '0', ...options }, testEnv());
  };

  it.each(casesIn<RefusedFlags>(new URL('kubeconfig-flags.yaml', import.meta.url), ['flags', 'refused', 'hint']))(
    '%s',
    async (_, { flags, refused: code, hint }) =>
      expect(load(yaml('a'), flags)).rejects.toMatchObject({ code, hint: expect.stringContaining(hint) as string }),
  );

  it('is only necessary without --server', async () => {
    const env = testEnv({ variables: { HOME: await tempDir() } });
    const missing = { code: 'kubeconfig.missing' };
    await expect(connect({ version: '0' }, env)).rejects.toMatchObject(missing);
    await expect(connect({ version: '0', kubeconfig: '/nowhere' }, env)).rejects.toMatchObject(missing);
    const cluster = await connect({ version: '0', server: 'host:1234', token: 'token' }, env);
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
});

describe('inside a pod', () => {
  const text = 'clusters: [{name: c, cluster: {server: "https://c"}}]\ncontexts: [{name: c, context: {cluster: c}}]';

  /** What is chosen with these variables and flags, beside a service account. */
  async function chosenInside(more: Record<string, string>, flags: Partial<ConnectOptions> = {}) {
    const serviceAccount = await tempDir();
    await writeFile(join(serviceAccount, 'token'), 'sa-token');
    await writeFile(join(serviceAccount, 'namespace'), 'sa-namespace\n');
    await writeFile(join(serviceAccount, 'config'), `${text}\ncurrent-context: c\n`);
    const KUBECONFIG = more['KUBECONFIG'] && join(serviceAccount, 'config');
    const inPod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: serviceAccount };
    const variables = { ...inPod, ...more, KUBECONFIG };
    const loaded = await loadKubeconfig({ variables, serviceAccount, ...flags });
    return { ...choose(loaded, { version: '0', ...flags }), serviceAccount };
  }

  it('its service account replaces a kubeconfig', async () => {
    const { serviceAccount, ...chosen } = await chosenInside({});
    expect(chosen).toEqual({
      contextName: 'in-cluster',
      namespace: 'sa-namespace',
      cluster: { server: 'https://[fd00::1]:443', certificateAuthority: `${serviceAccount}/ca.crt` },
      user: { tokenFile: `${serviceAccount}/token` },
    });
    expect(inClusterKubeconfig({ variables: {}, serviceAccount })).toBeUndefined();
  });

  it('--token replaces the token of the service account, and another server does not get it', async () => {
    expect((await chosenInside({}, { token: 'of-flag' })).user).toEqual({ token: 'of-flag' });
    const { cluster, user } = await chosenInside({}, { server: 'http://127.0.0.1:1' });
    expect([cluster, user]).toEqual([{ server: 'http://127.0.0.1:1' }, {}]);
  });

  it.each<[Record<string, string>, namespace: string | undefined, chosen: string]>([
    [{ KUBECONFIG: 'config' }, undefined, 'sa-namespace'],
    [{ KUBECONFIG: 'config', POD_NAMESPACE: 'of-pod' }, undefined, 'of-pod'],
    [{ KUBECONFIG: 'config', POD_NAMESPACE: 'of-pod' }, 'given', 'given'],
    [{ KUBECONFIG: 'config', POD_NAMESPACE: 'of-pod', KUBERNETES_SERVICE_HOST: '' }, undefined, 'default'],
  ])('%j with the namespace %j chooses %s', async (more, namespace, chosen) =>
    expect((await chosenInside(more, { namespace })).namespace).toBe(chosen),
  );
});

/** The chosen entries of a kubeconfig with this user. `more` is added to its cluster. */
function chosen(user: object, flags: Partial<ConnectOptions> = {}, more: object = {}) {
  const text = JSON.stringify({
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server: 'https://c', ...more } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  });
  return choose({ kubeconfig: parsed(text, '/c'), files: ['/c'] }, { version: '0', ...flags });
}

interface UserCase {
  user: object;
  flags?: Partial<ConnectOptions>;
  cluster?: object;
  refused?: string;
  chosen?: object;
}

const users = casesIn<UserCase>(new URL('kubeconfig-users.yaml', import.meta.url), [
  ...(['user', 'flags', 'cluster', 'refused', 'chosen'] as const),
]);

it.each(users)('%s', (_, { user, flags, cluster, refused, chosen: wanted }) => {
  const choosing = () => chosen(user, flags, cluster).user;
  if (refused) expect(choosing).toThrow(expect.objectContaining({ code: refused, exitCode: 1 }) as Error);
  else expect(JSON.parse(JSON.stringify(choosing()))).toEqual(wanted);
});

it('a current context that does not exist is refused, even if flags replace all of it', () => {
  const kubeconfig = parsed('current-context: gone\nclusters: [{name: c, cluster: {server: "https://c"}}]', '/c');
  expect(() => choose({ kubeconfig, files: ['/c'] }, { version: '0', cluster: 'c', server: 'https://h' })).toThrow(
    expect.objectContaining({ code: 'kubeconfig.unknown-context' }) as Error,
  );
});

describe('a field of a wrong type could mean another user', () => {
  const user = (fields: string) => parsed(`users: [{name: u, user: ${fields}}]`, '/c').users.get('u');
  const cluster = (fields: string) => parsed(`clusters: [{name: c, cluster: ${fields}}]`, '/c').clusters.get('c');

  it.each(casesIn<string>(new URL('kubeconfig-types.yaml', import.meta.url)))('%s is refused', (text, what) => {
    const parse = () => parsed(text, '/c');
    expect(parse).toThrow(expect.objectContaining({ code: 'kubeconfig.invalid' }) as Error);
    expect(parse).toThrow(what);
    expect(parse).not.toThrow('secret-canary');
  });

  it.each(['1:20', '2001-01-01', 'yES', '"0123"', '!!str 5'])(
    'a word is text where kubectl’s YAML reads it so: %s',
    (word) => expect(user(`{username: ${word}}`)).toEqual({ username: word.replace(/^!!str |["']/g, '') }),
  );

  it.each(['~', '""'])('a field counts as absent if it is null or empty: %s', (word) =>
    expect(user(`{username: ${word}, token: t}`)).toEqual({ token: 't' }),
  );

  it.each([
    ['yes', { insecureSkipTlsVerify: true }],
    ['off', {}],
  ])('a switch is read as in kubectl’s YAML: %s', (word, read) =>
    expect(cluster(`{insecure-skip-tls-verify: ${word}}`)).toEqual(read),
  );
});
