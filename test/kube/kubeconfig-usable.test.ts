/** Contradictory settings are refused before any request, as in kubectl. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { getObject } from '../../src/kube/get.ts';
import { choose } from '../../src/kube/kubeconfig/choose.ts';
import { parsed } from './helpers/kubeconfig.ts';
import { connected, json, tempDir } from './helpers/api.ts';
import { certificates } from './helpers/certificates.ts';
import { execUser } from './helpers/plugin.ts';
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

const { exec } = execUser('exit 1');
const basic = { username: 'u', password: 'p' };
const data = 'Zm9v';
const contradictory = 'kubeconfig.contradictory';

it.each<[string, code: string, user: object, Flags?, cluster?: object]>([
  ['a token beside basic authentication', contradictory, { token: 't', ...basic }],
  ['a token file beside basic authentication', contradictory, { tokenFile: 't', ...basic }],
  ['--password over a token', contradictory, { token: 't' }, { password: 'p' }],
  ['--token over basic authentication', contradictory, basic, { token: 't' }],
  ['a plugin beside an auth-provider', contradictory, { exec, 'auth-provider': { name: 'oidc' } }],
  ['a certificate twice', contradictory, { 'client-certificate': 'c', 'client-certificate-data': data }],
  ['a key twice', contradictory, { 'client-certificate': 'c', 'client-key': 'k', 'client-key-data': data }],
  ['an authority twice', contradictory, {}, {}, { 'certificate-authority': 'c', 'certificate-authority-data': data }],
  ['a certificate without its key', 'kubeconfig.no-client-key', { 'client-certificate-data': data }],
  ['a certificate of a flag without its key', 'kubeconfig.no-client-key', { token: 't' }, { clientCertificate: 'c' }],
])('%s is refused', (_, code, user, flags, cluster) =>
  expect(() => chosen(user, flags, cluster)).toThrow(expect.objectContaining({ code, exitCode: 1 }) as Error),
);

it('a current context that does not exist is refused, even if flags replace all of it', () => {
  const kubeconfig = parsed('current-context: gone\nclusters: [{name: c, cluster: {server: "https://c"}}]', '/c');
  expect(() => choose({ kubeconfig, files: ['/c'] }, { version: '0', cluster: 'c', server: 'https://h' })).toThrow(
    expect.objectContaining({ code: 'kubeconfig.unknown-context' }) as Error,
  );
});

it.each<[string, object, Flags, object]>([
  ['a token', { token: 'old' }, { token: 'new' }, { token: 'new' }],
  ['a user name', basic, { username: 'new' }, { username: 'new', password: 'p' }],
  ['a token instead of a plugin, which does not run', { exec }, { token: 't' }, { token: 't' }],
  [
    'a certificate and its key',
    { 'client-certificate-data': data, 'client-key-data': data },
    { clientCertificate: '/c', clientKey: '/k' },
    { clientCertificate: '/c', clientCertificateData: undefined, clientKey: '/k', clientKeyData: undefined },
  ],
])('a flag replaces a setting of the kubeconfig: %s', (_, user, flags, left) =>
  expect(chosen(user, flags).user).toMatchObject(left),
);

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
    expect(await seen({ ...files, exec })).toBeUndefined();
  });

  it('a key without a certificate is ignored, and its file is not read', async () =>
    expect(await seen({ token: 'abcd', 'client-key': '/nowhere/key' })).toBe('Bearer abcd'));
});
