/** The built command, run as a user runs it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const bin = fileURLToPath(new URL('../../bin/kubectl-podexit', import.meta.url));

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs bin/kubectl-podexit with these arguments. Build the bundle before (npm run build, or npm ci). */
export const podexit = (words: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  started(words, env).ended;

/** The same, for what is done meanwhile. `until` waits for what `printed` grows to, or for the end of the process. */
export function started(words: readonly string[], env: Record<string, string> = {}) {
  if (!existsSync(fileURLToPath(new URL('../../dist/podexit.cjs', import.meta.url))))
    throw new Error('dist/ is missing: npm run build');
  const child = spawn(process.execPath, [bin, ...words], {
    env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (printed[name] += chunk.toString()));
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...printed }));
  });
  const until = async (isReady: () => boolean): Promise<void> => {
    while (!isReady() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  return { child, printed, ended, until };
}
