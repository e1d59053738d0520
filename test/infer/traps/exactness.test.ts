/** Traps 33 to 38 for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import { drains, plainStory } from '../../sim/plain-story.ts';
import {
  after,
  alone,
  containerOf,
  findingCodes,
  judged,
  markedIn,
  recorded,
  storyReport,
  told,
  without,
} from '../../helpers/cases.ts';
import { kubelet, dies } from '../../helpers/story-changes.ts';

describe('how exact it is', () => {
  it('33: stamps are cut to whole seconds, wherever in its second a thing happened', () => {
    for (const offset of [0, 130, 370, 620, 990]) {
      const story = alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 2400, code: 3 } }, logged: false });
      const report = storyReport({ ...story, beganAt: plainStory().beganAt + offset });
      const exit = after(report, containerOf(report).exit?.at);
      expect(exit.earliest).toBeLessThanOrEqual(2.42);
      expect(exit.latest).toBeGreaterThanOrEqual(2.4);
    }
  });

  it('34: a status patch with nothing of interest makes no mark', () => {
    const names = (patchesResources: boolean) => storyReport(kubelet({ patchesResources })).marks.map(({ id }) => id);
    expect(names(true)).toEqual(names(false));
  });

  it('35: an accepted eviction answers without a Pod, and one that failed began nothing', () => {
    const sightings = told({ trigger: { kind: 'eviction-api', atMs: 1240 } });
    const report = judged(sightings);
    expect(report.trigger.kind).toBe('eviction-api');
    expect(report.grace.effectiveSeconds).toBe(10);
    const refused = sightings
      .filter((one) => one.kind !== 'answered' && one.at < markedIn(sightings).at)
      .concat({ at: markedIn(sightings).at, kind: 'answered', verb: 'evict', status: 500 });
    expect(judged(refused).marks.some(({ name }) => name === 'accepted')).toBe(false);
  });

  it('36: a kubelet that restarts ends every log and counts the grace anew, with one stop signal in all', () => {
    const report = storyReport(
      alone({ app: drains(8000) }, { faults: [{ kind: 'kubelet-restart', atMs: 700, downMs: 2500 }] }),
    );
    expect(findingCodes(report)).toContain('kubelet-restarted');
    expect(report.marks.filter(({ name }) => name === 'stop-signal')).toHaveLength(1);
    expect(after(report, containerOf(report).exit?.at).earliest).toBeGreaterThan(7);
  });

  it('37: a preemption is told by its condition, one write before the deletion; its Event follows', async () => {
    const sightings = await recorded('preempted');
    const report = judged(sightings);
    const cited = report.observations
      .filter(({ seq }) => report.trigger.evidence.includes(seq))
      .map(({ what }) => what);
    expect(report.trigger.kind).toBe('preemption');
    expect(cited.join('\n')).toMatch(/PreemptionByScheduler[^]*Preempted/);
    expect(judged(without(sightings, 'events')).trigger.kind).toBe('preemption');
  });

  it('38: an owner deleted in the background is gone before the pod is marked, and no Event names it', async () => {
    const sightings = await recorded('owner-deleted');
    expect(judged(sightings).trigger.kind).toBe('owner-deleted');
    expect(judged(without(sightings, 'events', 'owner-events')).trigger.kind).toBe('owner-deleted');
    expect(judged(without(sightings, 'owner')).trigger.kind).toBe('unknown');
  });
});
