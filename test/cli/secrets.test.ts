/** Credentials are never printed, even if DEBUG makes libraries log or a flag is mistyped. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { podexit, root } from '../helpers/built.ts';
import { serving } from '../helpers/serving.ts';
import { runMain } from './helpers/in-process.ts';

const secret = 'canary-0123456789';

/** The command from source, as developers run it. */
const fromSource = async (words: readonly string[], env: Record<string, string>): Promise<{ stderr: string }> =>
  promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/cli/start.ts', ...words], {
    cwd: root,
    env: { ...process.env, ...env },
  }).catch((error: { stderr: string }) => error);

function behindProxy(server: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'podexit-')), 'kubeconfig');
  const named = (kind: string, entry: object) => ({ name: 'far', [kind]: entry });
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'far',
      contexts: [named('context', { cluster: 'far', user: 'far' })],
      clusters: [named('cluster', { server, 'proxy-url': `http://user:${secret}@127.0.0.1:1` })],
      users: [named('user', {})],
    }),
  );
  return file;
}

describe.each([
  ['built', podexit],
  ['from source', fromSource],
])('DEBUG=* in the environment, %s', (_how, run) => {
  it.each(['https://far.invalid', 'http://far.invalid'])("does not print the proxy's password (%s)", async (server) => {
    const ran = await run(['web', '--kubeconfig', behindProxy(server)], { DEBUG: '*' });
    expect(ran.stderr).toContain('error: the server');
    expect(ran.stderr).not.toContain(secret);
    expect(ran.stderr).not.toContain(Buffer.from(`user:${secret}`).toString('base64'));
  });
});

it('a mistyped flag is reported without a value of two lines', async () => {
  const words = ['web', `--tokn=a\n${secret}`];
  const { code, stderr } = await runMain(words);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("unknown option '--tokn'") as unknown });
  expect(stderr + (await runMain([...words, '-o', 'json'])).stdout).not.toContain(secret);
});

describe('the address of a server with a password, in the suggested command', () => {
  it.each([`http://admin:p@${secret}@`, `admin:${secret}@`, ` http://admin:${secret}@`])(
    'is reported without it: %s127.0.0.1',
    (before) =>
      serving('graceful-exit', {}, async ({ server }) => {
        const words = ['web', '-n', 'nowhere', `--server=${server.url.replace('http://', before)}`];
        const { code, stderr } = await runMain(words);
        expect(code).toBe(1);
        expect(stderr).toMatch(/kubectl get \w+ --server=(?:http:\/\/)?127\.0\.0\.1:\d+\n/);
        const { stdout } = await runMain([...words, '-o', 'json']);
        expect(JSON.parse(stdout)).toMatchObject({ kind: 'Error' });
        expect(stderr + stdout).not.toContain(secret);
      }),
  );
});
