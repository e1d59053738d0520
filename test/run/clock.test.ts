/** What time it is: near to what the process says of its own beginning, as far as its clocks allow. */
import { describe, expect, it } from 'vitest';
import { originWithin } from '../../src/run/clock.ts';

const began = 1_795_000_000_000.25;
/** The wall clock shows whole ms; `waits`: ms that pass between the readings. */
const readings = (waits: readonly number[]) =>
  waits.map((wait, index) => ({
    before: 40 + index,
    wall: Math.floor(began + 40 + index + wait / 2),
    after: 40 + index + wait,
  }));

describe('when the monotonic clock began', () => {
  it('is what the process says, where that can be', () => {
    expect(originWithin(began, readings([0.001, 0.002, 0.001]))).toBe(began);
  });

  it.each([-30, 21, 400])(
    'is known to the millisecond where the process was held up when it looked (%i ms)',
    (late) => {
      const origin = originWithin(began + late, readings([0.001, 12, 0.001]));
      expect(Math.abs(origin - began)).toBeLessThanOrEqual(1);
    },
  );

  it('stays what was said where no reading was quick enough to say better', () => {
    expect(originWithin(began + 5, readings([40, 60]))).toBe(began + 5);
  });
});
