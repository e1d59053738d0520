import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, win32, delimiter, isAbsolute, join } from 'node:path';
import { kill } from 'node:process';
import type { Readable } from 'node:stream';
import { asObject, asArray, asText, type JsonObject } from '../../model/observe/read.ts';
import { PodexitError } from '../../errors.ts';
import { parseJson } from '../http/body.ts';
import type { ClusterEntry, ExecEntry, ServerEntry } from '../kubeconfig/parse.ts';
import { wholeText } from '../status.ts';
import type { Env, Variables } from '../env.ts';
import type { ResolveOptions, CredentialSource } from './credentials.ts';
import { homedir } from 'node:os';

/**
 * Credentials from an exec plugin (client.authentication.k8s.io). As in kubectl, the plugin runs once, and again after
 * its expirationTimestamp or a 401. Its stderr is shown to the user, its stdout never is. Throws PodexitError
 * `auth.exec-failed` (with the plugin's installHint if it is not installed) and `auth.exec-needs-terminal`.
 */
export function execSource(exec: ExecEntry, { cluster, env, closed }: ResolveOptions): CredentialSource {
  let current: Promise<ExpiringCredential> | undefined;
  return {
    async getCredential() {
      const seen = current;
      const kept = await seen?.catch(() => undefined);
      const isDue = kept === undefined || env.now() >= kept.expiresAt;
      // Concurrent requests share one run: the second sees that the first has replaced `current`.
      if (isDue && current === seen) current = refresh();
      return (await (current ??= refresh())).credential;
    },
    forget() {
      current = undefined;
      return true;
    },
  };

  async function refresh(): Promise<ExpiringCredential> {
    return readCredential(exec, await run(exec, cluster, env, closed));
  }
}

type ExpiringCredential = ReturnType<typeof readCredential>;

/** A credential has a few kilobytes, and so have the prompts of a login. */
const maxOutputBytes = 1_048_576;

