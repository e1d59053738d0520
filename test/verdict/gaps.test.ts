/** The gaps of a report: times in which changes may have been missed. */
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { adding, judged, markedIn, recorded } from '../helpers/cases.ts';

const gap = (from: number, to: number, stream: 'events' | 'pod' = 'events'): RawObservation => ({
  at: to,
  kind: 'gap',
  stream,
  from,
  to,
  cause: 'expired',
});

it('consecutive gaps of a stream are one gap if nothing arrives in between', async () => {
  const rawObservations = await recorded('graceful-exit');
  const { at } = markedIn(rawObservations);
  const lost = [gap(at, at + 100), gap(at, at + 150, 'pod'), gap(at + 100, at + 300), gap(at + 300, at + 900)];
  const { gaps } = judged(adding(rawObservations, ...lost, gap(at + 1200, at + 1300)));
  const spans = gaps.map(({ resource, from, to }) => [resource, Date.parse(from) - at, Date.parse(to ?? '') - at]);
  expect(spans).toEqual([
    ['events', 0, 900],
    ['pods', 0, 150],
    ['events', 1200, 1300],
  ]);
});
