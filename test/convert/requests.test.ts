/** Which request of the recorder counts as the one that deleted the pod. */
import { describe, expect, it } from 'vitest';
import type { Row } from '../../scripts/convert/rows.ts';
import { graceOf, removalsOf } from '../../scripts/convert/subject.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { judged } from '../helpers/cases.ts';
import { reportOfRecording, rowsOf } from '../helpers/recordings.ts';

type RequestRow = Extract<Row, { type: 'request' }>;
type ResponseRow = Extract<Row, { type: 'response' }>;

const reportOf = (rows: readonly Row[]): ExitReport => judged([...narrowToPod(rows.toSorted((a, b) => a.at - b.at))]);

/** The recorder's request, and its answer. */
async function exchangeIn(name: string) {
  const rows = rowsOf(name);
  const request = rows.find((row): row is RequestRow => row.type === 'request');
  const response = rows.find((row): row is ResponseRow => row.type === 'response');
  if (!request || !response) throw new Error('the recorder asked for nothing');
  return { rows, request, response };
}

/** The recording, with a similar request (and answer) 0.9 s before the recorder's own. */
async function withEarlier(name: string, asked: Partial<RequestRow>, answered: Partial<ResponseRow> = {}) {
  const { rows, request, response } = await exchangeIn(name);
  const path = asked.path ?? request.path;
  return [
    ...rows,
    { ...request, ...asked, at: request.at - 900 },
    { ...response, path, ...answered, at: request.at - 880 },
  ];
}

const refusedWith = (status: number): Partial<ResponseRow> => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status },
});

const boundsOf = ({ marks }: ExitReport) =>
  marks
    .filter(({ id }) => id === 'requested' || id === 'accepted')
    .map(({ id, at: { earliest, latest } }) => ({ id, earliest, latest }));

const names = ['graceful-exit', 'evicted', 'prestop-fails'];

describe.each(names)('among the requests in %s', (name) => {
  const expectSameReport = async (rows: readonly Row[]) => {
    const [report, plain] = [reportOf(rows), await reportOfRecording(name)];
    expect(report.pod).toEqual(plain.pod);
    expect(boundsOf(report)).toEqual(boundsOf(plain));
    expect(report.verdict.outcome).toBe(plain.verdict.outcome);
  };

  it('a dry run in the body does not count as the deletion', async () => {
    const { request } = await exchangeIn(name);
    const options = { dryRun: ['All'] };
    const body = request.path.endsWith('/eviction') ? { ...request.body, deleteOptions: options } : options;
    await expectSameReport(await withEarlier(name, { body }));
  });

  it('a dry run in the query does not count as the deletion', async () => {
    const { request } = await exchangeIn(name);
    await expectSameReport(await withEarlier(name, { path: `${request.path}?dryRun=All` }));
  });

  it.each([409, 429, 500])('one that was refused with %i does not hide the accepted one', async (status) => {
    await expectSameReport(await withEarlier(name, {}, refusedWith(status)));
  });

  it('a request for an unknown pod does not hide the request for the pod', async () => {
    const { request } = await exchangeIn(name);
    const path = request.path.replace(/\/pods\/[^/]+/, '/pods/zzz');
    await expectSameReport(await withEarlier(name, { path }, refusedWith(404)));
    await expectSameReport(await withEarlier(name, { path }));
  });

  it('a request for the already terminating pod does not count as the deletion', async () => {
    const { rows, request, response } = await exchangeIn(name);
    const again = { ...request, at: response.at + 1000 };
    await expectSameReport([...rows, again, { ...response, at: again.at + 10 }]);
  });
});

describe('the query of a request', () => {
  const asking = async (query: string, body: Record<string, unknown> = {}) => {
    const { rows } = await exchangeIn('graceful-exit');
    return reportOf(
      rows.map((row) =>
        row.type === 'request'
          ? { ...row, path: `${row.path}?${query}`, body }
          : row.type === 'response'
            ? { ...row, path: `${row.path}?${query}` }
            : row,
      ),
    );
  };

  it('is not part of the pod name, and may contain the grace period', async () => {
    const report = await asking('propagationPolicy=Background&gracePeriodSeconds=10');
    expect(report).toMatchObject({ mode: 'delete', grace: { requestedSeconds: 10 } });
    expect(boundsOf(report)).toEqual(boundsOf(await reportOfRecording('graceful-exit')));
  });

  it('does not set the grace period if the body has one, or if it is not a number', async () => {
    expect((await asking('gracePeriodSeconds=7', { gracePeriodSeconds: 10 })).grace.requestedSeconds).toBe(10);
    expect((await asking('gracePeriodSeconds=soon')).grace.requestedSeconds).toBeNull();
  });
});

it('an eviction ignores a grace period in the query: only its body can set one', async () => {
  const { rows } = await exchangeIn('evicted');
  const report = reportOf(
    rows.map((row) => (row.type === 'request' ? { ...row, path: `${row.path}?gracePeriodSeconds=3` } : row)),
  );
  expect(report).toMatchObject({ mode: 'evict', grace: { requestedSeconds: null } });
});

it('a recording whose only request is a dry run shows a deletion by another client', async () => {
  const { rows } = await exchangeIn('graceful-exit');
  const report = reportOf(rows.map((row) => (row.type === 'request' ? { ...row, body: { dryRun: ['All'] } } : row)));
  expect(report).toMatchObject({ mode: 'attach', verdict: { outcome: 'graceful' } });
});

describe('the query of a DELETE', () => {
  const asked = (body: RequestRow['body']): RequestRow => ({
    type: 'request',
    at: 0,
    method: 'DELETE',
    path: '/api/v1/namespaces/shop/pods/web-0?gracePeriodSeconds=0&dryRun=All',
    body,
  });

  it('is read if the body is empty', () => {
    expect(graceOf(asked({}))).toBe(0);
    expect(removalsOf([asked({})])).toEqual([]);
  });

  it('is not read if there is a body (SIGNALS.md §1)', () => {
    expect(graceOf(asked({ propagationPolicy: 'Background' }))).toBeNull();
    expect(removalsOf([asked({ propagationPolicy: 'Background' })])).toHaveLength(1);
  });
});

describe('a DELETE with a 504 as the last row', () => {
  it('has an unknown outcome', async () => {
    const { rows, request, response } = await exchangeIn('graceful-exit');
    const earlier = rows.filter((row) => row.at < request.at);
    const report = reportOf([...earlier, request, { ...response, ...refusedWith(504) }]);
    expect(report.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
  });
});
