import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../src/trace/observation.ts';
import { watchObjects } from '../../src/cluster/watch.ts';
import { bookmark, connected, json, line, pod, podList, serve, status } from './helpers/api.ts';

const pods = '/api/v1/namespaces/shop/pods';
const target = { stream: 'pod', path: pods, name: 'web' } as const;

describe('watchObjects', () => {
  it('begins with a streaming list and goes on with its changes', async () => {
    const api = await serve((_, response) => {
      response.writeHead(200);
      response.write(line('ADDED', pod('web', '5')) + bookmark('7', true));
      response.write(line('MODIFIED', pod('web', '8')));
    });
    const cluster = await connected(api);
    const seen = await take(watchObjects(cluster, target, { signal: stopping() }), 3);

    expect(seen.map(({ kind }) => kind)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ stream: 'pod', resourceVersion: '7', name: 'web', objects: [pod('web', '5')] });
    expect(seen[2]).toMatchObject({ change: 'MODIFIED', object: pod('web', '8') });
    expect(api.asked).toHaveLength(1);
    expect(api.asked[0]?.query).toEqual({
      fieldSelector: 'metadata.name=web',
      watch: '1',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    });
  });

  it('falls back to list and watch where streaming lists are refused, and remembers it', async () => {
    const api = await serve(({ query }, response) => {
      if (query['sendInitialEvents'])
        return json(response, 422, status(422, 'Invalid', 'sendInitialEvents is forbidden'));
      if (!query['watch'])
        return json(response, 200, podList('10', [{ metadata: { name: 'web', resourceVersion: '9' } }]));
      response.writeHead(200);
      response.write(line('MODIFIED', pod('web', '11')));
    });
    const cluster = await connected(api);
    const seen = await take(watchObjects(cluster, target, { signal: stopping() }), 3);
    expect(seen.map(({ kind }) => kind)).toEqual(['listed', 'synced', 'changed']);
    expect(seen[0]).toMatchObject({ objects: [{ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } }] });
    expect(api.asked[2]?.query).toMatchObject({ watch: '1', resourceVersion: '10' });

    await take(
      watchObjects(cluster, { stream: 'siblings', path: pods, labelSelector: 'app=web' }, { signal: stopping() }),
      2,
    );
    expect(api.asked.filter(({ query }) => query['sendInitialEvents'])).toHaveLength(1);
  });
});

/** The first sightings that are not about the clock. */
async function take(source: AsyncGenerator<Sighting>, count: number): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for await (const sighting of source) {
    if (sighting.kind !== 'dated') seen.push(sighting);
    if (seen.length === count) break;
  }
  return seen;
}

function stopping(): AbortSignal {
  return AbortSignal.timeout(10_000);
}
