/** Which request of the recorder counts as the one that deleted the pod. */
import { expect, it } from 'vitest';
import type { Row } from '../../scripts/convert/rows.ts';
import { graceOf } from '../../scripts/convert/subject.ts';
import { narrowToPod } from '../../scripts/convert/narrow.ts';
import { judged } from '../helpers/cases.ts';
import { reportOfRecording, rowsOf } from '../helpers/recordings.ts';

type RequestRow = Extract<Row, { type: 'request' }>;
type ResponseRow = Extract<Row, { type: 'response' }>;

it.each<[string, string, (path: string) => string, number]>([
  ['one that was refused does not hide the accepted one', 'evicted', (path) => path, 429],
  ['one for an unknown pod does not hide the one for the pod', 'graceful-exit', (path) => `${path}z`, 200],
])('%s', async (_, name, pathOf, status) => {
  const rows = rowsOf(name);
  const request = rows.find((row): row is RequestRow => row.type === 'request') as RequestRow;
  const response = rows.find((row): row is ResponseRow => row.type === 'response') as ResponseRow;
  const path = pathOf(request.path);
  const earlier = [
    { ...request, path, at: request.at - 900 },
    { ...response, path, status, at: request.at - 880 },
  ];
  const report = judged([...narrowToPod([...rows, ...earlier].toSorted((a, b) => a.at - b.at))]);
  const plain = await reportOfRecording(name);
  expect(report.pod).toEqual(plain.pod);
  expect(report.marks.find(({ id }) => id === 'accepted')?.at.latest).toBe(
    plain.marks.find(({ id }) => id === 'accepted')?.at.latest,
  );
});

it('the grace period is that of its body, which an eviction nests', () => {
  const asked = (path: string, body: RequestRow['body']) =>
    graceOf({ type: 'request', at: 0, method: 'POST', path: `/api/v1/namespaces/shop/pods/${path}`, body });
  expect(asked('web', { gracePeriodSeconds: 5 })).toBe(5);
  expect(asked('web/eviction', { deleteOptions: { gracePeriodSeconds: 7 } })).toBe(7);
});
