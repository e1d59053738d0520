/** Gaps of several streams: together only if they have the same times; and what programs read of one. */
import { expect, it } from 'vitest';
import type { StreamName } from '../../src/model/observation.ts';
import { createGaps, type WatchGap } from '../../src/watch/lines.ts';
import { watchView } from '../../src/watch/view.ts';

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

it.each([
  ['json', { apiVersion: 'podexit/v1', kind: 'WatchGap' }],
  ['ndjson', { type: 'watch-gap' }],
] as const)('a gap is printed with its streams and times with -o %s', (format, named) => {
  const printed: string[] = [];
  const stdout = { write: (text: string) => printed.push(text) };
  const ports = { stdout, dropped: () => {} } as unknown as Parameters<typeof watchView>[2];
  const view = watchView(format, {} as never, ports, () => expect.unreachable());
  view.gap?.({ streams: ['pods'], from: Date.UTC(2026, 10, 28, 10), to: Date.UTC(2026, 10, 28, 10, 1) });
  expect(printed.map((text) => JSON.parse(text) as object)).toEqual([
    { ...named, streams: ['pods'], from: '2026-11-28T10:00:00.000Z', to: '2026-11-28T10:01:00.000Z' },
  ]);
});
