/** A resource that a recorder did not list is a gap, because changes may have been missed. */
import { describe, expect, it } from 'vitest';
import type { Row } from '../../scripts/convert/rows.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { findingCodes, judged } from '../helpers/cases.ts';
import { rowsOf } from '../helpers/recordings.ts';

const isOf = (row: Row, resources: readonly string[]): boolean => 'resource' in row && resources.includes(row.resource);

/** The recording without these resources. */
const rowsWithout = async (name: string, ...resources: string[]): Promise<Row[]> =>
  rowsOf(name).filter((row) => !isOf(row, resources));

const reportOf = (rows: readonly Row[]): ExitReport => judged([...narrowToPod(rows)]);

const gapsOf = ({ gaps }: ExitReport) => gaps.map(({ resource, cause, to }) => ({ resource, cause, lasts: !to }));

const lasting = (...resources: string[]) =>
  resources.map((resource) => ({ resource, cause: 'not-synced', lasts: true }));

describe('a resource that a recording does not contain', () => {
  it('is a gap to the end, and the report says what it affects', async () => {
    const report = reportOf(await rowsWithout('prestop-exceeds-grace', 'events', 'node-events'));
    expect(gapsOf(report)).toEqual(lasting('events', 'events (nodes)'));
    expect(findingCodes(report)).toContain('evidence-lost');
  });

  it('is no gap if nothing depends on it: a bare pod has no owner', async () => {
    expect(
      reportOf(await rowsWithout('prestop-sleep', 'replicasets', 'deployments', 'statefulsets', 'jobs')).gaps,
    ).toEqual([]);
  });
});

it('a change of another EndpointSlice does not replace a list of the EndpointSlices', async () => {
  const rows = rowsOf('two-services');
  const changed = rows.find((row) => row.type === 'watch' && row.resource === 'endpointslices');
  const sent = rows.find((row) => row.type === 'request')?.at ?? NaN;
  if (changed?.type !== 'watch') throw new Error('no slice changed');
  const metadata = { ...(changed.object['metadata'] as object), name: 'other-1', uid: 'other', labels: {} };
  const others = { ...changed, at: sent - 200, object: { ...changed.object, metadata, endpoints: [] } };
  const alone = [...(await rowsWithout('two-services', 'endpointslices')), others].sort((a, b) => a.at - b.at);
  const report = reportOf(alone);
  expect(gapsOf(report)).toEqual(lasting('endpointslices'));
  expect(findingCodes(report)).toContain('evidence-lost');
});

it('a resource that is listed after the pod was deleted has a gap until then', async () => {
  const rows = rowsOf('graceful-exit');
  const sent = rows.find((row) => row.type === 'request')?.at ?? NaN;
  const late = sent + 1500;
  const moved = rows
    .filter((row) => !(isOf(row, ['events']) && row.type === 'watch' && row.at <= late))
    .map((row) => (isOf(row, ['events']) && row.type === 'list' ? { ...row, at: late } : row))
    .sort((a, b) => a.at - b.at);
  const [gap, ...others] = reportOf(moved).gaps.filter(({ resource }) => resource === 'events');
  expect(others).toEqual([]);
  expect(gap).toMatchObject({ cause: 'not-synced' });
  expect(Date.parse(gap?.to ?? '')).toBe(late);
});

it('a resource that is listed by a run that attached to a terminating pod has no gap', async () => {
  const rows = rowsOf('sigkill-after-grace');
  const marked = rows.find((row) => row.type === 'watch' && row.resource === 'pods');
  const begins = (marked?.at ?? NaN) + 1000;
  const come = rows.flatMap((row): Row[] => {
    if (row.type === 'list' && row.resource === 'pods' && marked?.type === 'watch')
      return [{ ...row, at: begins, objects: [marked.object] }];
    return row.type === 'list' ? [{ ...row, at: begins + 20 }] : row.at > begins ? [row] : [];
  });
  const report = reportOf(come.sort((a, b) => a.at - b.at));
  expect(report.marks.map(({ name }) => name)).toContain('removed');
  expect(gapsOf(report).filter(({ cause }) => cause === 'not-synced')).toEqual([]);
});

it('a resource that is watched without a list has a gap until its first watch event', async () => {
  const rows = rowsOf('prestop-sleep').filter((row) => !(isOf(row, ['events']) && row.type === 'list'));
  const first = rows.find((row) => isOf(row, ['events']));
  const [gap] = reportOf(rows).gaps;
  expect(gap).toMatchObject({ resource: 'events', cause: 'not-synced' });
  expect(Date.parse(gap?.to ?? '')).toBe(first?.at);
});
