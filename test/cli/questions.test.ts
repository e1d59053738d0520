/** Questions at a pseudo-terminal: what an answer does, and how to leave instead of answering. */
import { describe, expect, it } from 'vitest';
import { bin } from '../helpers/built.ts';
import { hasPythonWithPty, onPty } from '../helpers/pty.ts';
import { serving } from '../helpers/serving.ts';

/** Answers the question or interrupts there. Returns the command's output and its exit status. */
async function answered(how: string, question: string, words: readonly string[]) {
  const command = [process.execPath, bin, ...words];
  const { before, status } = await onPty({ how, question }, command, { KUBECONFIG: '', NO_COLOR: '1' });
  return { shown: before, status };
}

const ways = [
  ['Ctrl-C', 130],
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;

const python = hasPythonWithPty();
// Part of the title, so that the list of tests says why this was skipped.
describe
  .skipIf(!python)
  .concurrent(`a question at a terminal${python ? '' : ' (skipped: there is no python3 with pty)'}`, () => {
    it.each([
      ['yes', [], 1],
      ['', [], 0],
      ['y', ['-i'], 1],
      ['n', ['-i'], 0],
    ] as const)('"%s" with %j makes %i deletions', (answer, more, deletions) =>
      serving('graceful-exit', {}, async ({ flags, server }) => {
        const words = [server.pod, ...more, '--wait=false', ...flags];
        const { shown, status } = await answered(`type:${answer}`, '[y/N]', words);
        expect(shown.match(/\[y\/N\]/g)).toHaveLength(1);
        expect(shown).toMatch(/Delete pod checkout-\S+ in namespace graceful-exit of context\s+\S+ /);
        expect(status).toBe(0);
        expect(server.deletesAccepted).toBe(deletions);
      }),
    );

    it.each(ways)('%s at the confirmation ends the process with %i, and deletes nothing', (how, code) =>
      serving('graceful-exit', {}, async ({ flags, server }) => {
        const left = await answered(how, '[y/N]', [server.pod, '-i', ...flags]);
        expect(left.shown).toContain('Nothing was deleted.');
        expect(left.status).toBe(code);
        expect(server.deletesAccepted).toBe(0);
      }),
    );

    it.each(ways.slice(1, 3))('%s at the choice of a pod ends `check` with %i', (how, code) =>
      serving('graceful-exit', {}, async ({ flags }) => {
        const left = await answered(how, 'Which one', ['check', '-l', 'app=checkout', ...flags]);
        expect(left.shown).toContain('interrupted');
        expect(left.status).toBe(code);
      }),
    );
  });
