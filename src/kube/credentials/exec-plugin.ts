import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, isAbsolute, resolve, sep } from 'node:path';
import { kill } from 'node:process';
import { asObject } from '../../model/observe/read.ts';
import { PodexitError } from '../../errors.ts';
import { parseJson } from '../http/body.ts';
import type { ClusterEntry, ExecEntry } from '../kubeconfig/kubeconfig.ts';
import { asText } from '../status.ts';
import type { Env } from '../env.ts';
import type { Proof, ResolveOptions, Source } from './credentials.ts';
import { windowsLaunch, type Launch } from './windows-launch.ts';

/**
 * Credentials from an exec plugin (client.authentication.k8s.io), run as kubectl runs it: once, and again after the
 * expiry that it names or a 401. What it writes to stderr is shown to the user; what it writes to stdout never is.
 * Throws PodexitError `auth.exec-failed` (with the plugin's installHint where it is not installed) and
 * `auth.exec-needs-terminal`.
 */
export function execSource(exec: ExecEntry, { cluster, env, redactor, closed }: ResolveOptions): Source {
  let current: Promise<Credential> | undefined;
  return {
    async prove() {
      const seen = current;
      const kept = await seen?.catch(() => undefined);
      const isDue = kept === undefined || env.now() >= kept.expiresAt;
      // Requests side by side share one run: the second finds that the first has replaced it.
      if (isDue && current === seen) current = fresh();
      return (await (current ??= fresh())).proof;
    },
    forget() {
      current = undefined;
      return true;
    },
  };

  async function fresh(): Promise<Credential> {
    const output = await run(exec, execInfo(exec, cluster, env.stdinIsTty), env, closed);
    const credential = readCredential(exec, output);
    [credential.proof.token, credential.proof.key].forEach((secret) => redactor.hide(secret));
    return credential;
  }
}

interface Credential {
  proof: Proof;
  /** Client clock, ms. */
  expiresAt: number;
}

/** A credential is a few kilobytes, and so is what a login asks of a person. */
const mostBytes = 1_048_576;

/** How long a plugin may take, in ms: logging in in a browser takes minutes. kubectl waits without a limit. */
const longest = { alone: 60_000, withPerson: 600_000 };

