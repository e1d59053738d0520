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
export function podexit(words: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  if (!existsSync(fileURLToPath(new URL('../../dist/podexit.cjs', import.meta.url))))
    throw new Error('dist/ is missing: npm run build');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [bin, ...words], {
      env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
