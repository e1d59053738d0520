/** A namespace or a selector that is misspelled selects nothing, which a watch would otherwise not show. */
import { expect, it } from 'vitest';
import { startChangeable } from './helpers/changeable.ts';
import { watchUntil } from './helpers/watching.ts';

it.each([
  [[], 'watching 26 pods of namespace/rollout-25'],
  [['-l', 'app=chekout'], 'watching 0 pods of -l app=chekout in namespace/rollout-25'],
])('says how many pods %j selects', async (words, expected) => {
  const { server, flags, close } = await startChangeable();
  server.create('web');
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const { stderr } = await watchUntil([...flags, ...words], () => false, { onStderr: begin, until: begun });
  await close();
  expect(stderr).toContain(`${expected}; Ctrl-C prints a summary`);
});
