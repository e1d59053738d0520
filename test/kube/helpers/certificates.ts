import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServerOptions } from 'node:https';
import { serve, tempDir, type Api, type Handler } from './api.ts';

export interface Certificates {
  directory: string;
  ca: string;
  server: { cert: string; key: string; ca: string };
  client: { cert: string; key: string };
}

let made: Promise<Certificates> | undefined;

/** Certificates of a CA, a server (127.0.0.1, localhost) and a client. openssl makes them once per test file. */
export function certificates(): Promise<Certificates> {
  return (made ??= make());
}

/** A kubeconfig's cluster entry that trusts this authority. */
export const trusting = (ca: string): TrustingCluster => ({
  'certificate-authority-data': Buffer.from(ca).toString('base64'),
});

export type TrustingCluster = Record<'certificate-authority-data', string>;

async function make(): Promise<Certificates> {
  const directory = await tempDir();
  const openssl = async (args: string) =>
    void (await promisify(execFile)('openssl', args.split(' '), { cwd: directory }));
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  await openssl(`req -x509 ${newKey} -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca`);
  await writeFile(join(directory, 'server.ext'), 'subjectAltName=DNS:localhost,DNS:api.internal,IP:127.0.0.1\n');
  await writeFile(join(directory, 'client.ext'), 'extendedKeyUsage=clientAuth\n');
  for (const name of ['server', 'client']) {
    await openssl(`req ${newKey} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`);
    const signed = `-CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile ${name}.ext -out ${name}.crt`;
    await openssl(`x509 -req -in ${name}.csr ${signed}`);
  }
  const read = async (name: string) => await readFile(join(directory, name), 'utf8');
  const ca = await read('ca.crt');
  return {
    directory,
    ca,
    server: { cert: await read('server.crt'), key: await read('server.key'), ca },
    client: { cert: await read('client.crt'), key: await read('client.key') },
  };
}

export interface TlsApi extends Api {
  /** The kubeconfig's cluster entry for this server. */
  cluster: TrustingCluster;
}

/** An API server with TLS: without it no credentials are sent. */
export async function serveTls(handler: Handler, options: ServerOptions = {}): Promise<TlsApi> {
  const { server, ca } = await certificates();
  return { ...(await serve(handler, { ...server, ...options })), cluster: trusting(ca) };
}
