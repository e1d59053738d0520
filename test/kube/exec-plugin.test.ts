import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { connect } from '../../src/kube/connect.ts';
import { getObject } from '../../src/kube/get.ts';
import { watchObjects } from './helpers/observed.ts';
import { bookmark, json, line, pod, status, tempDir } from './helpers/api.ts';
import type { TestEnv } from './helpers/env.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, stopping, take } from './helpers/take.ts';
import type { TlsApi } from './helpers/tls-api.ts';
import { serveTls } from './helpers/tls-api.ts';

const version = 'client.authentication.k8s.io/v1';

/** Writes a kubeconfig and a plugin that counts its runs, records its environment and then runs `script`. */
async function plugin(api: TlsApi, script: string, exec: object = {}, given?: TestEnv, cluster: object = {}) {
  const dir = await tempDir();
  const file = join(dir, 'config');
  await mkdir(join(dir, 'bin'));
  const body = `#!/bin/sh\necho run >> "${dir}/runs"\nprintf %s "$KUBERNETES_EXEC_INFO" > "${dir}/info"\n${script}\n`;
  await writeFile(join(dir, 'bin', 'plugin'), body, { mode: 0o755 });
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: api.url, ...api.cluster, ...cluster } }],
    users: [
      { name: 'u', user: { exec: { apiVersion: version, command: 'bin/plugin', interactiveMode: 'Never', ...exec } } },
    ],
  };
  await writeFile(file, JSON.stringify(config));
  const env = { PATH: `${join(dir, 'bin')}:${process.env['PATH'] ?? ''}` };
  const connection = await connect({ kubeconfig: file, version: '0' }, given ?? testEnv({ variables: env }));
  onTestFinished(() => connection.close());
  return {
    cluster: connection,
    dir,
    runs: async () => (await readFile(join(dir, 'runs'), 'utf8')).trim().split('\n').length,
    info: async () => JSON.parse(await readFile(join(dir, 'info'), 'utf8')) as unknown,
  };
}

const credential = (fields: string) =>
  `echo '{"apiVersion":"${version}","kind":"ExecCredential","status":{${fields}}}'`;
const ok = async () => await serveTls((_, response) => json(response, 200, {}));

const pods = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;
const unauthorized = status(401, 'Unauthorized', 'the token has expired');

describe('a 401 in the middle of a watch', () => {
  it('renews the credentials once, and the watch resumes from its resourceVersion', async () => {
    const api = await serveTls(({ query }, response) => {
      if (query['sendInitialEvents']) response.write(line('ADDED', pod('web', '6')) + bookmark('7', true));
      else response.write(line('MODIFIED', pod('web', query['resourceVersion'] === '7' ? '8' : '9')));
      response.end(line('ERROR', unauthorized));
    });
    const { cluster, runs } = await plugin(api, credential('"token":"one"'));
    const seen = await take(watchObjects(cluster, pods, { signal: stopping() }), 4);
    expect(kinds(seen)).toEqual(['listed', 'synced', 'changed', 'changed']);
    expect(await runs()).toBeGreaterThanOrEqual(2);
  });

  it('ends the watch if the server rejects the new credentials too', async () => {
    const api = await serveTls(({ query }, response) => {
      if (query['sendInitialEvents']) response.write(line('ADDED', pod('web', '6')) + bookmark('7', true));
      response.end(line('ERROR', unauthorized));
    });
    const { cluster, runs } = await plugin(api, credential('"token":"one"'));
    await expect(all(watchObjects(cluster, pods, { signal: stopping() }))).rejects.toMatchObject({
      code: 'auth.unauthorized',
    });
    expect(api.asked).toHaveLength(2);
    expect(await runs()).toBe(2);
  });
});

