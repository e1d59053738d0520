/** What `-o json` says of a stretch that was not observed. */
import { expect, it } from 'vitest';
import { watchView } from '../../src/watch/view.ts';

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
