/** kubectl's settings file (kuberc) decides whether the credential plugin of a kubeconfig may run: kubectl 1.35, KEP-3104. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { getObject } from '../../src/kube/get.ts';
import { casesIn } from '../helpers/case-file.ts';
import { connected, json, tempDir } from './helpers/api.ts';
import { testEnv } from './helpers/env.ts';
import { execCredential, execUser } from './helpers/plugin.ts';
import { serveTls } from './helpers/certificates.ts';

interface Setting {
  kuberc?: string;
  policy?: string;
  list?: object[];
  /** Of the kubeconfig's plugin. */
  command?: string;
  variables?: Record<string, string>;
  flag?: string;
  error?: string;
}

const fields = ['kuberc', 'policy', 'list', 'command', 'variables', 'flag', 'error'] as const;

/** Sends one request with a plugin that gives a token; throws what the connection throws. */
async function request({ policy, list, command = 'login', variables = {}, flag, ...more }: Setting): Promise<void> {
  const home = await tempDir();
  const inHome = (text: string): string => text.replace('HOME', home);
  const api = await serveTls((_, response) => json(response, 200, {}));
  await mkdir(join(home, '.kube'));
  await writeFile(join(home, 'login'), `#!/bin/sh\necho '${execCredential({ token: 't-1234' })}'\n`, { mode: 0o755 });
  const preference = {
    apiVersion: 'kubectl.config.k8s.io/v1beta1',
    kind: 'Preference',
    credentialPluginPolicy: policy,
  };
  const { kuberc = policy && JSON.stringify({ ...preference, credentialPluginAllowlist: list }) } = more;
  if (kuberc !== undefined) await writeFile(join(home, '.kube', 'kuberc'), kuberc);
  const own = Object.fromEntries(Object.entries(variables).map(([name, text]) => [name, inHome(text)]));
  const env = testEnv({ variables: { HOME: home, PATH: `${home}:/usr/bin:/bin`, ...own } });
  const user = execUser('', { command: inHome(command) });
  await getObject(await connected(api, { user, env, flags: { kuberc: flag && inHome(flag) } }), '/a');
  expect(api.asked[0]?.headers.authorization).toBe('Bearer t-1234');
}

it.each(casesIn<Setting>(new URL('plugin-policy.yaml', import.meta.url), fields))('%s', async (_, one) => {
  if (one.error === undefined) await request(one);
  else await expect(request(one)).rejects.toMatchObject({ code: one.error });
});
