import { describe, expect, it } from 'vitest';
import { deletePod } from '../../src/cluster/delete.ts';
import type { Sighting } from '../../src/trace/observation.ts';
import { connected, json, pod, serve } from './helpers/api.ts';

const target = { namespace: 'shop', name: 'web', uid: 'uid-web', graceSeconds: 5 };

describe('deletePod', () => {
  it('sends one DELETE with a uid precondition and a Content-Length', async () => {
    const api = await serve((_, response) =>
      json(response, 200, pod('web', '9', { deletionTimestamp: '2026-11-20T23:44:21Z' })),
    );
    const seen = await all(deletePod(await connected(api), target, { signal: AbortSignal.timeout(5000) }));
    expect(seen.map(({ kind }) => kind)).toEqual(['requested', 'dated', 'answered']);
    expect(api.asked).toHaveLength(1);
    expect(JSON.parse(api.asked[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: 'uid-web' },
      gracePeriodSeconds: 5,
    });
    expect(api.asked[0]?.headers['content-length']).toBe(String(api.asked[0]?.body.length));
  });
});

async function all(source: AsyncGenerator<Sighting>): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for await (const sighting of source) seen.push(sighting);
  return seen;
}
