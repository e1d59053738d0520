/** A program that no longer reads what a watch prints: the watch goes on, holds no more, and says so once. */
import { expect, it } from 'vitest';
import { startChangeable } from './helpers/changeable.ts';
import { watchUntil } from './helpers/watching.ts';

it('leaves lines out, and says it once', async () => {
  const { server, flags, close } = await startChangeable();
  for (const name of ['a', 'b']) server.create(name);
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const story = async (): Promise<void> => {
    await begun;
    for (const name of ['a', 'b']) server.terminate(name, name, 1);
    for (const name of ['a', 'b']) server.remove(name, name, 0);
    for (let tries = 0; tries < 100 && !printed.includes('left out'); tries++)
      await new Promise((resolve) => setTimeout(resolve, 100));
  };
  let printed = '';
  const { stdout, stderr, code } = await watchUntil([...flags, '-o', 'ndjson'], () => false, {
    unreadBytes: 17 * 2 ** 20,
    onStderr(text) {
      printed += text;
      begin();
    },
    until: story(),
  });
  await close();
  expect(stdout).toBe('');
  expect(stderr.match(/some lines are left out: stdout is read late/g)).toHaveLength(1);
  expect(code).toBe(0);
});
