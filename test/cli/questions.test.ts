/** Who is asked something at a terminal can leave instead of answering. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bin } from '../helpers/built.ts';
import { hasPythonWithPty } from '../helpers/python.ts';
import { serving } from '../helpers/serving.ts';

const script = fileURLToPath(new URL('./helpers/leave-on-pty.py', import.meta.url));

/** What the command shows, and how it ends, where it is left at its question. */
async function leftAt(how: string, question: string, words: readonly string[]) {
  const { stdout } = await promisify(execFile)('python3', [script, how, question, process.execPath, bin, ...words], {
    env: { ...process.env, KUBECONFIG: '', NO_COLOR: '1' },
  });
  return JSON.parse(stdout) as { shown: string; status: number | null };
}

const ways = [
  ['Ctrl-C', 130],
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const python = hasPythonWithPty();
// Said in the list of tests, where a skipped one is seen.
describe.skipIf(!python)(`a question at a terminal${python ? '' : ' (skipped: there is no python3 with pty)'}`, () => {
  it.each(ways)('%s instead of a yes ends the process with %i, and deletes nothing', (how, code) =>
    serving('graceful-exit', {}, async ({ flags, server }) => {
      const left = await leftAt(how, '[y/N]', [server.pod, '-i', ...flags]);
      expect(left.shown).toContain('Nothing was deleted.');
      expect(left.status).toBe(code);
      expect(server.deletesAccepted).toBe(0);
    }),
  );

  it.each(ways)('%s instead of a choice ends `check` with %i', (how, code) =>
    serving('graceful-exit', {}, async ({ flags }) => {
      const left = await leftAt(how, 'Which one', ['check', '-l', 'app=checkout', ...flags]);
      expect(left.shown).toContain('interrupted');
      expect(left.status).toBe(code);
    }),
  );
});