async function run(exec: ExecEntry, cluster: ServerEntry, env: Env, closed: AbortSignal): Promise<string> {
  const interactive = exec.interactiveMode !== 'Never' && env.stdinIsTty;
  if (exec.interactiveMode === 'Always' && !interactive) {
    throw new PodexitError(
      'auth.exec-needs-terminal',
      `the credential plugin ${nameOf(exec)} needs interactive input, but there is no terminal`,
      'Run it at a terminal, or log in beforehand.',
    );
  }
  const spec = { interactive, cluster: exec.provideClusterInfo ? clusterInfo(cluster) : undefined };
  const info = { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec };
  const own = Object.fromEntries(exec.env.map(({ name, value }) => [name, value]));
  // A process group can be killed as a whole. An interactive plugin gets none: it would lose the terminal.
  const isGroup = !interactive && env.platform !== 'win32';
  const child = spawnPlugin(exec, env, {
    env: { ...env.variables, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    windowsHide: true,
    detached: isGroup,
  });
  // A login in a browser takes minutes. kubectl waits without a limit.
  const limit = interactive ? 600_000 : 60_000;
  let stop = (_why: string): void => {};
  const cancel = env.setTimeout(() => stop(`gave no credentials within ${limit / 1000} s`), limit);
  const abandon = (): void => stop('was stopped because its result is no longer needed');
  closed.addEventListener('abort', abandon, { once: true });
  try {
    return await new Promise((done, reject) => {
      stop = (why) => {
        killWithChildren(child, isGroup, env.platform);
        reject(failed(exec, why));
      };
      const output: Buffer[] = [];
      const decoder = new TextDecoder();
      readLimited(child.stdout, (chunk) => output.push(chunk), stop);
      readLimited(child.stderr, (chunk) => env.stderr.write(decoder.decode(chunk, { stream: true })), stop);
      child.on('error', (error: NodeJS.ErrnoException) => reject(notStarted(exec, error)));
      child.on('close', (code, signal) => {
        if (code === 0) done(Buffer.concat(output).toString('utf8'));
        else reject(failed(exec, signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`));
      });
      if (closed.aborted) abandon();
    });
  } finally {
    cancel();
    closed.removeEventListener('abort', abandon);
  }
}

function readLimited(stream: Readable | null, take: (chunk: Buffer) => void, stop: (why: string) => void): void {
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxOutputBytes) take(chunk);
    else stop(`wrote more than ${maxOutputBytes / 2 ** 20} MiB`);
  });
}

/** Also kills the plugin's children if the platform allows. Never waits for a process that still holds its pipes. */
function killWithChildren(child: ChildProcess, isGroup: boolean, platform: string): void {
  try {
    if (isGroup && child.pid !== undefined) kill(-child.pid, 'SIGKILL');
    else if (platform === 'win32') spawn('taskkill', ['/t', '/f', '/pid', String(child.pid)], { stdio: 'ignore' });
    else child.kill('SIGKILL');
  } catch {
    // It has already exited.
  }
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Throws PodexitError if spawn itself throws: for an empty command, or a NUL in an argument. */
function spawnPlugin(exec: ExecEntry, { variables, platform }: Env, options: SpawnOptions): ChildProcess {
  const { file, args, verbatim } =
    platform === 'win32'
      ? windowsLaunch(exec.command, exec.args, { variables, exists: existsSync })
      : { file: exec.command, args: exec.args, verbatim: false };
  try {
    return spawn(file, [...args], { ...options, windowsVerbatimArguments: verbatim });
  } catch (error) {
    throw notStarted(exec, error as NodeJS.ErrnoException);
  }
}

/** Only the command's name: arguments may hold secrets. */
const nameOf = ({ command }: ExecEntry): string => `"${basename(command)}"`;

function readCredential(exec: ExecEntry, output: string) {
  const answer = asObject(parseJson(output));
  if (answer['kind'] !== 'ExecCredential') throw failed(exec, 'wrote something other than an ExecCredential');
  if (answer['apiVersion'] !== exec.apiVersion)
    throw failed(exec, `answered in another version than ${exec.apiVersion}`);
  const status = asObject(answer['status']);
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((field) =>
    wholeText(status[field]),
  );
  if (!token && !(cert && key)) throw failed(exec, 'gave neither a token nor a client certificate with its key');
  const expiry = Date.parse(wholeText(status['expirationTimestamp']));
  return {
    credential: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(cert && key ? { cert, key } : {}) },
    /** Client clock, ms. */
    expiresAt: Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry,
  };
}

function failed(
  exec: ExecEntry,
  what: string,
  hint = 'Run it by hand to see why; the kubeconfig names it under users[].user.exec.',
): PodexitError {
  return new PodexitError('auth.exec-failed', `the credential plugin ${nameOf(exec)} ${what}`, hint);
}

function notStarted(exec: ExecEntry, { code = 'unknown error' }: NodeJS.ErrnoException): PodexitError {
  const why = code === 'ENOENT' ? 'is not installed (no such command)' : `cannot be started (${code})`;
  const hint = 'Install it, or put its directory into PATH; the kubeconfig names it under users[].user.exec.';
  return failed(exec, why, exec.installHint ?? hint);
}

function clusterInfo(cluster: ServerEntry) {
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    'insecure-skip-tls-verify': cluster.insecureSkipTlsVerify || undefined,
    'certificate-authority-data': authorityData(cluster),
    'proxy-url': cluster.proxyUrl,
    'disable-compression': cluster.disableCompression || undefined,
    // client-go clientauthentication/v1 Cluster.config
    config: cluster.extensions?.get('client.authentication.k8s.io/exec'),
  };
}

/** Plugins always get data, even if the kubeconfig names a file. The file exists: resolve.ts has read it. */
function authorityData({ certificateAuthorityData, certificateAuthority }: ClusterEntry): string | undefined {
  if (certificateAuthorityData) return certificateAuthorityData;
  return certificateAuthority === undefined ? undefined : readFileSync(certificateAuthority).toString('base64');
}

type WindowsEnv = Readonly<{ variables: Variables; exists: (file: string) => boolean }>;

/**
 * Starts a credential plugin on Windows. Like kubectl, it looks the command up in PATH, with the extensions of PATHEXT.
 * Node starts .cmd and .bat files (as npm and gcloud install) only with a shell, and does not quote arguments for it.
 * So these files run in cmd.exe, with each argument quoted for it. Pure: `exists` looks files up. `verbatim`: the
 * arguments are quoted already. Throws PodexitError `auth.exec-failed` for one that no batch file takes.
 */
export function windowsLaunch(command: string, args: readonly string[], env: WindowsEnv) {
  const file = findInPath(command, env) ?? command;
  if (!/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [file, ...args].map((word) => quotedForCmd(word, win32.basename(file))).join(' ');
  return {
    file: env.variables['ComSpec'] ?? env.variables['COMSPEC'] ?? 'cmd.exe',
    // No AutoRun commands (/d), no `!VAR!` (/v:off); /s removes the outer quotes.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

/** Does not search the current directory unless PATH lists it; kubectl refuses that too. */
function findInPath(command: string, { variables, exists }: WindowsEnv): string | undefined {
  const folders = /[\\/:]/.test(command)
    ? ['']
    : (variables['PATH'] ?? variables['Path'] ?? '').split(';').filter(Boolean);
  const endings = (variables['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').toLowerCase().split(';').filter(Boolean);
  const own = endings.includes(win32.extname(command).toLowerCase()) ? [''] : [];
  return folders
    .flatMap((folder) => [...own, ...endings].map((ending) => win32.join(folder, command + ending)))
    .find(exists);
}

/**
 * Quotes one argument for a batch file. Inside quotes only `"` and `%` are special to cmd.exe. A quote is doubled. Each
 * percent sign is followed by an empty variable (`%cd:~,%`), so that no text between two of them is read as a variable
 * name. Backslashes before a quote are doubled for the program that finally splits the line.
 */
function quotedForCmd(word: string, plugin: string): string {
  if (/[\r\n\0]/.test(word))
    throw new PodexitError(
      'auth.exec-failed',
      `the credential plugin "${plugin}" cannot be started: an argument contains a line break, which .cmd and .bat files do not support`,
      'Name its .exe in the kubeconfig under users[].user.exec, or leave the line break out.',
    );
  const safe = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replace(/%/g, '%%cd:~,%');
  return `"${safe}"`;
}

/**
 * Throws PodexitError `auth.exec-denied` if the policy of kubectl's settings file (kuberc) does not allow `command`, and
 * `kuberc.invalid`: `credentialPluginPolicy` and `credentialPluginAllowlist` (KEP-3104, beta since kubectl 1.35). A user
 * who lets kubectl refuse plugins expects the same of its plugins. Defaults and aliases of that file belong to kubectl's
 * own commands and are not read.
 */
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
