/** What -f, -R and -k read: folders in folders, and kustomizations; and what they refuse. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runMain } from '../cli/helpers/in-process.ts';
import { hasKubectl } from '../helpers/machines-kubectl.ts';

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

it('downloads nothing, and has no secret of an address in its message', async () => {
  const { code, stderr } = await runMain(['fix', '-f', 'https://me:secret@127.0.0.1:1/web.yaml?sig=hidden']);
  expect(code).toBe(1);
  expect(stderr).toContain('https://127.0.0.1:1/web.yaml:1: is an address, which is not downloaded. Pipe it in');
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

  it('names the command where there is no kubectl', async () => {
    const { code, stderr } = await runMain(['fix', '-k', app], { env: { PATH: join(folder, 'nowhere') } });
    expect(code).toBe(1);
    expect(stderr).toContain('there is no kubectl on the PATH to build it');
    expect(stderr).toContain(`kubectl kustomize ${app} > built.yaml`);
  });
});
