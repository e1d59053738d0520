/** The printed sum gives the printed number, for every hook and drain. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { drainBeside, graceSize, isHeavyHook } from '../../src/advice/sizes.ts';

const seconds = fc.double({ min: 0, max: 3600, noNaN: true });

it('a reader who computes the printed sum gets the printed number', () => {
  fc.assert(
    fc.property(seconds, seconds, (hookSeconds, drainSeconds) => {
      const size = graceSize([{ hookSeconds, drainSeconds, drainWords: 'drain' }]);
      const operands = [...(size?.sum ?? '').matchAll(/([\d.]+)s/g)].map(([, number]) => Number(number));
      const sum = operands.reduce((all, one) => all + one, 0) * 1.25;
      expect(size?.seconds).toBe(Math.max(5, Math.ceil(sum / 5 - 1e-9) * 5));
      expect(size?.sum.includes('rounded up')).toBe((size?.seconds ?? 0) > sum);
    }),
  );
});

it('a new hook never takes more than half of the new grace period', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 600 }), (hookSeconds, graceSeconds) => {
      const size = graceSize([drainBeside(hookSeconds, { graceSeconds, hookSeconds: 0 })]);
      expect(isHeavyHook(hookSeconds, size?.seconds ?? 0)).toBe(false);
    }),
  );
});

it('a limit caps the grace period, and is said', () => {
  const limits = [{ by: 'a spot node', seconds: 30 }];
  const size = graceSize([{ hookSeconds: 10, drainSeconds: 30, drainWords: 'to stop' }], limits);
  expect(size?.seconds).toBe(30);
  expect(size?.sum).toContain('a spot node may give a pod only 30s');
});