describe('an exec plugin', () => {
  it('runs once for concurrent requests, in the directory of the kubeconfig', async () => {
    const api = await ok();
    const { cluster, runs, info } = await plugin(api, `sleep 0.1; ${credential('"token":"from-plugin"')}`);
    await Promise.all([getObject(cluster, '/a'), getObject(cluster, '/b')]);
    await getObject(cluster, '/c');
    expect(api.asked.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer from-plugin'));
    expect(await runs()).toBe(1);
    expect(await info()).toEqual({ kind: 'ExecCredential', apiVersion: version, spec: { interactive: false } });
  });

  it('is found on the PATH, and receives its arguments and variables', async () => {
    const api = await ok();
    const exec = { command: 'plugin', args: ['one'], env: [{ name: 'WHO', value: 'two' }] };
    const { cluster } = await plugin(
      api,
      `echo "{\\"apiVersion\\":\\"${version}\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$1-$WHO\\"}}"`,
      exec,
    );
    await getObject(cluster, '/a');
    expect(api.asked[0]?.headers.authorization).toBe('Bearer one-two');
  });

  it('receives the cluster with provideClusterInfo', async () => {
    const api = await ok();
    const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } };
    const { cluster, info } = await plugin(
      api,
      credential('"token":"t-1234"'),
      { provideClusterInfo: true },
      undefined,
      {
        'tls-server-name': 'api.internal',
        extensions: [extension],
      },
    );
    await getObject(cluster, '/a');
    expect(await info()).toMatchObject({
      spec: {
        cluster: {
          server: api.url,
          'tls-server-name': 'api.internal',
          ...api.cluster,
          config: { audience: 'x' },
        },
      },
    });
  });

  it('is run again when its credential has expired', async () => {
    const api = await ok();
    const { cluster, runs } = await plugin(
      api,
      credential('"token":"t-1234","expirationTimestamp":"2020-01-01T00:00:00Z"'),
    );
    await getObject(cluster, '/a');
    await getObject(cluster, '/b');
    expect(await runs()).toBe(2);
  });

  it('is run again once after a 401, for all requests together', async () => {
    const api = await serveTls(({ headers }, response) => {
      if (headers.authorization === 'Bearer second') json(response, 200, {});
      else json(response, 401, status(401, 'Unauthorized', 'Unauthorized'));
    });
    const { cluster, runs } = await plugin(
      api,
      `if [ $(wc -l < "$(dirname "$0")/../runs") -gt 1 ]; then ${credential('"token":"second"')}; else ${credential('"token":"first"')}; fi`,
    );
    const answers = await Promise.all([getObject(cluster, '/a'), getObject(cluster, '/b')]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(await runs()).toBe(2);
  });

  it('does not run for ever if its new token is rejected too', async () => {
    const api = await serveTls((_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')));
    const { cluster, runs } = await plugin(api, credential('"token":"useless"'));
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({ code: 'auth.unauthorized' });
    expect(await runs()).toBe(2);
    expect(api.asked).toHaveLength(2);
  });

  it('shows its stderr to the user at once', async () => {
    const env = testEnv({ variables: { PATH: process.env['PATH'] ?? '' } });
    const { cluster } = await plugin(
      await ok(),
      `echo "open https://login" >&2; ${credential('"token":"t-1234"')}`,
      {},
      env,
    );
    await getObject(cluster, '/a');
    expect(env.said.join('')).toContain('open https://login');
  });

  it.each([
    ['a plugin that fails', 'echo stdout-canary; exit 3', {}, 'ended with exit code 3', 'users[].user.exec'],
    ['a plugin that is killed', 'kill -9 $$', {}, 'was ended by SIGKILL', 'users[].user.exec'],
    [
      'a plugin that writes something else',
      'echo stdout-canary',
      {},
      'other than an ExecCredential',
      'users[].user.exec',
    ],
    [
      'a plugin of another version',
      credential('"token":"stdout-canary"').replace('/v1"', '/v1beta1"'),
      {},
      'another version',
      'users',
    ],
    ['a plugin that returns no token', credential('"token":""'), {}, 'neither a token', 'users[].user.exec'],
    [
      'a plugin that is not installed',
      '',
      { command: 'no-such-plugin', installHint: 'brew install it' },
      'not installed',
      'brew install it',
    ],
  ])('%s is reported with its problem, but without its output', async (_, script, exec, message, hint) => {
    const { cluster } = await plugin(await ok(), script, exec);
    const error = (await getObject(cluster, '/a').catch((thrown: unknown) => thrown)) as Error & {
      code: string;
      hint: string;
    };
    expect(error.code).toBe('auth.exec-failed');
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain('stdout-canary');
  });

  it('fails without a terminal if it must prompt', async () => {
    const { cluster } = await plugin(await ok(), credential('"token":"t-1234"'), { interactiveMode: 'Always' });
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({ code: 'auth.exec-needs-terminal' });
  });

  it('may prompt at a terminal', async () => {
    const env = testEnv({ variables: { PATH: process.env['PATH'] ?? '' }, stdinIsTty: true });
    const { cluster, info } = await plugin(
      await ok(),
      credential('"token":"t-1234"'),
      { interactiveMode: 'IfAvailable' },
      env,
    );
    await getObject(cluster, '/a');
    expect(await info()).toMatchObject({ spec: { interactive: true } });
  });
});

describe('an exec plugin that does not end', () => {
  const fast = () => testEnv({ variables: { PATH: process.env['PATH'] ?? '' }, speed: 200 });
  /** Records the pid of a process that it starts and waits for. */
  const withChild = (more: string) => `sleep 1000 & echo $! > "$(dirname "$0")/../child"; ${more}`;

  async function childHasEnded(dir: string): Promise<void> {
    const pid = Number(await readFile(join(dir, 'child'), 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5000);
  }

  it('is killed after its timeout, with its children', async () => {
    const { cluster, dir } = await plugin(await ok(), withChild('wait'), {}, fast());
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({
      code: 'auth.exec-failed',
      message: 'the credential plugin "plugin" gave no credentials within 60 s',
    });
    await childHasEnded(dir);
  });

  it.each(['stdout', 'stderr'])('is killed if it floods %s, with its children', async (stream) => {
    const flood = withChild(`yes a-long-line-of-nothing ${stream === 'stderr' ? '>&2' : ''}`);
    const env = testEnv({ variables: { PATH: process.env['PATH'] ?? '' } });
    const { cluster, dir } = await plugin(await ok(), flood, {}, env);
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({
      code: 'auth.exec-failed',
      message: 'the credential plugin "plugin" wrote more than 1 MiB',
    });
    expect(env.said.join('').length).toBeLessThanOrEqual(1_100_000);
    await childHasEnded(dir);
  });

  it('is killed when the run is over, with its children', async () => {
    const env = testEnv({ variables: { PATH: process.env['PATH'] ?? '' } });
    const { cluster, dir } = await plugin(await ok(), withChild('wait'), {}, env);
    const asked = getObject(cluster, '/a').catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await readFile(join(dir, 'child'), 'utf8')).toMatch(/\d/), 5000);
    cluster.close();
    await asked;
    await childHasEnded(dir);
  });

  it('fails after its timeout if its child keeps the output open', async () => {
    const script = `sleep 1000 & echo $! > "$(dirname "$0")/../child"; ${credential('"token":"t-1234"')}`;
    const { cluster, dir } = await plugin(await ok(), script, {}, fast());
    await expect(getObject(cluster, '/a')).rejects.toMatchObject({ code: 'auth.exec-failed' });
    await childHasEnded(dir);
  });
});
