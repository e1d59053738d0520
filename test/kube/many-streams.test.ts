/** A namespace may have any number of owners, and each has its own watch. */
import { expect, it, onTestFinished } from 'vitest';
import { watchObjects } from './helpers/observed.ts';
import { bookmark, connected, serve } from './helpers/api.ts';
import { all } from './helpers/take.ts';

it('Node prints no leak warning for two dozen open streams', async () => {
  const warned: string[] = [];
  const note = ({ message }: Error): void => void warned.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const api = await serve((_, response) => response.write(bookmark('7', true)));
  const cluster = await connected(api);
  const streams = Array.from({ length: 24 }, (_, index) => {
    const target = { stream: 'owner', path: `/apis/apps/v1/namespaces/shop/statefulsets`, name: `s-${index}` } as const;
    return all(watchObjects(cluster, target, { signal: AbortSignal.timeout(1000) }));
  });
  expect((await Promise.all(streams)).map((seen) => seen.map(({ kind }) => kind))).toEqual(
    Array(24).fill(['listed', 'synced']),
  );
  expect(warned).toEqual([]);
});
