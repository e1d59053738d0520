/** Wrong `Date` headers, in one answer or in all: every interval must still contain the truth. Nothing is dated by them. */
import { describe, expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import type { ExitReport } from '../../src/model/report.ts';
import { attached, judged, recorded } from '../helpers/cases.ts';

const day = 86_400_000;

/** `shift` changes all Date headers, or only the one with this index. */
function withDates(
  rawObservations: readonly RawObservation[],
  which: number | 'all',
  shift: (date: number) => number,
): RawObservation[] {
  let index = 0;
  return rawObservations.map((one) => {
    if (one.kind !== 'dated') return one;
    return which === 'all' || index++ === which ? { ...one, date: shift(one.date) } : one;
  });
}

/** Every instant overlaps the one in the unchanged report, and is at most `slackMs` wider. */
function agrees(report: ExitReport, honest: ExitReport, slackMs: number): void {
  expect(report.marks.map(({ id }) => id)).toEqual(honest.marks.map(({ id }) => id));
  for (const [index, { id, at }] of report.marks.entries()) {
    const plain = honest.marks[index]?.at;
    const [lo, hi] = [Date.parse(at.earliest), Date.parse(at.latest)];
    expect([id, lo <= hi]).toEqual([id, true]);
    expect([id, lo <= Date.parse(plain?.latest ?? ''), hi >= Date.parse(plain?.earliest ?? '')]).toEqual([
      id,
      true,
      true,
    ]);
    expect([id, Date.parse(plain?.earliest ?? '') - lo <= slackMs]).toEqual([id, true]);
    expect([id, hi - Date.parse(plain?.latest ?? '') <= slackMs]).toEqual([id, true]);
  }
}

const shifts: [string, (date: number) => number][] = [
  ['a day behind', (date) => date - day],
  ['of year 9999', () => Date.UTC(9999, 11, 31)],
  ['90 s ahead', (date) => date + 90_000],
];

describe.each(shifts)('a Date header %s', (_, shift) => {
  it.each([0, 3])('in one response (%i) costs little precision', async (which) => {
    const rawObservations = await recorded('graceful-exit');
    agrees(judged(withDates(rawObservations, which, shift)), judged(rawObservations), 1100);
  });

  it('in every response does not outweigh our own DELETE', async () => {
    const rawObservations = await recorded('graceful-exit');
    agrees(judged(withDates(rawObservations, 'all', shift)), judged(rawObservations), 1100);
  });

  it('in one response of an attached run dates no instant wrongly', async () => {
    const rawObservations = attached(await recorded('graceful-exit'));
    agrees(judged(withDates(rawObservations, 0, shift)), judged(rawObservations), Infinity);
  });
});
