/** Which servers a kubeconfig and the flags trust, by client-go's rules: an error could send a token to any server. */
import type { ServerOptions } from 'node:https';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import type { ConnectOptions } from '../../src/kube/connect-options.ts';
import { getObject } from '../../src/kube/get.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { connected, json, serve, tempDir } from './helpers/api.ts';
import { certificates, trusting, serveTls } from './helpers/certificates.ts';
import { deleted } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';

async function fileOf(text: string): Promise<string> {
  const file = join(await tempDir(), 'ca.crt');
  await writeFile(file, text);
  return file;
}

const { ca, client, directory } = await certificates();
const data = trusting(ca);
const [right, wrong, noPem] = [join(directory, 'ca.crt'), await fileOf(selfSigned().cert), await fileOf('no PEM')];
const insecure = { 'insecure-skip-tls-verify': true };
const named = (name: string) => ({ ...data, 'tls-server-name': name });
const user = { token: 'token-1234' };
const base64 = (text: string) => Buffer.from(text).toString('base64');

type Result = 'trusts it' | 'server.untrusted' | 'kubeconfig.contradictory' | 'kubeconfig.no-authority';

it.each<[string, cluster: object, flags: Partial<ConnectOptions>, Result]>([
  ['its authority as data', data, {}, 'trusts it'],
  ['its authority as a file', { 'certificate-authority': right }, {}, 'trusts it'],
  ['no authority', {}, {}, 'server.untrusted'],
  ['insecure-skip-tls-verify', insecure, {}, 'trusts it'],
  ['another --certificate-authority', insecure, { certificateAuthority: wrong }, 'server.untrusted'],
  ['its --certificate-authority', insecure, { certificateAuthority: right }, 'trusts it'],
  ['another --certificate-authority instead of data', data, { certificateAuthority: wrong }, 'server.untrusted'],
  ['--insecure-skip-tls-verify', { 'certificate-authority': wrong }, { insecureSkipTlsVerify: true }, 'trusts it'],
  ['both flags', {}, { certificateAuthority: right, insecureSkipTlsVerify: true }, 'kubeconfig.contradictory'],
  ['both in the kubeconfig', { ...data, ...insecure }, {}, 'kubeconfig.contradictory'],
  ['its other name', named('api.internal'), {}, 'trusts it'],
  ['another name', named('other'), {}, 'server.untrusted'],
  ['the name of another address, but --server', named('other'), { server: 'URL' }, 'trusts it'],
  ['--server and another --tls-server-name', data, { server: 'URL', tlsServerName: 'other' }, 'server.untrusted'],
  // Node would trust its built-in authorities instead.
  ['an empty authority', { 'certificate-authority': await fileOf('') }, {}, 'kubeconfig.no-authority'],
  ['an authority that is no PEM', { 'certificate-authority': noPem }, {}, 'kubeconfig.no-authority'],
  ['data that are no PEM', trusting('no PEM'), {}, 'kubeconfig.no-authority'],
])('a connection to a server with %s', async (_, cluster, given, result) => {
  const { url, asked } = await serveTls((__, response) => json(response, 200, {}));
  const flags = given.server === undefined ? given : { ...given, server: url };
  const connecting = connected(
    { url: given.server === undefined ? url : 'https://10.9.9.9:1' },
    { cluster, user, flags },
  );
  const getting = connecting.then((connection) => getObject(connection, '/x'));
  if (result === 'trusts it') expect((await getting).status).toBe(200);
  else await expect(getting).rejects.toMatchObject({ code: result });
  expect(asked).toHaveLength(result === 'trusts it' ? 1 : 0);
});

it('without TLS nothing is verified, and no setting is contradictory', async () => {
  const plain = await serve((_, response) => json(response, 200, {}));
  const cluster = { ...insecure, 'certificate-authority': noPem };
  expect((await getObject(await connected(plain, { cluster, user }), '/x')).status).toBe(200);
});

it('an untrusted server is named, and no DELETE is sent to it', async () => {
  const { url, asked } = await serveTls((_, response) => json(response, 200, {}));
  const target = { namespace: 'shop', name: 'web', uid: 'u', graceSeconds: null };
  await expect(deleted(await connected({ url }), target)).rejects.toMatchObject({
    code: 'server.untrusted',
    message: expect.stringContaining(url) as string,
  });
  expect(asked).toEqual([]);
});

it('the client certificate is presented from data, from files, from flags and from an exec plugin', async () => {
  const seen: [server: string | false | null, client: string][] = [];
  const wanting: ServerOptions = { requestCert: true, rejectUnauthorized: true };
  const api = await serveTls((_, response, request) => {
    const socket = request.socket as TLSSocket;
    seen.push([socket.servername, String(socket.getPeerCertificate().subject.CN)]);
    json(response, 200, {});
  }, wanting);
  const own = { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) };
  const [clientCertificate, clientKey] = [join(directory, 'client.crt'), join(directory, 'client.key')];
  const files = { 'client-certificate': clientCertificate, 'client-key': clientKey };
  const credential = execCredential({ clientCertificateData: client.cert, clientKeyData: client.key });
  const plugin = execUser(`cat ${await fileOf(credential)}`);
  await getObject(await connected(api, { user: own }), '/x');
  await getObject(await connected(api, { user: files }), '/x');
  await getObject(await connected(api, { flags: { clientCertificate, clientKey } }), '/x');
  await getObject(await connected(api, { user: plugin, flags: { tlsServerName: 'localhost' } }), '/x');
  expect(seen.map(([, name]) => name)).toEqual(['client', 'client', 'client', 'client']);
  expect(seen.at(-1)?.[0]).toBe('localhost');
  await expect(getObject(await connected(api), '/x')).rejects.toMatchObject({ code: 'server.unreachable' });
  const broken = { ...own, 'client-key-data': base64('key-canary') };
  await expect(getObject(await connected(api, { user: broken }), '/x')).rejects.toMatchObject({
    code: 'auth.unusable',
  });
});
