/** What somebody did who wanted a false sentence in a report: the kubelet began again, and its grace with it. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../sim/story.ts';
import { drains, plainStory } from '../../sim/plain-story.ts';
import { alone, changesOf, editing, findingCodes, judged, told } from '../../helpers/cases.ts';
import { judgeStory } from '../../helpers/simulated.ts';

const restarted = (drainMs: number): Story =>
  plainStory({
    ...alone({ app: drains(drainMs) }),
    faults: [{ kind: 'kubelet-restart', atMs: 2000, downMs: 2000 }],
  });

describe('a grace that counts anew', () => {
  it('is judged from the last time that the kubelet began', () => {
    const { report, wrong } = judgeStory(restarted(12_000));
    expect(wrong).toEqual([]);
    expect(report.verdict.outcome).toBe('graceful');
    expect(report.phases.map(({ name }) => name)).not.toContain('overtime');
    expect(findingCodes(report)).not.toContain('grace-nearly-spent');
    expect(findingCodes(report)).toContain('kubelet-restarted');
  });

  it('is nearly spent where the last one was', () => {
    const { report } = judgeStory(restarted(14_000));
    expect(report.verdict.outcome).toBe('graceful');
    const spent = report.verdict.findings.find(({ code }) => code === 'grace-nearly-spent');
    expect(spent?.message).toMatch(/^app used ≈(7|8|9)\.\ds of its 10s grace period/);
  });
});

describe('an exit that no kill explains, long after the grace', () => {
  it('did not overrun the only one that was told: another began unseen', () => {
    const { report } = judgeStory(restarted(14_500));
    const sightings = told({ ...restarted(14_500) });
    const [first] = changesOf(sightings, 'events').filter(({ object }) => object['reason'] === 'Killing');
    const isLater = (at: number): boolean => at > (first?.at ?? 0);
    const unkilled = editing(sightings, 'events', (event, { at }) => (isLater(at) ? undefined : event));
    const deafened = editing(unkilled, 'node-events', (event, { at }) => (isLater(at) ? undefined : event));
    expect(report.verdict.outcome).toBe('graceful');
    const unheard = judged(deafened);
    expect(unheard.verdict.outcome).toBe('graceful');
    expect(findingCodes(unheard)).not.toContain('grace-nearly-spent');
    expect(unheard.phases.map(({ name }) => name)).not.toContain('overtime');
  });
});
