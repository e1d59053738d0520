import { describe, expect, it } from 'vitest';
import type { ContainerTimeline } from '../../src/infer/timeline.ts';
import { graceUsedLength, lengthText, secondsText, shareText } from '../../src/verdict/length-text.ts';

describe('a length is printed with as many digits as its interval supports', () => {
  it.each([
    [{ min: 10, max: 20, shown: 15 }, '0.01s'],
    [{ min: 3050, max: 3150, shown: 3100 }, '3.1s'],
    [{ min: 3000, max: 3200, shown: 3100 }, '≈3.1s'],
    [{ min: 2700, max: 3500, shown: 3100 }, '≈3.1s'],
    [{ min: 10_000, max: 14_000, shown: 12_000 }, '≈12s'],
    [{ min: 2000, max: 4000, shown: 3000 }, '≈3s'],
    [{ min: 1900, max: 4000, shown: 3000 }, '1.9–4.0s'],
    [{ min: 991, max: 6225, shown: 3600 }, '0.9–6.3s'],
    [{ min: 90_000, max: 300_000, shown: 120_000 }, '90s–5m00s'],
    [{ min: 0, max: 500, shown: 100 }, '≤0.5s'],
    [{ min: 2000, max: Infinity, shown: 2000 }, '≥2.0s'],
    [{ min: -Infinity, max: Infinity, shown: 0 }, '?'],
    [{ min: 125_000, max: 125_100, shown: 125_050 }, '2m05s'],
  ])('%j is printed as %s', (length, text) => {
    expect(lengthText(length)).toBe(text);
  });

  it.each([
    [119_960, '2m00s'],
    [7_169_000, '119m29s'],
    [7_170_000, '2h00m'],
    [7_200_000, '2h00m'],
    [172_830_000, '48h01m'],
  ])('%d ms are printed as %s, never with 60 seconds or minutes', (ms, text) => {
    expect(secondsText(ms)).toBe(text);
  });
});

it('a share of the grace period is at most 100%', () => {
  expect(shareText({ min: 0.3, max: 0.32, shown: 0.31 }, 10_000)).toBe('31%');
  expect(shareText({ min: 0.5, max: 0.7, shown: 0.6 }, 10_000)).toBe('≈60%');
  expect(shareText({ min: 0.0991, max: 0.6225, shown: 0.36 }, 10_000)).toBe('9–63%');
  expect(shareText({ min: 6.4, max: 6.5, shown: 6.45 }, 10_000)).toBe('100%');
});

it.each([
  ['after the signal', { drain: exactly(9000) }],
  ['in the preStop hook', { drain: exactly(400), preStop: { length: exactly(12_000) } }],
])('a grace period that began anew %s was used to no share', (_, lengths) => {
  const container = { kind: 'container', graceUsed: exactly(5000), ...lengths } as unknown as ContainerTimeline;
  expect(graceUsedLength(container)).toBeUndefined();
});

function exactly(ms: number) {
  return { min: ms, max: ms, shown: ms } as const;
}
