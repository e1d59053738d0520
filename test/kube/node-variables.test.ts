/** Environment variables that only Node reads, unlike kubectl: none of them may change which servers are trusted. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { podexit } from '../helpers/built.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { connected, json, kubeconfigFile } from './helpers/api.ts';
import { certificates, trusting, serveTls } from './helpers/certificates.ts';
import { serveHttp2 } from './helpers/http2-api.ts';
import { testEnv } from './helpers/env.ts';

const user = { token: 'token-1234' };
const ok = async () => await serveTls((_, response) => json(response, 200, {}));
/** An authority that has not signed the certificate of any server in these tests. */
const unrelatedAuthority = () => trusting(selfSigned().cert);

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  afterEach(() => void delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']);
  it.each([
    ['with the authority of the kubeconfig', unrelatedAuthority(), {}],
    ['without one', {}, {}],
    ['with DISABLE_HTTP2', unrelatedAuthority(), { DISABLE_HTTP2: '1' }],
  ])('does not disable the verification of the server, %s', async (_, cluster, variables) => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const { url, asked } = await serveHttp2((__, response) => response.end());
    const connecting = connected({ url }, { cluster, user, env: testEnv({ variables }) });
    await expect(getObject(await connecting, '/x')).rejects.toMatchObject({ code: 'server.untrusted' });
    expect(asked).toEqual([]);
  });

  it('does not change insecure-skip-tls-verify of the kubeconfig', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    const cluster = await connected({ url: (await ok()).url }, { cluster: { 'insecure-skip-tls-verify': true }, user });
    expect((await getObject(cluster, '/x')).status).toBe(200);
  });
});

describe('the built command with a variable of Node', () => {
  const run = async (url: string, cluster: object, env: Record<string, string>, ...more: string[]) =>
    podexit(
      ['web', '--no-config', '--kubeconfig', await kubeconfigFile({ server: url, ...cluster }, user), ...more],
      env,
    );

  it.each([
    ['NODE_TLS_REJECT_UNAUTHORIZED', () => '0'],
    ['NODE_EXTRA_CA_CERTS', (file: string) => file],
    ['SSL_CERT_FILE', (file: string) => file],
    ['NODE_OPTIONS', () => '--use-openssl-ca'],
    ['OPENSSL_CONF', () => '/nonexistent'],
  ])('%s does not extend the authority of the kubeconfig', async (name, valueOf) => {
    const api = await ok();
    const authority = join((await certificates()).directory, 'ca.crt');
    const { code, stderr } = await run(api.url, unrelatedAuthority(), {
      [name]: valueOf(authority),
      SSL_CERT_FILE: authority,
    });
    expect(stderr).toContain('cannot be trusted');
    expect(code).toBe(1);
    expect(api.asked).toEqual([]);
  });

  it('NODE_EXTRA_CA_CERTS adds to the public authorities, and -v prints that', async () => {
    const api = await serveTls((_, response) => json(response, 404, { kind: 'Status', status: 'Failure', code: 404 }));
    const NODE_EXTRA_CA_CERTS = join((await certificates()).directory, 'ca.crt');
    const quiet = await run(api.url, {}, { NODE_EXTRA_CA_CERTS });
    expect(quiet.stderr).not.toContain('NODE_EXTRA_CA_CERTS');
    const { stderr } = await run(api.url, {}, { NODE_EXTRA_CA_CERTS }, '-v', '1');
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect(api.asked.length).toBeGreaterThan(0);
  });
});
