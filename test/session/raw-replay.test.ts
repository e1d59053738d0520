/** What a raw recording of a namespace makes of a watch that ended. */
import { describe, expect, it } from 'vitest';
import type { Row } from '../../src/recording/rows.ts';
import { rawSightings } from '../../src/session/raw-replay.ts';
import { judged, markOf } from '../helpers/cases.ts';
import { rowsOf } from '../helpers/recordings.ts';

type WatchRow = Extract<Row, { type: 'watch' }>;

const isWatchOf = (row: Row, resource: string): row is WatchRow => row.type === 'watch' && row.resource === resource;

/** The watch of `resource` ends just after the request, and tells nothing from then on. */
async function cut(resource: string) {
  const rows = await rowsOf('graceful-exit');
  const sent = rows.find((row) => row.type === 'request')?.at ?? NaN;
  const from = sent + 2;
  const kept = rows.filter((row) => !(isWatchOf(row, resource) && row.at > from));
  const objects = rows.flatMap((row) => (isWatchOf(row, resource) && row.at <= sent + 4000 ? [row.object] : []));
  const end: Row = { at: from, type: 'watch-end', resource };
  return { rows: [...kept, end], from, last: objects.slice(-1) };
}

const inOrder = (...rows: Row[]): Row[] => rows.sort((a, b) => a.at - b.at);

const list = (at: number, resource: string, ...objects: WatchRow['object'][]): Row => ({
  at,
  type: 'list',
  resource,
  resourceVersion: '999999',
  objects,
});

describe('a watch that ended', () => {
  it('has a gap until the next list of its resource, which may be as old as the gap', async () => {
    const { rows, from } = await cut('pods');
    const to = from + 30_000;
    const report = judged([...rawSightings(inOrder(...rows, list(to, 'pods')))]);
    const [gap] = report.gaps.filter(({ resource }) => resource === 'pods');
    expect(Date.parse(gap?.from ?? '')).toBe(from);
    expect(Date.parse(gap?.to ?? '')).toBe(to);
    const { at } = markOf(report, 'removed');
    expect(Date.parse(at.earliest)).toBeLessThanOrEqual(from);
    expect(Date.parse(at.latest)).toBeGreaterThanOrEqual(to);
  });

  it('and was never listed again has one that lasts: what it still tells may be as old', async () => {
    const { rows, from, last } = await cut('endpointslices');
    const [object] = last;
    if (!object) throw new Error('no slice changed');
    const told: Row = { at: from + 4000, type: 'watch', resource: 'endpointslices', change: 'MODIFIED', object };
    const report = judged([...rawSightings(inOrder(...rows, told))]);
    expect(report.gaps.find(({ resource }) => resource === 'endpointslices')?.to).toBeUndefined();
    const [endpoint] = report.endpoints;
    expect(Date.parse(endpoint?.unroutedAt?.earliest ?? '')).toBeLessThanOrEqual(from);
  });
});
