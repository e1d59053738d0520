import { describe, expect, it } from 'vitest';
import { createStreamHealth } from '../../src/run/streams/stream-health.ts';

describe('a stream that is lost', () => {
  it('is lost since the earliest reported time', () => {
    const streams = createStreamHealth(() => {});
    const health = streams.open('pod', 0);
    health.lost(30_000);
    health.lost(10_000);
    expect(streams.unsure()).toEqual([{ stream: 'pod', since: 10_000 }]);
    health.lost(20_000);
    expect(streams.unsure()).toEqual([{ stream: 'pod', since: 10_000 }]);
  });

  it('has a new time of loss after it has delivered again', () => {
    const streams = createStreamHealth(() => {});
    const health = streams.open('pod', 0);
    health.lost(10_000);
    health.flows();
    health.lost(30_000);
    expect(streams.unsure()).toEqual([{ stream: 'pod', since: 30_000 }]);
  });
});
