/**
 * The policy of kubectl's settings file (kuberc) for exec credential plugins: `credentialPluginPolicy` and
 * `credentialPluginAllowlist` (KEP-3104, beta since kubectl 1.35). A user who lets kubectl refuse plugins expects the
 * same of its plugins. Defaults and aliases of that file belong to kubectl's own commands and are not read.
 */
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { asArray, asObject, asText, type JsonObject } from '../../model/observe/read.ts';
import { PodexitError } from '../../errors.ts';
import type { Env, Variables } from '../env.ts';

/** Throws PodexitError `auth.exec-denied` if the policy does not allow `command`, and `kuberc.invalid`. */
export async function assertPluginAllowed(command: string, { variables }: Env): Promise<void> {
  // Switched off, as for kubectl.
  if (variables['KUBERC'] === 'off' || variables['KUBECTL_KUBERC'] === 'false') return;
  const named = variables['KUBERC'];
  const file = named || join(variables['HOME'] || variables['USERPROFILE'] || homedir(), '.kube', 'kuberc');
  const settings = await readSettings(file, Boolean(named));
  const policy = asText(settings['credentialPluginPolicy']) || 'AllowAll';
  if (policy === 'AllowAll' && settings['credentialPluginAllowlist'] === undefined) return;
  if (policy === 'Allowlist' && isListed(command, settings, variables)) return;
  throw new PodexitError(
    'auth.exec-denied',
    `the credential plugin "${basename(command)}" is not allowed by ${file} (credentialPluginPolicy ${policy})`,
    'Change credentialPluginPolicy or credentialPluginAllowlist there, or use other credentials.',
  );
}

/** Empty if the file does not exist and was not named. A file that cannot be read might forbid the plugin. */
async function readSettings(file: string, isNamed: boolean): Promise<JsonObject> {
  try {
    const { load } = await import('js-yaml');
    return asObject(load(readFileSync(file, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!isNamed && (code === 'ENOENT' || code === 'ENOTDIR')) return {};
    throw new PodexitError(
      'kuberc.invalid',
      `kubectl's settings file ${file} cannot be read: ${code ?? 'it is not valid YAML'}`,
      'Correct the file, or set KUBERC=off: it may forbid the credential plugin of the kubeconfig.',
    );
  }
}

/**
 * An entry allows a plugin if its name (`command` since kubectl 1.36) is the plugin's command, or if both are found at
 * the same place in PATH. An entry without a name, or with a requirement that is unknown here, allows nothing.
 */
function isListed(command: string, settings: JsonObject, variables: Variables): boolean {
  return asArray(settings['credentialPluginAllowlist'])
    .map(asObject)
    .filter((entry) => Object.keys(entry).every((key) => key === 'name' || key === 'command'))
    .flatMap((entry) => [asText(entry['name']) || asText(entry['command'])])
    .some((name) => name !== '' && (name === command || lookUp(name, variables) === lookUp(command, variables)));
}

/** Where the command is found, as Go's exec.LookPath; a command that is found nowhere equals only itself. */
function lookUp(command: string, { PATH = '' }: Variables): string {
  if (isAbsolute(command) || command.includes('/')) return command;
  const found = PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, command))
    .find(existsSync);
  return found ?? command;
}
