import type { TLSSocket } from 'node:tls';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { deletePod } from '../../src/kube/delete.ts';
import { connected, json, serve } from './helpers/api.ts';
import { certificates } from './helpers/certificates.ts';
import { all, stopping } from './helpers/take.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function secured(options: object = {}) {
  const made = await certificates();
  const names: (string | false | null)[] = [];
  const clients: string[] = [];
  const api = await serve(
    (_, response, request) => {
      const socket = request.socket as TLSSocket;
      names.push(socket.servername);
      clients.push(String(socket.getPeerCertificate().subject?.CN ?? ''));
      json(response, 200, {});
    },
    { ...made.server, ...options },
  );
  return { api, names, clients, made };
}

describe('a TLS connection', () => {
  it('is verified with the CA of the kubeconfig, as data and as a file', async () => {
    const { api, made } = await secured();
    const data = await connected(api, { cluster: { 'certificate-authority-data': base64(made.ca) } });
    expect((await getObject(data, '/x')).status).toBe(200);
    const file = await connected(api, { cluster: { 'certificate-authority': join(made.directory, 'ca.crt') } });
    expect((await getObject(file, '/x')).status).toBe(200);
  });

  it('is refused for a server with an unknown issuer, and the error names the server', async () => {
    const { api } = await secured();
    await expect(getObject(await connected(api), '/x')).rejects.toMatchObject({
      code: 'server.untrusted',
      message: expect.stringContaining(api.url) as string,
    });
    expect(api.asked).toEqual([]);
  });

  it('is refused for a server with another name, unless tls-server-name is that name', async () => {
    const { api, names, made } = await secured();
    const ca = { 'certificate-authority-data': base64(made.ca) };
    await expect(
      getObject(await connected(api, { cluster: { ...ca, 'tls-server-name': 'other' } }), '/x'),
    ).rejects.toMatchObject({
      code: 'server.untrusted',
    });
    await getObject(await connected(api, { cluster: { ...ca, 'tls-server-name': 'api.internal' } }), '/x');
    await getObject(await connected(api, { cluster: ca, flags: { tlsServerName: 'localhost' } }), '/x');
    expect(names).toEqual(['api.internal', 'localhost']);
  });

  it('is not verified with insecure-skip-tls-verify', async () => {
    const { api } = await secured();
    expect(
      (await getObject(await connected(api, { cluster: { 'insecure-skip-tls-verify': true } }), '/x')).status,
    ).toBe(200);
    expect((await getObject(await connected(api, { flags: { insecureSkipTlsVerify: true } }), '/x')).status).toBe(200);
  });

  it('presents the client certificate from data, from files and from flags', async () => {
    const { api, clients, made } = await secured({ requestCert: true, rejectUnauthorized: true });
    const cluster = { 'certificate-authority-data': base64(made.ca) };
    const data = { 'client-certificate-data': base64(made.client.cert), 'client-key-data': base64(made.client.key) };
    const clientCertificate = join(made.directory, 'client.crt');
    const clientKey = join(made.directory, 'client.key');
    await getObject(await connected(api, { cluster, user: data }), '/x');
    await getObject(
      await connected(api, { cluster, user: { 'client-certificate': clientCertificate, 'client-key': clientKey } }),
      '/x',
    );
    await getObject(await connected(api, { cluster, flags: { clientCertificate, clientKey } }), '/x');
    expect(clients).toEqual(['client', 'client', 'client']);
    await expect(getObject(await connected(api, { cluster }), '/x')).rejects.toMatchObject({
      code: 'server.unreachable',
    });
  });

  it('presents the client certificate of an exec plugin', async () => {
    const { api, clients, made } = await secured({ requestCert: true, rejectUnauthorized: true });
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { clientCertificateData: made.client.cert, clientKeyData: made.client.key },
    };
    const file = join(made.directory, 'credential.json');
    await writeFile(file, JSON.stringify(credential));
    const exec = { apiVersion: credential.apiVersion, command: 'cat', args: [file], interactiveMode: 'Never' };
    const cluster = await connected(api, {
      cluster: { 'certificate-authority-data': base64(made.ca) },
      user: { exec },
    });
    await getObject(cluster, '/x');
    expect(clients).toEqual(['client']);
  });

  it('reports an invalid key as auth.unusable', async () => {
    const { api, made } = await secured();
    const user = { 'client-certificate-data': base64(made.client.cert), 'client-key-data': base64('key-canary') };
    await expect(getObject(await connected(api, { user }), '/x')).rejects.toMatchObject({ code: 'auth.unusable' });
  });

  it('sends neither a DELETE nor a GET if it fails', async () => {
    const { api } = await secured();
    const target = { namespace: 'shop', name: 'web', uid: 'u', graceSeconds: null };
    await expect(all(deletePod(await connected(api), target, { signal: stopping() }))).rejects.toMatchObject({
      code: 'server.untrusted',
    });
    expect(api.asked).toEqual([]);
  });
});
