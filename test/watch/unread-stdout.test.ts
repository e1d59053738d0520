/** A program that no longer reads what a watch prints: the watch goes on, holds no more, and says so once. */
import { expect, it } from 'vitest';
import { watchStory } from './helpers/watching.ts';

it('leaves lines out, and says it once', async () => {
  const story: Parameters<typeof watchStory>[2] = (server, printed) => {
    for (const name of ['a', 'b']) server.terminate(name);
    for (const name of ['a', 'b']) server.remove(name);
    return printed('left out');
  };
  const words = ['-o', 'ndjson'];
  const { stdout, stderr, code } = await watchStory(words, ['a', 'b'], story, { unreadBytes: 17 * 2 ** 20 });
  expect(stdout).toBe('');
  expect(stderr.match(/some lines are left out: stdout is read late/g)).toHaveLength(1);
  expect(code).toBe(0);
});
