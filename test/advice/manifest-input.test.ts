/** What -f, -R and -k read: folders in folders, addresses, and kustomizations; and what they refuse. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/run/clock.ts';
import { runMain } from '../cli/helpers/in-process.ts';
import { podexit } from '../helpers/built.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';
import { serve, type Handler } from '../kube/helpers/api.ts';
import { certificates } from '../kube/helpers/certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const podNamed = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec:\n  containers: [{name: app, image: app, command: [sleep, infinity]}]\n`;

mkdirSync(join(folder, 'apps/web/deep.yaml'), { recursive: true });
mkdirSync(join(folder, 'empty/inner'), { recursive: true });
writeFileSync(join(folder, 'apps/top.yaml'), podNamed('top'));
writeFileSync(join(folder, 'apps/web/inner.json'), JSON.stringify({ kind: 'Pod', metadata: { name: 'inner' } }));
writeFileSync(join(folder, 'apps/web/deep.yaml/deep.yml'), podNamed('deep'));
writeFileSync(join(folder, 'apps/web/notes.txt'), 'not: [a manifest');
symlinkSync(folder, join(folder, 'apps/web/back'));

describe('-R', () => {
  const named = (stdout: string): string[] => [...stdout.matchAll(/pod\/(\w+)/g)].map(([, name = '']) => name);

  it('reads the folders in a folder, and follows no link', async () => {
    const { code, stdout } = await runMain(['check', '-R', '-f', join(folder, 'apps')]);
    expect(code).toBe(0);
    expect([...new Set(named(stdout))].sort()).toEqual(['deep', 'inner', 'top']);
  });

  it('is needed for folders in a folder', async () => {
    const { code, stdout } = await runMain(['check', '-f', join(folder, 'apps')]);
    expect(code).toBe(0);
    expect([...new Set(named(stdout))]).toEqual(['top']);
    const { code: failed, stdout: hint } = await runMain(['check', '-f', join(folder, 'empty')]);
    expect(failed).toBe(1);
    expect(hint.replace(/\s+/g, ' ')).toContain('-R reads the folders in it too');
  });
});

describe('-f URL', () => {
  const secure = async (handler: Handler) => {
    const { server, directory } = await certificates();
    const { url } = await serve(handler, server);
    return { url, env: { NODE_EXTRA_CA_CERTS: join(directory, 'ca.crt') } };
  };

  it('reads an https address and its redirects, and has no secret of it in messages', async () => {
    const { url, env } = await secure(({ path, query }, response) => {
      if (path === '/old') response.writeHead(302, { location: `/new?sig=${query['sig']}` }).end();
      else response.end(`${podNamed('web')}---\nbroken: [1\n`);
    });
    const address = `${url.replace('https://', 'https://me:secret@')}/old?sig=hidden`;
    const { code, stdout, stderr } = await podexit(['check', '-f', address], env);
    expect(code).toBe(1);
    expect(stdout).toContain('pod/web');
    expect(stdout + stderr).toMatch(/127\.0\.0\.1:\d+\/old:8/);
    expect(stdout + stderr).not.toMatch(/secret|hidden/);
  });

  it('follows a redirect only to https, and not for ever', async () => {
    const { url, env } = await secure(({ path }, response) => {
      response.writeHead(301, { location: path === '/plain' ? 'http://example.invalid/web.yaml' : path }).end();
    });
    const { code, stderr } = await podexit(['fix', '-f', `${url}/plain`, '-f', `${url}/again`], env);
    expect(code).toBe(1);
    expect(stderr).toContain('redirects to http://example.invalid/web.yaml, which is not https');
    expect(stderr).toContain('redirects more than 10 times');
  });

  it('refuses an answer above 10 MiB, a status that is not 200, and an answer that breaks off', async () => {
    const { url, env } = await secure(({ path }, response) => {
      if (path === '/large') response.end(Buffer.alloc(10 * 2 ** 20 + 1, '#'));
      else if (path === '/most') response.end(podNamed('most').padEnd(10 * 2 ** 20, '#'));
      else if (path === '/none') response.writeHead(404).end();
      else response.writeHead(200, { 'content-length': 100 }).write('kind', () => response.destroy());
    });
    const names = ['large', 'none', 'broken', 'most'].flatMap((path) => ['-f', `${url}/${path}`]);
    const { code, stderr } = await podexit(['fix', ...names], env);
    expect(code).toBe(1);
    expect(stderr).toContain('/large:1: is larger than 10 MiB');
    expect(stderr).toContain('/none:1: is answered with HTTP status 404');
    expect(stderr).toContain('/broken:1: broke off in the middle of its answer');
    expect(stderr).toContain('pod/most');
  });

  it('refuses http, and a certificate that nobody vouches for', async () => {
    const { url } = await secure((_, response) => response.end(podNamed('web')));
    const plain = 'http://me:secret@127.0.0.1:1/web.yaml';
    const { code, stdout, stderr } = await runMain(['fix', '-f', plain, '-f', url]);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(
      'http://127.0.0.1:1/web.yaml:1: is http://127.0.0.1:1/web.yaml, which is not https. Use an https address',
    );
    expect(stderr).toMatch(/cannot be read: .*certificate/);
  });

  it('gives up after 30 s', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await new Promise((done) => silent.once('listening', done));
    const waits: number[] = [];
    const setTimeout = (callback: () => void, ms: number) => (waits.push(ms), systemClock.setTimeout(callback, 50));
    const { code, stderr } = await runMain(
      ['fix', '-f', `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`],
      {
        clock: { ...systemClock, setTimeout },
      },
    );
    expect(code).toBe(1);
    expect(waits).toEqual([30_000]);
    expect(stderr).toContain('did not answer completely within 30 s');
  });

  it('asks the proxy of the environment', async () => {
    const proxy = await serve((_, response) => response.end());
    const { code, stderr } = await runMain(['fix', '-f', 'https://manifests.invalid/web.yaml'], {
      env: { HTTPS_PROXY: 'ftp://proxy.invalid' },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('the proxy address ftp://proxy.invalid (HTTPS_PROXY in the environment) is not an http');
    const refused = await runMain(['fix', '-f', 'https://manifests.invalid/web.yaml'], {
      env: { HTTPS_PROXY: proxy.url },
    });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('cannot be read');
    expect(proxy.connections()).toBe(1);
  });
});

describe('-k', () => {
  const app = join(folder, 'kustomized');
  mkdirSync(app);
  writeFileSync(join(app, 'web.yaml'), podNamed('web'));
  writeFileSync(join(app, 'kustomization.yaml'), 'resources: [web.yaml]\nnamePrefix: shop-\n');

  /** A kubectl of our own, since KUBECTL_PATH names it. */
  const kubectl = (script: string): string => {
    const path = join(folder, 'kubectl-of-test');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  it.skipIf(!hasKubectl)('checks and fixes what kubectl builds', async () => {
    const env = { PATH: process.env['PATH'] };
    const { code, stdout } = await runMain(['check', '-k', app], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('pod/shop-web');
    const component = await runMain(['fix', '-k', app, '-o', 'kustomize'], { env });
    expect(component.code).toBe(0);
    expect(component.stderr).toContain('pod/shop-web');
  });

  it.skipIf(process.platform === 'win32')(
    'prefers the kubectl of KUBECTL_PATH, and trusts its output no more than a file',
    async () => {
      const KUBECTL_PATH = kubectl(`echo "$*" >&2; printf 'kind: "\\\\e[31mPod"\\nmetadata: {name: [\\n'`);
      const { code, stdout } = await runMain(['check', '-k', app], { env: { KUBECTL_PATH } });
      expect(code).toBe(1);
      expect(stdout).toContain(`kubectl kustomize ${app}:`);
      expect(stdout).not.toContain('\u001b[31m');
    },
  );

  it.skipIf(process.platform === 'win32')('says what kubectl said when it fails', async () => {
    const KUBECTL_PATH = kubectl(`echo "error: no such folder: $3" >&2; exit 1`);
    const { code, stderr } = await runMain(['fix', '-k', app], { env: { KUBECTL_PATH } });
    expect(code).toBe(1);
    expect(stderr).toContain(`kubectl could not build it: error: no such folder: ${app}`);
  });

  it.skipIf(process.platform === 'win32')('says that what kubectl built is too large', async () => {
    const KUBECTL_PATH = kubectl('head -c 67108865 /dev/zero');
    const { code, stderr } = await runMain(['fix', '-k', app], { env: { KUBECTL_PATH, PATH: process.env['PATH'] } });
    expect(code).toBe(1);
    expect(stderr).toContain('it is larger than 64 MB');
  });

  it('names the command where there is no kubectl', async () => {
    const { code, stderr } = await runMain(['fix', '-k', app], { env: { PATH: join(folder, 'nowhere') } });
    expect(code).toBe(1);
    expect(stderr).toContain('there is no kubectl on the PATH to build it');
    expect(stderr).toContain(`kubectl kustomize ${app} > built.yaml`);
  });
});
