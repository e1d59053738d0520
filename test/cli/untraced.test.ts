/** -i asks about the existing pod, and deletes no other pod that has its name by then. */
import { expect, it } from 'vitest';
import { json, pod, serve } from '../kube/helpers/api.ts';
import { runMain } from './helpers/in-process.ts';

it('-i asks about the existing pod, and deletes no other pod with its name', async () => {
  let uid = '1';
  const api = await serve(({ method, body }, response) => {
    const now = pod('web', '1', { uid });
    if (method === 'GET') return json(response, 200, now);
    const asked = JSON.parse(body) as { preconditions: { uid: string } };
    json(response, asked.preconditions.uid === uid ? 200 : 409, now);
  });
  const words = ['web', '-i', '--wait=false', '-n', 'shop', '-s', api.url];
  const replaced = await runMain(words, { answers: ['y'], ask: () => ((uid = '2'), Promise.resolve('y')) });
  expect(replaced.code).toBe(1);
  expect(replaced.stderr).toContain('was replaced by another one');
  expect(api.asked.every(({ method }) => method === 'GET')).toBe(true);
  expect(await runMain(words, { answers: ['y'] })).toMatchObject({ code: 0 });
});
