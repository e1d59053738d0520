/** Modules that the built command loads on demand: in the bundle CommonJS packages may lose their names. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { podexit } from '../helpers/built.ts';

function kubeconfig(cluster: object, user: object = {}): string {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'kubeconfig');
  const config = {
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    clusters: [{ name: 'a', cluster }],
    users: [{ name: 'a', user }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

it('goes through a proxy', async () => {
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"kind":"Status","code":404}');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const file = kubeconfig({ server: 'http://api.internal:6443', 'proxy-url': `http://127.0.0.1:${port}` });
  const { stderr } = await podexit(['pod-a', '--kubeconfig', file]);
  await new Promise((resolve) => proxy.close(resolve));
  expect(stderr).not.toContain('unexpected error');
  expect(asked[0]).toMatch(/^http:\/\/api\.internal:6443\/api\/v1\//);
});

it('asks the auth provider of the kubeconfig', async () => {
  const file = kubeconfig(
    { server: 'https://127.0.0.1:9' },
    {
      'auth-provider': {
        name: 'oidc',
        config: { 'id-token': 'no-token', 'client-id': 'a', 'idp-issuer-url': 'http://127.0.0.1:9' },
      },
    },
  );
  const { code, stderr } = await podexit(['pod-a', '--kubeconfig', file]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: .*(oidc|auth provider|credentials|127\.0\.0\.1:9)/);
});

it('prints a check in each format', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'podexit-'));
  const file = join(folder, 'pod.yaml');
  writeFileSync(file, 'kind: Pod\nmetadata: {name: "yes"}\nspec: {containers: [{name: app, image: app:1}]}\n');
  const reports = ['json', 'yaml', 'sarif', 'junit.xml', 'md'].map((ending) => join(folder, `report.${ending}`));
  const { code, stdout, stderr } = await podexit([
    ...['check', '-f', file, '-o', 'table'],
    ...reports.flatMap((report) => ['--report', report]),
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('yes');
  for (const report of reports)
    expect(readFileSync(report, 'utf8')).toContain(report.endsWith('.yaml') ? 'name: "yes"' : 'yes');
});
