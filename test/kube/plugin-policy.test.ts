/** kubectl's settings file (kuberc) decides whether the credential plugin of a kubeconfig may run: kubectl 1.35, KEP-3104. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { connected, json, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { serveTls } from './helpers/tls-api.ts';

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
  await writeFile(join(home, 'login'), `#!/bin/sh\necho '${execCredential({ token: 't-1234' })}'\n`, { mode: 0o755 });
  if (kuberc !== undefined) await writeFile(join(home, '.kube', 'kuberc'), kuberc);
  const env = testEnv({ variables: { HOME: home, PATH: `${home}:/usr/bin:/bin`, ...variables(home) } });
  const user = execUser('', { command: command(home) });
  await getObject(await connected(api, { user, env, flags: { kuberc: flag?.(home) } }), '/a');
  expect(api.asked[0]?.headers.authorization).toBe('Bearer t-1234');
}

const policy = (name: string, ...entries: string[]): string =>
  ['apiVersion: kubectl.config.k8s.io/v1beta1', 'kind: Preference', `credentialPluginPolicy: ${name}`]
    .concat(entries.length > 0 ? ['credentialPluginAllowlist:', ...entries.map((entry) => `- ${entry}`)] : [])
    .join('\n');

it.each<[string, Setting]>([
  ['there is no settings file', {}],
  ['the settings file has no policy', { kuberc: 'kind: Preference\n' }],
  ['the list has its name', { kuberc: policy('Allowlist', 'name: other', 'name: login') }],
  ['the list has its command, as kubectl 1.36 writes it', { kuberc: policy('Allowlist', 'command: login') }],
  [
    'the list has the name that is found in PATH at the place of its command',
    { kuberc: policy('Allowlist', 'name: login'), command: (home) => join(home, 'login') },
  ],
  ['KUBERC switches the file off', { kuberc: policy('DenyAll'), variables: () => ({ KUBERC: 'off' }) }],
  ['its feature is switched off', { kuberc: policy('DenyAll'), variables: () => ({ KUBECTL_KUBERC: 'false' }) }],
])('runs the credential plugin if %s', (_, setting) => request(setting));

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
