/** Names that every JavaScript object has are legal names of pods and namespaces. */
import { expect, it } from 'vitest';
import { runMain } from './helpers/in-process.ts';

it.each([
  [['constructor', '-n', 'shop']],
  [['web-0', '-n', 'constructor']],
  [['explain', 'constructor']],
  [['why', 'constructor', '-n', 'tostring']],
])('takes %j for names', async (words) => {
  const { code, stderr } = await runMain([...words, '--kubeconfig', '/nowhere/kubeconfig']);
  expect(code).toBe(1);
  expect(stderr).not.toContain('unexpected error');
});
