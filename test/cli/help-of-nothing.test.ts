/** `help WORD` of a word that is no command says so, as `options WORD` does, instead of printing another page. */
import { expect, it } from 'vitest';
import { runMain } from './helpers/in-process.ts';

it.each(['help', 'options'])('%s of a mistyped command names the commands', async (word) => {
  const { code, stdout, stderr } = await runMain([word, 'chek']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error: ${word} must be one of check, fix, .*, not "chek"\n`));
});

it.each([[[]], [['help']], [['version']], [['-v=2']]])('help with %j prints the first page', async (more) => {
  const { code, stdout } = await runMain(['help', ...more]);
  expect(code).toBe(0);
  expect(stdout).toContain('Usage: kubectl-podexit TARGET');
});
