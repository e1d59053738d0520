import { execFileSync } from 'node:child_process';

/** Whether this machine has a python3 that can hold a pseudo-terminal. */
export function hasPythonWithPty(): boolean {
  try {
    execFileSync('python3', ['-c', 'import os, pty; os.waitstatus_to_exitcode']);
    return true;
  } catch {
    return false;
  }
}
