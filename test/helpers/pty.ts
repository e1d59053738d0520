/** Runs commands on a real pseudo-terminal, which python opens. */
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const script = fileURLToPath(new URL('./on-pty.py', import.meta.url));

/** The actions at the terminal: see on-pty.py. */
type Plan = { size: string; until: string; resize: string } | { question: string; how: string };

interface OnPty {
  /** The output before a resize, and after it. */
  before: string;
  after: string;
  /** Null if it had to be killed. */
  status: number | null;
}

export async function onPty(
  plan: Plan,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<OnPty> {
  const { stdout } = await promisify(execFile)('python3', [script, JSON.stringify(plan), ...command], {
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...env },
  });
  const { before, after, status } = JSON.parse(stdout) as OnPty;
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');
  return { before: text(before), after: text(after), status };
}

/** Whether this machine has a python3 that can open a pseudo-terminal. */
export function hasPythonWithPty(): boolean {
  try {
    execFileSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode']);
    return true;
  } catch {
    return false;
  }
}
