/** `explain` has a page for every code that only `check` uses. */
import { expect, it } from 'vitest';
import { checkOnlyCodes } from '../../src/advice/problem.ts';
import { runMain } from '../cli/helpers/in-process.ts';

it.each(checkOnlyCodes)('explain %s', async (code) => {
  const { code: exit, stdout } = await runMain(['explain', code]);
  expect(exit).toBe(0);
  expect(stdout).toContain(code);
});
