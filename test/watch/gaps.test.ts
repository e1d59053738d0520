/** Gaps of several streams: together only if they have the same times. */
import { expect, it } from 'vitest';
import type { StreamName } from '../../src/model/observation.ts';
import { createGaps } from '../../src/watch/gaps.ts';
import type { WatchGap } from '../../src/watch/lines.ts';

type Lost = [stream: StreamName, from: number, to: number];

it.each<[string, Lost[], [string, number, number][]]>([
  [
    'an API server restarts: all streams are lost together',
    [
      ['pods', 10_000, 20_000],
      ['events', 10_400, 20_900],
    ],
    [['pods, Events', 10_000, 20_900]],
  ],
  [
    'one stream was lost long before another',
    [
      ['endpointslices', 10_000, 60_000],
      ['pods', 55_000, 60_100],
    ],
    [
      ['EndpointSlices', 10_000, 60_000],
      ['pods', 55_000, 60_100],
    ],
  ],
])('%s', (_name, lost, named) => {
  const gaps: WatchGap[] = [];
  const clock = { now: () => 0, setTimeout: () => () => {} };
  const all = createGaps(clock, (gap) => gaps.push(gap));
  lost.forEach(([stream, from, to], seq) => all.take({ kind: 'gap', seq, at: to, stream, from, to, cause: 'expired' }));
  all.flush();
  expect(gaps.map(({ streams, from, to }) => [streams.join(', '), from, to])).toEqual(named);
});
