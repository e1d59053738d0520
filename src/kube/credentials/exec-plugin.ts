import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve, sep } from 'node:path';
import { PodexitError } from '../../errors.ts';
import { parseJson } from '../http/body.ts';
import type { ExecEntry } from '../kubeconfig/kubeconfig.ts';
import { asRecord, asText } from '../status.ts';
import type { Surroundings } from '../surroundings.ts';
import { execInfo } from './exec-info.ts';
import type { Proof, ResolveOptions, Source } from './resolve.ts';
import type { Launch } from './windows-launch.ts';
import { windowsLaunch } from './windows-launch.ts';

/**
 * Credentials from an exec plugin (client.authentication.k8s.io), run as kubectl runs it: asked once, kept until the
 * expiry that it names or a 401. What it writes to stderr is the person's; what it writes to stdout is told to nobody.
 * Throws PodexitError `auth.exec-failed` (with the plugin's installHint where it is not installed) and
 * `auth.exec-needs-terminal`.
 */
export function execSource(exec: ExecEntry, { cluster, surroundings, redactor, closed }: ResolveOptions): Source {
  let current: Promise<Credential> | undefined;
  return {
    async prove() {
      const seen = current;
      const kept = await seen?.catch(() => undefined);
      const isDue = kept === undefined || surroundings.now() >= kept.expiresAt;
      // Requests side by side share one run: whoever comes second finds that the first has replaced it.
      if (isDue && current === seen) current = fresh();
      return (await (current ??= fresh())).proof;
    },
    forget() {
      current = undefined;
      return true;
    },
  };

  async function fresh(): Promise<Credential> {
    const output = await run(exec, execInfo(exec, cluster, surroundings.stdinIsTty), surroundings, closed);
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

/** A credential is a few kilobytes. */
const mostBytes = 1_048_576;

function run(
  exec: ExecEntry,
  info: { interactive: boolean; json: string },
  surroundings: Surroundings,
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
    const child = started(exec, launchOf(exec, surroundings), {
      env: { ...surroundings.env, ...own, KUBERNETES_EXEC_INFO: info.json },
      stdio: [info.interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      signal: closed,
      killSignal: 'SIGKILL',
    });
    // What the plugin itself had started may hold its pipes open.
    closed.addEventListener('abort', () => [child.stdout, child.stderr].forEach((pipe) => pipe?.destroy()), {
      once: true,
    });
    const output: Buffer[] = [];
    let bytes = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) output.push(chunk);
      else child.kill('SIGKILL');
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => surroundings.stderr.write(text));
    child.on('error', (error: NodeJS.ErrnoException) => reject(notStarted(exec, error.code ?? 'unknown error')));
    child.on('close', (code, signal) => {
      if (code === 0) done(Buffer.concat(output).toString('utf8'));
      else reject(failed(exec, signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`));
    });
  });
}

function launchOf(exec: ExecEntry, { env, platform }: Surroundings): Launch {
  if (platform === 'win32') return windowsLaunch(commandOf(exec), exec.args, { env, exists: existsSync });
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
  const answer = asRecord(parseJson(output));
  if (answer['kind'] !== 'ExecCredential') throw failed(exec, 'wrote something that is no ExecCredential');
  if (answer['apiVersion'] !== exec.apiVersion)
    throw failed(exec, `answered in another version than ${exec.apiVersion}`);
  const status = asRecord(answer['status']);
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
