import { expect, it } from 'vitest';
import { casesIn } from '../helpers/case-file.ts';
import type { ContainerTimeline } from '../../src/infer/timeline.ts';
import { graceUsedLength, lengthText, secondsText, shareText } from '../../src/verdict/words.ts';

type Length = Parameters<typeof lengthText>[0];

it.each(casesIn<Length | number>(new URL('lengths.yaml', import.meta.url)))('prints %s', (text, length) => {
  const printed = typeof length === 'number' ? secondsText(length) : lengthText(length);
  expect(printed).toBe(text.split(/,| \(/)[0]);
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
