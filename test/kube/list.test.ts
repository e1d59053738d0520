import { expect, it } from 'vitest';
import { listObjects } from '../../src/kube/list.ts';
import { connected, json, podList, serve } from './helpers/api.ts';

it('a list that never ends is given up', async () => {
  let page = 0;
  const api = await serve((_, response) => json(response, 200, podList('7', [], { continue: `page-${++page}` })));
  const target = { stream: 'siblings', path: '/api/v1/namespaces/shop/pods' } as const;
  expect(await listObjects(await connected(api), target, {})).toMatchObject({
    kind: 'failed',
    outcome: { kind: 'cut' },
  });
  expect(api.asked).toHaveLength(1000);
});
