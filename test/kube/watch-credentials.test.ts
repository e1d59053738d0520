/** A watch whose credentials expire: a plugin that fails occasionally is retried, like a lost connection. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchObjects } from './helpers/observed.ts';
import { bookmark, connected, json, line, pod, status, tempDir } from './helpers/api.ts';
import { serveTls } from './helpers/tls-api.ts';
import { testEnv } from './helpers/env.ts';
import { all, kinds, stopping, take } from './helpers/take.ts';

const target = { stream: 'pod', path: '/api/v1/namespaces/shop/pods', name: 'web' } as const;

/** Credentials from a plugin whose run number `fails` fails. The other runs return a token with their number. */
async function failing(fails: number): Promise<object> {
  const runs = join(await tempDir(), 'runs');
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = `{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":{"token":"t'$n'"}}`;
  const script = `echo run >> "${runs}"; n=$(grep -c run "${runs}"); [ $n = ${fails} ] && exit 1; echo '${credential}'`;
  return { exec: { apiVersion, command: 'sh', args: ['-c', script], interactiveMode: 'Never' } };
}

const env = () => testEnv({ variables: { PATH: process.env['PATH'] ?? '' }, speed: 20 });

it('resumes after a plugin that failed once', async () => {
  const api = await serveTls(({ query, headers }, response) => {
    if (query['sendInitialEvents']) return response.end(line('ADDED', pod('web', '6')) + bookmark('7', true));
    if (headers.authorization === 'Bearer t1') return json(response, 401, status(401, 'Unauthorized', 'expired'));
    response.write(line('MODIFIED', pod('web', '8')));
  });
  const cluster = await connected(api, { cluster: api.cluster, user: await failing(2), env: env() });
  const seen = await take(watchObjects(cluster, target, { signal: stopping() }), 3);
  expect(kinds(seen)).toEqual(['listed', 'synced', 'changed']);
  expect(api.asked.at(-1)?.headers.authorization).toBe('Bearer t3');
});

it('ends if the plugin fails before the server was reached', async () => {
  const api = await serveTls((_, response) => json(response, 200, {}));
  const cluster = await connected(api, { cluster: api.cluster, user: await failing(1), env: env() });
  const watched = all(watchObjects(cluster, target, { signal: stopping() }));
  await expect(watched).rejects.toMatchObject({ code: 'auth.exec-failed' });
});
