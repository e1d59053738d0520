/** Contradictory settings are refused before any request, as in kubectl. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { getObject } from '../../src/kube/get.ts';
import { choose } from '../../src/kube/kubeconfig/choose.ts';
import { parsed } from './helpers/kubeconfig.ts';
import { connected, json, serve, tempDir } from './helpers/api.ts';
import { certificates } from './helpers/certificates.ts';
import { serveTls } from './helpers/tls-api.ts';

type Flags = Partial<ConnectOptions>;

/** The chosen entries of a kubeconfig with this user. `more` is added to its cluster. */
function chosen(user: object, flags: Flags = {}, more: object = {}) {
  const text = JSON.stringify({
    'current-context': 'x',
    clusters: [{ name: 'c', cluster: { server: 'https://c', ...more } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  });
  return choose({ kubeconfig: parsed(text, '/c'), files: ['/c'] }, { version: '0', ...flags });
}

const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', interactiveMode: 'Never' };
const basic = { username: 'u', password: 'p' };
const data = 'Zm9v';

describe('contradictory settings', () => {
  it.each<[string, object, Flags]>([
    ['a token beside basic authentication', { token: 't', ...basic }, {}],
    ['a token beside a password alone', { token: 't', password: 'p' }, {}],
    ['a token file beside basic authentication', { tokenFile: 't', ...basic }, {}],
    ['--username over a token', { token: 't' }, { username: 'u' }],
    ['--password over a token', { token: 't' }, { password: 'p' }],
    ['--token over basic authentication', basic, { token: 't' }],
    ['--token beside --username', {}, { token: 't', ...basic }],
    ['a plugin beside an auth-provider', { exec, 'auth-provider': { name: 'oidc' } }, {}],
    ['a certificate as file and as data', { 'client-certificate': 'c', 'client-certificate-data': data }, {}],
    ['a key as file and as data', { 'client-certificate': 'c', 'client-key': 'k', 'client-key-data': data }, {}],
  ])('%s', (_, user, flags) =>
    expect(() => chosen(user, flags)).toThrow(
      expect.objectContaining({ code: 'kubeconfig.contradictory', exitCode: 1 }) as Error,
    ),
  );

  it('an authority as a file and as data', () =>
    expect(() => chosen({}, {}, { 'certificate-authority': 'c', 'certificate-authority-data': data })).toThrow(
      expect.objectContaining({ code: 'kubeconfig.contradictory' }) as Error,
    ));

  it.each<[string, object, Flags]>([
    ['of a file', { 'client-certificate': 'c', token: 't' }, {}],
    ['of data', { 'client-certificate-data': data }, {}],
    ['of a flag', { token: 't' }, { clientCertificate: 'c' }],
  ])('a client certificate without its key, %s', (_, user, flags) =>
    expect(() => chosen(user, flags)).toThrow(
      expect.objectContaining({ code: 'kubeconfig.no-client-key', exitCode: 1 }) as Error,
    ),
  );

  it.each<[string, Flags]>([
    ['alone', {}],
    ['beside --server', { server: 'https://h' }],
    ['beside --cluster and --user', { cluster: 'c', user: 'u' }],
  ])('a current context that does not exist, %s', (_, flags) => {
    const text = 'current-context: gone\nclusters: [{name: c, cluster: {server: "https://c"}}]\nusers: [{name: u}]';
    expect(() => choose({ kubeconfig: parsed(text, '/c'), files: ['/c'] }, { version: '0', ...flags })).toThrow(
      expect.objectContaining({ code: 'kubeconfig.unknown-context' }) as Error,
    );
  });
});

describe('a flag replaces a setting of the kubeconfig', () => {
  it.each<[string, object, Flags, object]>([
    ['a token', { token: 'old' }, { token: 'new' }, { token: 'new' }],
    ['a user name', basic, { username: 'new' }, { username: 'new', password: 'p' }],
    ['a password', basic, { password: 'new' }, { username: 'u', password: 'new' }],
    ['a token instead of a plugin, which does not run', { exec }, { token: 't' }, { token: 't' }],
    [
      'a certificate and its key, data or file',
      { 'client-certificate-data': data, 'client-key-data': data },
      { clientCertificate: '/c', clientKey: '/k' },
      { clientCertificate: '/c', clientKey: '/k' },
    ],
  ])('%s', (_, user, flags, left) => expect(chosen(user, flags).user).toMatchObject(left));

  it('certificate files in flags replace certificate data', () => {
    const own = { 'client-certificate-data': data, 'client-key-data': data };
    const { user } = chosen(own, { clientCertificate: '/c', clientKey: '/k' });
    expect(user).toEqual({ clientCertificate: '/c', clientKey: '/k' });
  });
});

describe('several credentials that do not contradict each other', () => {
  const seen = async (user: object, flags: Flags = {}) => {
    const api = await serveTls((_, response) => json(response, 200, {}));
    await getObject(await connected(api, { user, flags }), '/x');
    return api.asked[0]?.headers.authorization;
  };

  it('a token file wins over --token, as in client-go; if it is gone, --token is used', async () => {
    const tokenFile = join(await tempDir(), 'token');
    await writeFile(tokenFile, 'of-file');
    expect(await seen({ tokenFile }, { token: 'of-flag' })).toBe('Bearer of-file');
    expect(await seen({ tokenFile: '/nowhere/token' }, { token: 'of-flag' })).toBe('Bearer of-flag');
  });

  it('a client certificate wins over a plugin, which does not run then', async () => {
    const { directory } = await certificates();
    const files = { 'client-certificate': join(directory, 'client.crt'), 'client-key': join(directory, 'client.key') };
    expect(await seen({ ...files, exec: { ...exec, command: 'false' } })).toBeUndefined();
  });

  it('a key without a certificate is ignored, and its file is not read', async () =>
    expect(await seen({ token: 'abcd', 'client-key': '/nowhere/key' })).toBe('Bearer abcd'));

  it('a token file and a user name contradict each other only with TLS', async () => {
    const api = await serve((_, response) => json(response, 200, {}));
    const cluster = await connected(api, { user: { tokenFile: '/nowhere/token', ...basic } });
    expect((await getObject(cluster, '/x')).status).toBe(200);
  });
});
