import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { casesIn } from '../helpers/case-file.ts';
import { bookmark, connected, json, line, pod, status, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { watchObjects, all, kinds, take } from './helpers/observed.ts';
import { execCredential, execUser, execVersion } from './helpers/plugin.ts';
import { serveTls, type TlsApi } from './helpers/certificates.ts';

const pods = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;
const unauthorized = status(401, 'Unauthorized', 'the token has expired');
const ok = async () => await serveTls((_, response) => json(response, 200, {}));
const prints = (credential: object): string => `echo '${execCredential(credential)}'`;

/** Connects with a plugin that counts its runs, records what it is told and then runs `script`, which can use `$dir`. */
async function plugin(api: TlsApi, script: string, exec: object = {}, more: Parameters<typeof connected>[1] = {}) {
  const dir = await tempDir();
  const record = `dir="${dir}"; echo run >> "$dir/runs"; printf %s "$KUBERNETES_EXEC_INFO" > "$dir/info"`;
  const cluster = await connected(api, { env: testEnv(), ...more, user: execUser(`${record}\n${script}`, exec) });
  return {
    cluster,
    dir,
    runs: async () => (await readFile(join(dir, 'runs'), 'utf8')).trim().split('\n').length,
    info: async () => JSON.parse(await readFile(join(dir, 'info'), 'utf8')) as unknown,
  };
}

describe('a watch whose credentials expire', () => {
  it('renews them once, and resumes from its resourceVersion', async () => {
    const api = await serveTls(({ query }, response) => {
      if (query['sendInitialEvents']) response.write(line('ADDED', pod('web', '6')) + bookmark('7', true));
      else response.write(line('MODIFIED', pod('web', query['resourceVersion'] === '7' ? '8' : '9')));
      response.end(line('ERROR', unauthorized));
    });
    const { cluster, runs } = await plugin(api, prints({ token: 'one' }));
    expect(kinds(await take(watchObjects(cluster, pods), 4))).toEqual(['listed', 'synced', 'changed', 'changed']);
    expect(await runs()).toBeGreaterThanOrEqual(2);
  });

  it('ends if the server rejects the new credentials too', async () => {
    const api = await serveTls(({ query }, response) => {
      if (query['sendInitialEvents']) response.write(line('ADDED', pod('web', '6')) + bookmark('7', true));
      response.end(line('ERROR', unauthorized));
    });
    const { cluster, runs } = await plugin(api, prints({ token: 'one' }));
    await expect(all(watchObjects(cluster, pods))).rejects.toMatchObject({ code: 'auth.unauthorized' });
    expect(api.asked).toHaveLength(2);
    expect(await runs()).toBe(2);
  });

  /** Run number `fails` fails. The other runs return a token with their number. */
  const failing = (fails: number): string =>
    `n=$(grep -c run "$dir/runs"); [ $n = ${fails} ] && exit 1; echo '${execCredential({ token: "t'$n'" })}'`;

  it('resumes after a plugin that failed once', async () => {
    const api = await serveTls(({ query, headers }, response) => {
      if (query['sendInitialEvents']) return response.end(line('ADDED', pod('web', '6')) + bookmark('7', true));
      if (headers.authorization === 'Bearer t1') return json(response, 401, unauthorized);
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const { cluster } = await plugin(api, failing(2), {}, { env: testEnv({ speed: 20 }) });
    expect(kinds(await take(watchObjects(cluster, pods), 3))).toEqual(['listed', 'synced', 'changed']);
    expect(api.asked.at(-1)?.headers.authorization).toBe('Bearer t3');
  });

  it('ends if the plugin fails before the server was reached', async () => {
    const { cluster } = await plugin(await ok(), failing(1));
    await expect(all(watchObjects(cluster, pods))).rejects.toMatchObject({ code: 'auth.exec-failed' });
  });
});

describe('an exec plugin', () => {
  it('runs once for concurrent requests', async () => {
    const api = await ok();
    const { cluster, runs, info } = await plugin(api, `sleep 0.1; ${prints({ token: 'from-plugin' })}`);
    await Promise.all([getObject(cluster, '/a'), getObject(cluster, '/b')]);
    await getObject(cluster, '/c');
    expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer from-plugin'));
    expect(await runs()).toBe(1);
    expect(await info()).toEqual({ kind: 'ExecCredential', apiVersion: execVersion, spec: { interactive: false } });
  });

  it('is found on the PATH, and receives its arguments and variables', async () => {
    const api = await ok();
    const dir = await tempDir();
    const script = `#!/bin/sh\necho '${execCredential({ token: "'$1-$WHO'" })}'\n`;
    await writeFile(join(dir, 'plugin'), script, { mode: 0o755 });
    const user = execUser('', { command: 'plugin', args: ['one'], env: [{ name: 'WHO', value: 'two' }] });
    const env = testEnv({ variables: { PATH: `${dir}:${process.env['PATH'] ?? ''}` } });
    await getObject(await connected(api, { user, env }), '/a');
    expect(api.asked[0]?.headers.authorization).toBe('Bearer one-two');
  });

  it('receives the cluster with provideClusterInfo', async () => {
    const api = await ok();
    const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } };
    const more = { 'tls-server-name': 'api.internal', extensions: [extension] };
    const exec = { provideClusterInfo: true };
    const { cluster, info } = await plugin(api, prints({ token: 't-1234' }), exec, { cluster: more });
    await getObject(cluster, '/a');
    const told = { server: api.url, 'tls-server-name': 'api.internal', ...api.cluster, config: { audience: 'x' } };
    expect(await info()).toMatchObject({ spec: { cluster: told } });
  });

  it('is run again when its credential has expired', async () => {
    const expired = prints({ token: 't-1234', expirationTimestamp: '2020-01-01T00:00:00Z' });
    const { cluster, runs } = await plugin(await ok(), expired);
    await getObject(cluster, '/a');
    await getObject(cluster, '/b');
    expect(await runs()).toBe(2);
  });

  it('is run again once after a 401, for all requests together', async () => {
    const api = await serveTls(({ headers }, response) => {
      if (headers.authorization === 'Bearer t2') json(response, 200, {});
      else json(response, 401, unauthorized);
    });
    const numbered = `n=$(grep -c run "$dir/runs"); echo '${execCredential({ token: "t'$n'" })}'`;
    const { cluster, runs } = await plugin(api, numbered);
    const answers = await Promise.all([getObject(cluster, '/a'), getObject(cluster, '/b')]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(await runs()).toBe(2);
  });

  it('does not run for ever if its new token is rejected too', async () => {
    const api = await serveTls((_, response) => json(response, 401, unauthorized));
    const { cluster, runs } = await plugin(api, prints({ token: 'useless' }));
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({ code: 'auth.unauthorized' });
    expect([await runs(), api.asked.length]).toEqual([2, 2]);
  });

  it('shows its stderr to the user at once', async () => {
    const env = testEnv();
    const { cluster } = await plugin(
      await ok(),
      `echo "open https://login" >&2; ${prints({ token: 't-1234' })}`,
      {},
      { env },
    );
    await getObject(cluster, '/a');
    expect(env.said.join('')).toContain('open https://login');
  });

  interface Failing {
    script?: string;
    exec?: object;
    message: string;
    hint?: string;
  }

  it.each(casesIn<Failing>(new URL('exec-plugin.yaml', import.meta.url), ['script', 'exec', 'message', 'hint']))(
    '%s is reported with its problem, but without its output',
    async (_, { script = '', exec, message, hint = 'users[].user.exec' }) => {
      const { cluster } = await plugin(await ok(), script, exec);
      const error = (await getObject(cluster, '/a').catch((thrown: unknown) => thrown)) as Error & { hint: string };
      expect(error).toMatchObject({ code: 'auth.exec-failed' });
      expect(error.message).toContain(message);
      expect(error.hint).toContain(hint);
      expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain('stdout-canary');
    },
  );

  it('may prompt at a terminal, and fails without one if it must prompt', async () => {
    const script = prints({ token: 't-1234' });
    const env = testEnv({ stdinIsTty: true });
    const may = await plugin(await ok(), script, { interactiveMode: 'IfAvailable' }, { env });
    await getObject(may.cluster, '/a');
    expect(await may.info()).toMatchObject({ spec: { interactive: true } });
    const must = await plugin(await ok(), script, { interactiveMode: 'Always' });
    await expect(getObject(must.cluster, '/a')).rejects.toMatchObject({ code: 'auth.exec-needs-terminal' });
  });
});

describe('an exec plugin that does not end', () => {
  /** Records the pid of a process that it starts. */
  const withChild = (more: string) => `sleep 1000 & echo $! > "$dir/child"; ${more}`;

  async function childHasEnded(dir: string): Promise<void> {
    const pid = Number(await readFile(join(dir, 'child'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5000);
  }

  it.each([
    ['waits', 'wait'],
    ['has a child that keeps the output open', prints({ token: 't-1234' })],
  ])('is killed after its timeout, with its children, if it %s', async (_, more) => {
    const { cluster, dir } = await plugin(await ok(), withChild(more), {}, { env: testEnv({ speed: 200 }) });
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({
      code: 'auth.exec-failed',
      message: 'the credential plugin "sh" gave no credentials within 60 s',
    });
    await childHasEnded(dir);
  });

  it.each(['stdout', 'stderr'])('is killed if it floods %s, with its children', async (stream) => {
    const env = testEnv();
    const flood = withChild(`yes a-long-line-of-nothing ${stream === 'stderr' ? '>&2' : ''}`);
    const { cluster, dir } = await plugin(await ok(), flood, {}, { env });
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({
      code: 'auth.exec-failed',
      message: 'the credential plugin "sh" wrote more than 1 MiB',
    });
    expect(env.said.join('').length).toBeLessThanOrEqual(1_100_000);
    await childHasEnded(dir);
  });

  it('is killed when the run is over, with its children', async () => {
    const { cluster, dir } = await plugin(await ok(), withChild('wait'));
    const asked = getObject(cluster, '/a').catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await readFile(join(dir, 'child'), 'utf8')).toMatch(/\d/), 5000);
    cluster.close();
    await asked;
    await childHasEnded(dir);
  });
});
