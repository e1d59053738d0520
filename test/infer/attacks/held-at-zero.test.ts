/** What somebody did who wanted what finalizers held to be called clean-up: the grace was 0 from the first. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import { alone, attached, changesOf, comingAt, findingCodes, hasMark, judged, told } from '../../helpers/cases.ts';
import { pod } from '../../helpers/story-changes.ts';

const held = (graceSeconds: number, change: Partial<Story> = {}) =>
  told({
    ...alone({ app: drains(2000) }),
    ...pod({ graceSeconds, finalizers: ['example.com/audit'] }),
    later: [{ kind: 'remove-finalizers', atMs: 30_000 }],
    ...change,
  });

describe('a finalizer on a pod that was deleted with grace 0', () => {
  const forcedLater = held(20, {
    later: [
      { kind: 'delete', atMs: 500, graceSeconds: 0 },
      { kind: 'remove-finalizers', atMs: 30_000 },
    ],
  });

  it.each([
    ['by us', held(0)],
    ['by somebody', attached(held(0))],
    ['by somebody who forced it while it ended', forcedLater],
  ])('holds it from its end on (%s)', (_, all) => {
    const report = judged(all);
    const names = report.phases.map(({ name }) => name);
    expect(names).toContain('finalize');
    expect(names).not.toContain('cleanup');
    expect(hasMark(report, 'finalizing')).toBe(true);
    expect(findingCodes(report)).toContain('finalizer-held');
    const finding = report.verdict.findings.find(({ code }) => code === 'finalizer-held');
    expect(finding?.message).toMatch(/^finalizer \S+ (held|has held) the pod for/);
    const finalize = report.phases.find(({ name }) => name === 'finalize');
    expect(finalize?.seconds.min).toBeGreaterThan(20);
    expect(finalize?.seconds.max).toBeLessThan(31);
  });
});

it('a finalizer that a first look found at work had held the pod for at least as long as it was watched', () => {
  const all = attached(held(5));
  const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
  const finding = (sightings: readonly Sighting[]) =>
    judged(sightings).verdict.findings.find(({ code }) => code === 'finalizer-held')?.message;
  expect(finding(all)).toMatch(/^finalizer \S+ held the pod for 2\d/);
  expect(finding(comingAt((final?.at ?? NaN) + 16_000, all))).toMatch(/^finalizer \S+ held the pod for at least 1\d/);
});
