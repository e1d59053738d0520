/** How the conversion handles a watch that ended. */
import { describe, expect, it } from 'vitest';
import type { Row } from '../../scripts/convert/rows.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import { convertPod } from '../../scripts/convert/convert.ts';
import { judged, markOf } from '../helpers/cases.ts';
import { mustReport, observationsOf, rowsOf, traceOf } from '../helpers/recordings.ts';

type WatchRow = Extract<Row, { type: 'watch' }>;

const isWatchOf = (row: Row, resource: string): row is WatchRow => row.type === 'watch' && row.resource === resource;

/** The watch of `resource` ends just after the request, and delivers nothing more. */
async function cut(resource: string) {
  const rows = rowsOf('graceful-exit');
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
  it('has a gap until the next list of its resource, and the list may show changes from the whole gap', async () => {
    const { rows, from } = await cut('pods');
    const to = from + 30_000;
    const report = judged([...narrowToPod(inOrder(...rows, list(to, 'pods')))]);
    const [gap] = report.gaps.filter(({ resource }) => resource === 'pods');
    expect(Date.parse(gap?.from ?? '')).toBe(from);
    expect(Date.parse(gap?.to ?? '')).toBe(to);
    const { at } = markOf(report, 'removed');
    expect(Date.parse(at.earliest)).toBeLessThanOrEqual(from);
    expect(Date.parse(at.latest)).toBeGreaterThanOrEqual(to);
  });

  it('and was never listed again has a gap to the end, and later changes may be older', async () => {
    const { rows, from, last } = await cut('endpointslices');
    const [object] = last;
    if (!object) throw new Error('no slice changed');
    const change: Row = { at: from + 4000, type: 'watch', resource: 'endpointslices', change: 'MODIFIED', object };
    const report = judged([...narrowToPod(inOrder(...rows, change))]);
    expect(report.gaps.find(({ resource }) => resource === 'endpointslices')?.to).toBeUndefined();
    const [endpoint] = report.endpoints;
    expect(Date.parse(endpoint?.unroutedAt?.earliest ?? '')).toBeLessThanOrEqual(from);
  });
});

describe('a watch that ended, whose resource is listed only when the pod is gone,', () => {
  /** The watch ends just before the request. A list `later` ms after the last row has what it missed. */
  async function relisted(name: string, resource: string, later: number) {
    const rows = rowsOf(name);
    const from = (rows.find((row) => row.type === 'request')?.at ?? NaN) - 2;
    const to = Math.max(...rows.map(({ at }) => at)) + later;
    const objects = rows.flatMap((row) => {
      if (row.type === 'list' && row.resource === resource) return row.objects;
      return isWatchOf(row, resource) ? [row.object] : [];
    });
    const kept = rows.filter((row) => !(isWatchOf(row, resource) && row.at > from));
    const end: Row = { at: from, type: 'watch-end', resource };
    const all = inOrder(...kept, end, list(to, resource, ...objects));
    return { from, to, report: mustReport(traceOf(observationsOf([...convertPod(all)]))) };
  }

  it('has a gap that ends with the list, as in a live run', async () => {
    const { from, to, report } = await relisted('prestop-exceeds-grace', 'events', 6000);
    const [gap, ...others] = report.gaps;
    expect(others).toEqual([]);
    expect(gap).toMatchObject({ resource: 'events', cause: 'disconnected' });
    expect([gap?.from, gap?.to].map((time) => Date.parse(time ?? ''))).toEqual([from, to]);
    expect(report.verdict.outcome).toBe('overran');
  });

  it('has a gap to the end if a live run would not wait so long', async () => {
    const { from, report } = await relisted('prestop-exceeds-grace', 'events', 60_000);
    const [gap, ...others] = report.gaps;
    expect(others).toEqual([]);
    expect(gap).toMatchObject({ resource: 'events', cause: 'disconnected' });
    expect(Date.parse(gap?.from ?? '')).toBe(from);
    expect(gap?.to).toBeUndefined();
    expect(report.verdict.findings.map(({ code }) => code)).toContain('evidence-lost');
  });

  it('has a gap to the end if a live run does not wait for its stream', async () => {
    const { report } = await relisted('graceful-exit', 'replicasets', 3000);
    expect(report.gaps).toMatchObject([{ resource: 'owners', cause: 'disconnected' }]);
    expect(report.gaps[0]?.to).toBeUndefined();
  });
});
