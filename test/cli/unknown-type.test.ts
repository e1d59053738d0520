/** An unknown type of a target: the hint names all types that the command takes. */
import { expect, it } from 'vitest';
import { runMain } from './helpers/in-process.ts';

it.each([
  [[], ', service/NAME, node/NAME\n'],
  [['check'], ', service/NAME\n'],
])('%j names its types', async (verb, end) => {
  const { code, stderr } = await runMain([...verb, 'dployment/checkout']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: unknown resource type "dployment"\nName it: pod\/NAME, deployment\/NAME, /);
  expect(stderr.endsWith(end)).toBe(true);
});
