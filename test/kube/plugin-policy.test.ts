/** kubectl's settings file (kuberc) decides whether the credential plugin of a kubeconfig may run: kubectl 1.35, KEP-3104. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/kube/connect.ts';
import { getObject } from '../../src/kube/get.ts';
import { json, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { serveTls } from './helpers/tls-api.ts';

const version = 'client.authentication.k8s.io/v1';

interface Setting {
  /** The text of ~/.kube/kuberc; undefined: there is none. */
  kuberc?: string;
  /** The command of the kubeconfig's plugin. */
  command?: (home: string) => string;
  variables?: (home: string) => Record<string, string>;
  flag?: (home: string) => string;
}

/** Sends one request with a plugin that gives a token; throws what the connection throws. */
async function request({ kuberc, command = () => 'login', variables = () => ({}), flag }: Setting): Promise<void> {
  const home = await tempDir();
  const api = await serveTls((_, response) => json(response, 200, {}));
  await mkdir(join(home, '.kube'));
  await mkdir(join(home, 'bin'));
  const plugin = join(home, 'bin', 'login');
  const answer = `{"apiVersion":"${version}","kind":"ExecCredential","status":{"token":"t-1234"}}`;
  await writeFile(plugin, `#!/bin/sh\necho '${answer}'\n`);
  await chmod(plugin, 0o755);
  if (kuberc !== undefined) await writeFile(join(home, '.kube', 'kuberc'), kuberc);
  const config = join(home, 'config');
  const exec = { apiVersion: version, command: command(home), interactiveMode: 'Never' };
  await writeFile(
    config,
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: api.url, ...api.cluster } }],
      users: [{ name: 'u', user: { exec } }],
    }),
  );
  const env = testEnv({ variables: { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin`, ...variables(home) } });
  const cluster = await connect({ kubeconfig: config, version: '0', kuberc: flag?.(home) }, env);
  onTestFinished(() => cluster.close());
  await getObject(cluster, '/a');
  expect(api.asked[0]?.headers.authorization).toBe('Bearer t-1234');
}

const policy = (name: string, ...entries: string[]): string =>
  ['apiVersion: kubectl.config.k8s.io/v1beta1', 'kind: Preference', `credentialPluginPolicy: ${name}`]
    .concat(entries.length > 0 ? ['credentialPluginAllowlist:', ...entries.map((entry) => `- ${entry}`)] : [])
    .join('\n');

it.each<[string, Setting]>([
  ['there is no settings file', {}],
  ['the settings file has no policy', { kuberc: 'kind: Preference\n' }],
  ['the policy allows all', { kuberc: policy('AllowAll') }],
  ['the list has its name', { kuberc: policy('Allowlist', 'name: other', 'name: login') }],
  ['the list has its command, as kubectl 1.36 writes it', { kuberc: policy('Allowlist', 'command: login') }],
  [
    'the list has the name that is found in PATH at the place of its command',
    { kuberc: policy('Allowlist', 'name: login'), command: (home) => join(home, 'bin', 'login') },
  ],
  ['KUBERC switches the file off', { kuberc: policy('DenyAll'), variables: () => ({ KUBERC: 'off' }) }],
  ['its feature is switched off', { kuberc: policy('DenyAll'), variables: () => ({ KUBECTL_KUBERC: 'false' }) }],
])('runs the credential plugin if %s', async (_, setting) => {
  await request(setting);
});

it.each<[string, Setting]>([
  ['the policy denies all', { kuberc: policy('DenyAll') }],
  ['the list does not have it', { kuberc: policy('Allowlist', 'name: other') }],
  ['the list is missing', { kuberc: policy('Allowlist') }],
  ['the only entry is empty', { kuberc: policy('Allowlist', '{}') }],
  ['the entry has a requirement that is not known here', { kuberc: policy('Allowlist', '{name: login, sha: 1}') }],
  ['a list is given without the policy that uses it', { kuberc: policy('AllowAll', 'name: login') }],
  ['the policy has an unknown value', { kuberc: policy('Sometimes') }],
  [
    'KUBERC names a file that denies all',
    { kuberc: policy('DenyAll'), variables: (home) => ({ KUBERC: join(home, '.kube', 'kuberc'), HOME: '/nowhere' }) },
  ],
  [
    '--kuberc names a file that denies all',
    { kuberc: policy('DenyAll'), variables: () => ({ HOME: '/nowhere' }), flag: (home) => join(home, '.kube/kuberc') },
  ],
])('refuses the credential plugin if %s', async (_, setting) => {
  await expect(request(setting)).rejects.toMatchObject({ code: 'auth.exec-denied' });
});

it.each<[string, Setting]>([
  ['is not valid YAML', { kuberc: 'credentialPluginPolicy: [' }],
  ['is named and does not exist', { variables: () => ({ KUBERC: '/nowhere/kuberc' }) }],
])('does not run the plugin if the settings file %s, since it might forbid it', async (_, setting) => {
  await expect(request(setting)).rejects.toMatchObject({ code: 'kuberc.invalid' });
});
