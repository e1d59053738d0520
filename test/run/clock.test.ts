/** The origin of the clock: close to what the process reports, within the limits of its clock readings. */
import { describe, expect, it } from 'vitest';
import { originWithin } from '../../src/run/clock.ts';

const began = 1_795_000_000_000.25;
/** The wall clock has whole ms; `waits`: ms between the readings. */
const readings = (waits: readonly number[]) =>
  waits.map((wait, index) => ({
    before: 40 + index,
    wall: Math.floor(began + 40 + index + wait / 2),
    after: 40 + index + wait,
  }));

describe('the start of the monotonic clock', () => {
  it('is what the process reports, if the readings allow it', () => {
    expect(originWithin(began, readings([0.001, 0.002, 0.001]))).toBe(began);
  });

  it.each([-30, 21, 400])(
    'is known to the millisecond where the process was held up when it looked (%i ms)',
    (late) => {
      const origin = originWithin(began + late, readings([0.001, 12, 0.001]));
      expect(Math.abs(origin - began)).toBeLessThanOrEqual(1);
    },
  );

  it('stays what was reported if no reading was quick enough to improve it', () => {
    expect(originWithin(began + 5, readings([40, 60]))).toBe(began + 5);
  });
});
