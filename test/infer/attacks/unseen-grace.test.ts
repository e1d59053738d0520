/** What somebody did who wanted a false sentence in a report: the grace was another one when the kubelet began. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import { drains } from '../../sim/plain-story.ts';
import {
  alone,
  attached,
  changesOf,
  comingAt,
  containerOf,
  deaf,
  findingCodes,
  judged,
  listed,
  markOf,
  markedIn,
  told,
} from '../../helpers/cases.ts';
import { pod, somebody } from '../../helpers/story-changes.ts';

/** Somebody lowered the grace from 30 s to 1 s at 3 s, and we came at 5 s. */
const late = (app: AppStory): Sighting[] =>
  attachedAfter(5000, {
    ...alone({ app }),
    ...pod({ graceSeconds: 30 }),
    ...somebody,
    later: [{ kind: 'delete', atMs: 3000, graceSeconds: 1 }],
  });

/** We came so long after the deletion was told. */
function attachedAfter(ms: number, change: Partial<Story>): Sighting[] {
  const all = attached(told(change));
  const start = markedIn(all).at + ms;
  return comingAt(start, all);
}

describe('a grace that was lowered before anybody looked', () => {
  it('is not overrun by what the kubelet still gave', () => {
    const report = judged(late(drains(20_000)));
    expect(report.verdict.outcome).toBe('graceful');
    expect(findingCodes(report)).not.toContain('grace-nearly-spent');
    const drain = report.phases.find(({ name }) => name === 'drain');
    expect(drain?.ofGrace.min).toBeLessThan(1);
    expect(drain?.ofGrace.max).toBeGreaterThan(1);
    expect(report.phases.map(({ name }) => name)).not.toContain('overtime');
  });

  it('ends in a kill where either of them ends, and nowhere else', () => {
    expect(containerOf(judged(late(deaf))).outcome).toBe('killed');
    const own: AppStory = { onSignal: { kind: 'exits', afterMs: 15_000, code: 137 }, lost: false, lines: [] };
    expect(containerOf(judged(late(own))).outcome).toBe('unknown');
  });

  it('is not that of the last DELETE, where nothing was seen before it', () => {
    const held = { ...pod({ finalizers: ['example.com/audit'] }), ...somebody };
    const all = attached(told({ ...held, later: [{ kind: 'remove-finalizers', atMs: 30_000 }] }));
    const marked = markedIn(all).at;
    const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
    const at = (final?.at ?? NaN) + 5000;
    const gap = { at, kind: 'gap', stream: 'pod', from: marked - 500, to: at, cause: 'expired' } satisfies Sighting;
    const missed = all.filter((one) => !(one.kind === 'changed' && one.stream === 'pod' && one.at < at));
    const report = judged([...missed, gap, listed(at, 'pod', final?.object)].sort((a, b) => a.at - b.at));
    expect(findingCodes(report)).not.toContain('grace-nearly-spent');
    expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBeLessThanOrEqual(marked);
    expect(Date.parse(markOf(report, 'accepted').at.latest)).toBeGreaterThanOrEqual(marked - 10);
  });

  it('may have been longer than the 0 of the last DELETE, though that is the own one of the pod', () => {
    const trigger = { kind: 'unknown', atMs: 1240, graceSeconds: 3 } as const;
    const hooked = alone({ preStop: { kind: 'sleep', seconds: 2 }, app: drains(100) });
    const story = { ...hooked, ...pod({ graceSeconds: 0, finalizers: ['example.com/audit'] }), trigger };
    const report = judged(attachedAfter(20_000, { ...story, later: [{ kind: 'remove-finalizers', atMs: 40_000 }] }));
    expect(containerOf(report)).toMatchObject({ outcome: 'completed' });
    expect(findingCodes(report)).toContain('finalizer-held');
    for (const code of ['prestop-cut-off', 'grace-nearly-spent']) expect(findingCodes(report)).not.toContain(code);
  });

  it.each([
    ['drains', drains(20_000), 'graceful'],
    ['ignores its signal', deaf, 'killed'],
  ] as const)('may have been longer than any that was seen: the application %s', (_, app, outcome) => {
    const trigger = { kind: 'unknown', atMs: 1240, graceSeconds: 60 } as const;
    const later = [{ kind: 'delete', atMs: 2000, graceSeconds: 5 } as const];
    const report = judged(attachedAfter(3000, { ...alone({ app }), trigger, later }));
    expect(report.verdict.outcome).toBe(outcome);
    expect(findingCodes(report)).not.toContain('grace-nearly-spent');
    expect(report.phases.map(({ name }) => name)).not.toContain('overtime');
    expect(JSON.stringify(report.verdict.findings)).not.toMatch(/its grace of/);
  });
});
