import { describe, expect, it } from 'vitest';
import { followLog } from '../../src/cluster/logs.ts';
import type { Sighting } from '../../src/trace/observation.ts';
import { connected, serve } from './helpers/api.ts';

const target = { namespace: 'shop', pod: 'web', container: 'app' };

describe('followLog', () => {
  it('tells the lines with their stamps, and that the log ended in order', async () => {
    const api = await serve((_, response) => response.end('2026-11-20T23:04:29.5Z bye\n'));
    const seen = await all(followLog(await connected(api), target, { signal: AbortSignal.timeout(5000) }));
    expect(seen.slice(1)).toMatchObject([
      { kind: 'log-opened', container: 'app' },
      { kind: 'line', time: '2026-11-20T23:04:29.5Z', text: 'bye' },
      { kind: 'log-ended', clean: true },
    ]);
    expect(api.asked[0]?.query).toEqual({ container: 'app', follow: 'true', timestamps: 'true', tailLines: '0' });
  });
});

async function all(source: AsyncGenerator<Sighting>): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for await (const sighting of source) seen.push(sighting);
  return seen;
}
