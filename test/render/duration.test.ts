import { describe, expect, it } from 'vitest';
import { formatSeconds, formatShare } from '../../src/render/duration.ts';
import { formatBounds, formatOffset, zeroOf } from '../../src/render/offsets.ts';
import { lasted, usedOfGrace } from '../../src/verdict/figures.ts';
import { inferred, mark, observed, zero } from './helpers/report-parts.ts';
import { blank, forced, graceful, killed, removed, sidecars, stuck } from './helpers/sample-reports.ts';

describe('a length of time', () => {
  it.each([
    [3.0, 3.2, '3.1s'],
    [3.096, 3.098, '3.097s'],
    [59.6, 62.1, '~61s'],
    [0.01, 0.03, '0.02s'],
    [5, 5, '5.000s'],
    [3.096, 3.099, '3.098s'],
    [4.2, 5.3, '5s'],
    [2, 64, '2–64s'],
    [0, 1.339, '0–1.4s'],
    [0, 0.847, '0–0.9s'],
    [3.062, 5.911, '3–6s'],
    [0.9, 2.136, '0.9–2.2s'],
    [12.4, 17.2, '12–18s'],
    [129, 131, '2m10s'],
    [2, Infinity, '≥2s'],
    [Number.NaN, Number.NaN, '?'],
  ])('between %d and %d seconds is %s', (min, max, text) => {
    expect(formatSeconds({ min, max })).toBe(text);
  });

  it('is marked where it was inferred', () => {
    expect(formatSeconds({ min: 3, max: 3.2 }, 'inferred')).toBe('~3.1s');
  });

  it('is a share of the grace in whole percents', () => {
    expect(formatShare({ min: 0.3, max: 0.32 })).toBe('31%');
    expect(formatShare({ min: 0, max: 6.2 }, 'inferred')).toBe('0–620%');
    expect(formatShare({ min: 0.001, max: 0.112 })).toBe('0–12%');
    expect(formatShare({ min: 0.29, max: 0.33 })).toBe('~31%');
    expect(formatShare({ min: 1, max: Infinity })).toBe('–');
  });
});

describe('an offset', () => {
  it.each([
    [observed(0.008, 0.008), '+0.008s'],
    [inferred(0.019, 0.09), '~+0.05s'],
    [inferred(3, 3.2), '~+3.1s'],
    [inferred(-1, 0), '~−1s'],
    [inferred(2, 64), '~+2 … +64s'],
    [inferred(-0.4, 2), '~−0.4 … +2s'],
    [inferred(-2.703, -0.481), '~−3 … −0.5s'],
    [inferred(-2.511, -0.01), '~−3 … −0.01s'],
    [inferred(0, 2.2), '~+0 … +2s'],
    [observed(-2.703, -0.481), '−0.481s'],
    [{ ...observed(0, 0), earliest: 'never' }, '?'],
  ])('has as many digits as its instant deserves (case %#)', (instant, text) => {
    expect(formatOffset(zero, instant)).toBe(text);
  });

  it('counts from the request, else from the first mark, else from the start of the grace', () => {
    expect(zeroOf(graceful())).toBe(zero);
    expect(
      zeroOf({ ...blank(), marks: [mark('removed', observed(7, 8)), mark('stopping', observed(3, 4), 'app')] }),
    ).toBe(zero + 3000);
    expect(zeroOf(blank())).toBe(zero);
  });

  it('lies within bounds of the same sign', () => {
    expect(formatBounds(zero, observed(-2.703, -0.481))).toBe('−2.703 … −0.481s');
    expect(formatBounds(zero, inferred(-1.7, 0.1))).toBe('−1.700 … 0.100s');
  });
});

describe('the numbers that every document leads with', () => {
  it('are the time from the request to the removal', () => {
    expect(lasted(graceful())).toMatchObject({ range: { min: 3.909, max: 3.912 }, basis: 'observed' });
    expect(lasted(stuck())).toBeUndefined();
  });

  it('are the share of the grace that the longest container used', () => {
    expect(usedOfGrace(killed())?.range.max).toBeCloseTo(6.12 / 6);
    expect(usedOfGrace(sidecars())?.range.max).toBeCloseTo(5.48 / 12);
    expect(usedOfGrace(removed())).toBeUndefined();
    expect(usedOfGrace(forced())).toBeUndefined();
  });
});
