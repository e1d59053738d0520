import { describe, expect, it } from 'vitest';
import { listObjects } from '../../src/kube/list.ts';
import { connected, json, pod, podList, serve } from './helpers/api.ts';
import { stopping } from './helpers/take.ts';

const target = { stream: 'siblings', path: '/api/v1/namespaces/shop/pods' } as const;

describe('listObjects', () => {
  it('joins the pages of a list', async () => {
    const api = await serve(({ query }, response) =>
      query['continue'] === 'two'
        ? json(response, 200, podList('7', [pod('b', '2')]))
        : json(response, 200, podList('7', [pod('a', '1')], { continue: 'two' })),
    );
    const result = await listObjects(await connected(api), target, { signal: stopping() });
    expect(result).toMatchObject({ kind: 'listed', resourceVersion: '7', objects: [pod('a', '1'), pod('b', '2')] });
  });

  it('gives up on a list whose continue token never changes', async () => {
    const api = await serve((_, response) => json(response, 200, podList('7', [pod('a', '1')], { continue: 'again' })));
    const result = await listObjects(await connected(api), target, { signal: stopping() });
    expect(result).toMatchObject({ kind: 'failed', outcome: { kind: 'cut' } });
    expect(api.asked).toHaveLength(2);
  });

  it('gives up on a list that never ends', async () => {
    let page = 0;
    const api = await serve((_, response) => json(response, 200, podList('7', [], { continue: `page-${++page}` })));
    const result = await listObjects(await connected(api), target, { signal: stopping() });
    expect(result).toMatchObject({ kind: 'failed', outcome: { kind: 'cut' } });
    expect(api.asked).toHaveLength(1000);
  });
});
