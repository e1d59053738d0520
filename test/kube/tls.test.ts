import type { ServerOptions } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { connected, json } from './helpers/api.ts';
import { certificates } from './helpers/certificates.ts';
import { deleted } from './helpers/observed.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { serveTls } from './helpers/tls-api.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function secured(options: ServerOptions = {}) {
  const names: (string | false | null)[] = [];
  const clients: string[] = [];
  const api = await serveTls((_, response, request) => {
    const socket = request.socket as TLSSocket;
    names.push(socket.servername);
    clients.push(String(socket.getPeerCertificate().subject?.CN ?? ''));
    json(response, 200, {});
  }, options);
  return { api, names, clients, made: await certificates() };
}

describe('a TLS connection', () => {
  it('is verified with the CA of the kubeconfig, as data and as a file', async () => {
    const { api, made } = await secured();
    expect((await getObject(await connected(api), '/x')).status).toBe(200);
    const cluster = { 'certificate-authority': join(made.directory, 'ca.crt') };
    expect((await getObject(await connected({ url: api.url }, { cluster }), '/x')).status).toBe(200);
  });

  it('is refused for a server with an unknown issuer: no GET and no DELETE is sent, and the error names the server', async () => {
    const { api } = await secured();
    const cluster = await connected({ url: api.url });
    const untrusted = { code: 'server.untrusted', message: expect.stringContaining(api.url) as string };
    await expect(getObject(cluster, '/x')).rejects.toMatchObject(untrusted);
    const target = { namespace: 'shop', name: 'web', uid: 'u', graceSeconds: null };
    await expect(deleted(cluster, target)).rejects.toMatchObject(untrusted);
    expect(api.asked).toEqual([]);
  });

  it('is refused for a server with another name, unless tls-server-name is that name', async () => {
    const { api, names } = await secured();
    const other = await connected(api, { cluster: { 'tls-server-name': 'other' } });
    await expect(getObject(other, '/x')).rejects.toMatchObject({ code: 'server.untrusted' });
    await getObject(await connected(api, { cluster: { 'tls-server-name': 'api.internal' } }), '/x');
    await getObject(await connected(api, { flags: { tlsServerName: 'localhost' } }), '/x');
    expect(names).toEqual(['api.internal', 'localhost']);
  });

  it('is not verified with insecure-skip-tls-verify', async () => {
    const { url } = (await secured()).api;
    const cluster = { 'insecure-skip-tls-verify': true };
    expect((await getObject(await connected({ url }, { cluster }), '/x')).status).toBe(200);
  });

  it('presents the client certificate from data, from files, from flags and from an exec plugin', async () => {
    const { api, clients, made } = await secured({ requestCert: true, rejectUnauthorized: true });
    const data = { 'client-certificate-data': base64(made.client.cert), 'client-key-data': base64(made.client.key) };
    const [clientCertificate, clientKey] = ['client.crt', 'client.key'].map((name) => join(made.directory, name));
    const files = { 'client-certificate': clientCertificate, 'client-key': clientKey };
    await getObject(await connected(api, { user: data }), '/x');
    await getObject(await connected(api, { user: files }), '/x');
    await getObject(await connected(api, { flags: { clientCertificate, clientKey } }), '/x');
    const credential = { clientCertificateData: made.client.cert, clientKeyData: made.client.key };
    await getObject(
      await connected(api, { user: execUser(`echo '${execCredential(credential).replaceAll('\\', '\\\\')}'`) }),
      '/x',
    );
    expect(clients).toEqual(['client', 'client', 'client', 'client']);
    await expect(getObject(await connected(api), '/x')).rejects.toMatchObject({ code: 'server.unreachable' });
  });

  it('reports an invalid key as auth.unusable', async () => {
    const { api, made } = await secured();
    const user = { 'client-certificate-data': base64(made.client.cert), 'client-key-data': base64('key-canary') };
    await expect(getObject(await connected(api, { user }), '/x')).rejects.toMatchObject({ code: 'auth.unusable' });
  });
});
