import { expect, it } from 'vitest';
import { createStreamHealth } from '../../src/run/streams/stream-health.ts';

it('a stream is lost since the earliest reported time, and anew after it has delivered again', () => {
  const streams = createStreamHealth(() => {});
  const health = streams.open('pod', 0);
  for (const at of [30_000, 10_000, 20_000]) health.lost(at);
  expect(streams.unsure()).toEqual([{ stream: 'pod', since: 10_000 }]);
  health.flows();
  health.lost(30_000);
  expect(streams.unsure()).toEqual([{ stream: 'pod', since: 30_000 }]);
});
