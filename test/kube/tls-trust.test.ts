/** Which servers a kubeconfig and the flags trust, by client-go's rules: an error could send a token to any server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { connected, json, serve, tempDir } from './helpers/api.ts';
import { certificates, trusting } from './helpers/certificates.ts';
import { serveTls } from './helpers/tls-api.ts';

const user = { token: 'token-1234' };
const ok = async () => await serveTls((_, response) => json(response, 200, {}));
const untrusted = { code: 'server.untrusted' };
const contradictory = { code: 'kubeconfig.contradictory' };

async function fileOf(text: string): Promise<string> {
  const file = join(await tempDir(), 'ca.crt');
  await writeFile(file, text);
  return file;
}

/** An authority that has not signed the certificate of any server in these tests. */
const unrelatedAuthority = () => fileOf(selfSigned().cert);

describe('--certificate-authority', () => {
  it('verifies the server even with insecure-skip-tls-verify in the kubeconfig', async () => {
    const { url, asked } = await ok();
    const cluster = { 'insecure-skip-tls-verify': true };
    const flags = { certificateAuthority: await unrelatedAuthority() };
    const wrong = await connected({ url }, { cluster, user, flags });
    await expect(getObject(wrong, '/x')).rejects.toMatchObject(untrusted);
    expect(asked).toEqual([]);
    const certificateAuthority = join((await certificates()).directory, 'ca.crt');
    const right = await connected({ url }, { cluster, user, flags: { certificateAuthority } });
    expect((await getObject(right, '/x')).status).toBe(200);
  });

  it('replaces certificate-authority-data of the kubeconfig', async () => {
    const api = await ok();
    const cluster = await connected(api, { user, flags: { certificateAuthority: await unrelatedAuthority() } });
    await expect(getObject(cluster, '/x')).rejects.toMatchObject(untrusted);
    expect(api.asked).toEqual([]);
  });

  it('is refused together with --insecure-skip-tls-verify', async () => {
    const flags = { certificateAuthority: await unrelatedAuthority(), insecureSkipTlsVerify: true };
    await expect(connected(await ok(), { user, flags })).rejects.toMatchObject(contradictory);
  });
});

describe('--insecure-skip-tls-verify', () => {
  it('replaces the authority of the kubeconfig', async () => {
    const { url } = await ok();
    const cluster = { 'certificate-authority': await unrelatedAuthority() };
    const unverified = await connected({ url }, { cluster, user, flags: { insecureSkipTlsVerify: true } });
    expect((await getObject(unverified, '/x')).status).toBe(200);
  });

  it('is refused in a kubeconfig with an authority, and ignored without TLS', async () => {
    const cluster = { 'insecure-skip-tls-verify': true };
    await expect(connected(await ok(), { cluster, user })).rejects.toMatchObject(contradictory);
    const plain = await serve((_, response) => json(response, 200, {}));
    const both = { ...cluster, 'certificate-authority': await unrelatedAuthority() };
    expect((await getObject(await connected(plain, { cluster: both, user }), '/x')).status).toBe(200);
  });
});

describe('--server', () => {
  it('drops the tls-server-name that the kubeconfig has for another address', async () => {
    const { url, cluster } = await ok();
    const elsewhere = { ...cluster, 'tls-server-name': 'other' };
    const moved = await connected({ url: 'https://10.9.9.9:1' }, { cluster: elsewhere, user, flags: { server: url } });
    expect((await getObject(moved, '/x')).status).toBe(200);
  });

  it('keeps the name of --tls-server-name', async () => {
    const { url, cluster } = await ok();
    const flags = { server: url, tlsServerName: 'other' };
    await expect(getObject(await connected({ url }, { cluster, user, flags }), '/x')).rejects.toMatchObject(untrusted);
  });
});

it.each([
  ['an empty file', async () => ({ 'certificate-authority': await fileOf('') })],
  ['a file that is no PEM', async () => ({ 'certificate-authority': await fileOf('no PEM') })],
  ['data', () => trusting('no PEM')],
])(
  'an authority without a certificate is refused, instead of trusting any server, and ignored without TLS: %s',
  async (_, make) => {
    const cluster = await make();
    const { url } = await ok();
    await expect(connected({ url }, { cluster, user })).rejects.toMatchObject({ code: 'kubeconfig.no-authority' });
    const plain = await serve((__, response) => json(response, 200, {}));
    expect((await getObject(await connected(plain, { cluster, user }), '/x')).status).toBe(200);
  },
);
