/** A namespace may have any number of owners, and each has its own watch. */
import { expect, it, onTestFinished } from 'vitest';
import { watchObjects } from './helpers/observed.ts';
import { bookmark, connected, serve } from './helpers/api.ts';
import { kinds, stopping, take } from './helpers/take.ts';

it('Node prints no leak warning for two dozen open streams on one signal', async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const api = await serve((_, response) => response.write(bookmark('7', true)));
  const cluster = await connected(api);
  const signal = stopping();
  const streams = Array.from({ length: 24 }, (_, index) => {
    const target = { stream: 'owner', path: `/apis/apps/v1/namespaces/shop/statefulsets`, name: `s-${index}` } as const;
    return take(watchObjects(cluster, target, { signal }), 2);
  });
  expect((await Promise.all(streams)).map(kinds)).toEqual(Array(24).fill(['listed', 'synced']));
  await new Promise((done) => setTimeout(done, 20));
  expect(warned).toEqual([]);
});
