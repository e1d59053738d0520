/** Servers that are not a Kubernetes API, through the command line, over HTTP. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, serve, tempDir } from '../kube/helpers/api.ts';
import type { Handler } from '../kube/helpers/api.ts';
import { runMain } from './helpers/in-process.ts';

/** Starts such a server. Returns the flags to connect to it, and the requests that it received. */
async function serverThat(handler: Handler) {
  const api = await serve(handler);
  const kubeconfig = join(await tempDir(), 'config');
  const config = {
    clusters: [{ name: 'c', cluster: { server: api.url } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    'current-context': 'x',
  };
  await writeFile(kubeconfig, JSON.stringify(config));
  return { ...api, flags: ['--kubeconfig', kubeconfig] };
}

const page = '<!doctype html>\n<html>Please log in</html>\n';

describe('a login page in front of the cluster', () => {
  it.each([
    ['a trace', ['web']],
    ['a trace of a workload', ['-l', 'app=web', '--pick', 'oldest']],
    ['waiting for the next terminating pod', ['-l', 'app=web', '--attach']],
    ['a trace of a deployment', ['deploy/web', '--pick', 'oldest']],
    ['a dry run', ['web', '--dry-run=server']],
    ['a check', ['check', 'web']],
  ])('is named in the error of %s, with exit code 1 and without a time limit', async (_, words) => {
    const { flags, url, asked } = await serverThat((_asked, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(page),
    );
    const { code, stderr } = await runMain([...words, ...flags]);
    expect(stderr).toContain(`what answers at ${url} is not the Kubernetes API`);
    expect(stderr).toContain('--server');
    expect(code).toBe(1);
    expect(asked.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is reported as a JSON document with -o json', async () => {
    const { flags } = await serverThat((_asked, response) => json(response, 200, { login: 'https://example.com' }));
    const { code, stdout } = await runMain(['web', ...flags, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'Error', code: 'server.not-kubernetes' });
    expect(code).toBe(1);
  });
});
