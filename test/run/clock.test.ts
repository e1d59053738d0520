/** The origin of the clock is as exact as the readings of the two clocks allow. */
import { describe, expect, it } from 'vitest';
import { originFrom } from '../../src/run/clock.ts';

const began = 1_795_000_000_000.25;
/** The wall clock has whole ms; `waits`: ms between the readings. */
const readings = (waits: readonly number[], apart = 1) =>
  waits.map((wait, index) => ({
    before: 40 + index * apart,
    wall: Math.floor(began + 40 + index * apart + wait / 2),
    after: 40 + index * apart + wait,
  }));

const errorOf = (origin: number): number => Math.abs(origin - began);

describe('the start of the monotonic clock', () => {
  it.each([
    ['all readings were quick', [0.001, 0.002, 0.001]],
    ['one of the readings was quick', [30, 0.002, 12]],
  ])('is known to half a millisecond if %s', (_, waits) => {
    expect(errorOf(originFrom(readings(waits)))).toBeLessThanOrEqual(0.51);
  });

  it('is known better if the readings are spread over a millisecond', () => {
    expect(errorOf(originFrom(readings([0.001, 0.001, 0.001, 0.001, 0.001], 0.2)))).toBeLessThanOrEqual(0.11);
  });

  it('is off by no more than half of the quickest reading if none was quick', () => {
    expect(errorOf(originFrom(readings([40, 60])))).toBeLessThanOrEqual(20.5);
  });
});