function run(
  exec: ExecEntry,
  info: { interactive: boolean; json: string },
  env: Env,
  closed: AbortSignal,
): Promise<string> {
  if (exec.interactiveMode === 'Always' && !info.interactive) {
    throw new PodexitError(
      'auth.exec-needs-terminal',
      `the credential plugin ${nameOf(exec)} wants to ask something, and there is no terminal`,
      'Run it at a terminal, or log in beforehand.',
    );
  }
  return new Promise((done, reject) => {
    const own = Object.fromEntries(exec.env.map(({ name, value }) => [name, value]));
    // Its own process group can be killed as a whole; a plugin at a terminal would lose the terminal by it.
    const isGroup = !info.interactive && env.platform !== 'win32';
    const child = started(exec, launchOf(exec, env), {
      env: { ...env.variables, ...own, KUBERNETES_EXEC_INFO: info.json },
      stdio: [info.interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      detached: isGroup,
    });
    const output = takeOutput(
      child,
      (text) => env.stderr.write(text),
      () => stop(tooMuch),
    );
    const limit = info.interactive ? longest.withPerson : longest.alone;
    const cancel = env.setTimeout(() => stop(`gave no credentials within ${limit / 1000} s`), limit);
    const abandon = (): void => stop('was ended, since nobody waits for it any more');
    closed.addEventListener('abort', abandon, { once: true });
    const settle = (): void => {
      cancel();
      closed.removeEventListener('abort', abandon);
    };
    function stop(why: string): void {
      settle();
      endWithChildren(child, isGroup, env.platform);
      reject(failed(exec, why));
    }
    child.on('error', (error: NodeJS.ErrnoException) => {
      settle();
      reject(notStarted(exec, error.code ?? 'unknown error'));
    });
    child.on('close', (code, signal) => {
      settle();
      if (code === 0) done(output());
      else reject(failed(exec, signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`));
    });
    if (closed.aborted) abandon();
  });
}

const tooMuch = `wrote more than ${mostBytes / 2 ** 20} MiB`;

/** What it writes: stdout is kept for the returned function, stderr is the person's. Each has the same limit. */
function takeOutput(child: ChildProcess, show: (text: string) => void, onTooMuch: () => void): () => string {
  const output: Buffer[] = [];
  const limited = (take: (chunk: Buffer) => void) => {
    let bytes = 0;
    return (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes <= mostBytes) take(chunk);
      else onTooMuch();
    };
  };
  child.stdout?.on(
    'data',
    limited((chunk) => void output.push(chunk)),
  );
  const decoder = new TextDecoder();
  child.stderr?.on(
    'data',
    limited((chunk) => show(decoder.decode(chunk, { stream: true }))),
  );
  return () => Buffer.concat(output).toString('utf8');
}

/** Whatever it has started is ended too, where the system can name it. Nothing that still holds its pipes is waited for. */
function endWithChildren(child: ChildProcess, isGroup: boolean, platform: string): void {
  try {
    if (isGroup && child.pid !== undefined) kill(-child.pid, 'SIGKILL');
    else if (platform === 'win32') spawn('taskkill', ['/t', '/f', '/pid', String(child.pid)], { stdio: 'ignore' });
    else child.kill('SIGKILL');
  } catch {
    // It has ended by itself.
  }
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function launchOf(exec: ExecEntry, { variables, platform }: Env): Launch {
  if (platform === 'win32') return windowsLaunch(commandOf(exec), exec.args, { variables, exists: existsSync });
  return { file: commandOf(exec), args: exec.args, verbatim: false };
}

/** Throws for what cannot even be tried: no command, or a NUL in an argument. */
function started(exec: ExecEntry, { file, args, verbatim }: Launch, options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, [...args], { ...options, windowsVerbatimArguments: verbatim });
  } catch (error) {
    throw notStarted(exec, (error as NodeJS.ErrnoException).code ?? 'unknown error');
  }
}

/** A bare name is looked for in PATH; a relative path starts at the kubeconfig, as in kubectl. */
function commandOf({ command, directory }: ExecEntry): string {
  const hasPath = command.includes('/') || command.includes(sep);
  return !hasPath || isAbsolute(command) ? command : resolve(directory, command);
}

/** Only the command's name: arguments may hold secrets. */
function nameOf({ command }: ExecEntry): string {
  return `"${basename(command)}"`;
}

function readCredential(exec: ExecEntry, output: string): Credential {
  const answer = asObject(parseJson(output));
  if (answer['kind'] !== 'ExecCredential') throw failed(exec, 'wrote something that is no ExecCredential');
  if (answer['apiVersion'] !== exec.apiVersion)
    throw failed(exec, `answered in another version than ${exec.apiVersion}`);
  const status = asObject(answer['status']);
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map((field) => asText(status[field]));
  if (!token && !(cert && key)) throw failed(exec, 'gave neither a token nor a client certificate with its key');
  const expiry = Date.parse(asText(status['expirationTimestamp']));
  return {
    proof: { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) },
    expiresAt: Number.isNaN(expiry) ? Number.POSITIVE_INFINITY : expiry,
  };
}

function failed(exec: ExecEntry, what: string): PodexitError {
  return new PodexitError(
    'auth.exec-failed',
    `the credential plugin ${nameOf(exec)} ${what}`,
    'Run it by hand to see why; the kubeconfig names it under users[].user.exec.',
  );
}

function notStarted(exec: ExecEntry, code: string): PodexitError {
  const why = code === 'ENOENT' ? 'is not installed (no such command)' : `cannot be started (${code})`;
  return new PodexitError(
    'auth.exec-failed',
    `the credential plugin ${nameOf(exec)} ${why}`,
    exec.installHint ?? 'Install it, or put its directory into PATH; the kubeconfig names it under users[].user.exec.',
  );
}

/** KUBERNETES_EXEC_INFO: what a plugin learns about the terminal and, where it asks for it, the cluster. */
function execInfo(
  exec: ExecEntry,
  cluster: ClusterEntry & { server: string },
  stdinIsTty: boolean,
): { interactive: boolean; json: string } {
  const interactive = exec.interactiveMode !== 'Never' && stdinIsTty;
  const spec = { interactive, ...(exec.provideClusterInfo ? { cluster: clusterInfo(cluster) } : {}) };
  return { interactive, json: JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec }) };
}

/** The extension of a cluster that is meant for exec plugins (client-go clientauthentication/v1 Cluster.config). */
const configExtension = 'client.authentication.k8s.io/exec';

function clusterInfo(cluster: ClusterEntry & { server: string }) {
  const config = cluster.extensions?.get(configExtension);
  const authority = authorityData(cluster);
  return {
    server: cluster.server,
    'tls-server-name': cluster.tlsServerName,
    ...(cluster.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    'certificate-authority-data': authority,
    'proxy-url': cluster.proxyUrl,
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    config,
  };
}

/** Always the data, also where the kubeconfig names a file. The file was read once already, so it is there. */
function authorityData({ certificateAuthorityData, certificateAuthority }: ClusterEntry): string | undefined {
  if (certificateAuthorityData) return certificateAuthorityData;
  return certificateAuthority === undefined ? undefined : readFileSync(certificateAuthority).toString('base64');
}
