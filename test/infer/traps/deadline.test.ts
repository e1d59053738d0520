/** Traps 1 to 6 of the notes on signals for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import {
  after,
  alone,
  changesOf,
  containerOf,
  deaf,
  findingCodes,
  hasMark,
  judged,
  markOf,
  markedIn,
  recorded,
  storyReport,
} from '../../helpers/cases.ts';
import { kubelet, pod } from '../../helpers/story-changes.ts';

describe('the deadline and the grace', () => {
  it('1: deletionTimestamp is neither the request nor the kill', () => {
    const report = storyReport(alone({ app: deaf }, kubelet({ noticeMs: [2500, 2500] })));
    const deadline = (Date.parse(report.grace.deadline) - Date.parse(markOf(report, 'accepted').at.latest)) / 1000;
    expect(deadline).toBeGreaterThan(8.9);
    expect(after(report, markOf(report, 'accepted').at).latest).toBeLessThan(0.1);
    const kill = after(report, containerOf(report).kill);
    expect(kill.earliest).toBeGreaterThan(deadline + 0.5);
    expect(kill.latest).toBeGreaterThan(12.4);
  });

  it('2: the last DELETE rewrites deadline and grace, so the first state with them counts', async () => {
    const sightings = await recorded('finalizer');
    const states = changesOf(sightings, 'pod').map((one) => one.object.metadata);
    const report = judged(sightings);
    const last = states.at(-1);
    expect(last?.['deletionGracePeriodSeconds']).toBe(0);
    expect(report.grace.effectiveSeconds).toBe(5);
    expect(Date.parse(report.grace.deadline)).toBe(
      Date.parse(String(markedIn(sightings).object.metadata['deletionTimestamp'])),
    );
    expect(report.grace.deadline).not.toBe(new Date(String(last?.['deletionTimestamp'])).toISOString());
  });

  it('3: a second DELETE with a shorter grace changes the object and not the running kill', () => {
    const shortened = storyReport(alone({ app: deaf }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 2 }] }));
    expect(after(shortened, containerOf(shortened).kill).earliest).toBeGreaterThan(9.9);
    expect(findingCodes(shortened)).toContain('grace-shortened-ignored');
    const forced = storyReport(alone({ app: deaf }, { later: [{ kind: 'delete', atMs: 3000, graceSeconds: 0 }] }));
    expect(forced.verdict.outcome).toBe('forced');
    expect(containerOf(forced)).toMatchObject({ outcome: 'abandoned' });
  });

  it('4: a removal with grace 0 is a MODIFIED and a DELETED, and the first is no progress of the kubelet', async () => {
    const report = judged(await recorded('force-delete'));
    expect(['containers-done', 'final-delete'].filter((name) => hasMark(report, name))).toEqual([]);
    // That the kubelet knows is said by its Killing, which comes after the object is gone.
    expect(markOf(report, 'acknowledged').at.evidence).toEqual(markOf(report, 'stopping/app').at.evidence);
    expect(report.verdict.outcome).toBe('forced');
  });

  it.each(['unscheduled', 'finished'] as const)('5: a pod that is %s has no kubelet phase at all', (state) => {
    const report = storyReport(pod({ state }));
    expect(report.verdict.outcome).toBe('removed');
    expect(
      report.phases.map(({ name }) => name).filter((name) => ['notice', 'prestop', 'drain'].includes(name)),
    ).toEqual([]);
    expect(findingCodes(report)).not.toContain('node-silent');
  });

  it('5: finalizers hold an unscheduled pod from its first DELETE on, which is its last one too', () => {
    const held = pod({ state: 'unscheduled', finalizers: ['example.com/audit'] });
    const report = storyReport({ ...held, later: [{ kind: 'remove-finalizers', atMs: 4000 }] });
    expect(report.verdict.outcome).toBe('removed');
    const finding = report.verdict.findings.find(({ code }) => code === 'finalizer-held');
    expect(finding?.message).toMatch(/held the unscheduled pod about [34](\.\d+)? s: example\.com\/audit/);
    expect(after(report, markOf(report, 'finalizing').at).latest).toBeLessThan(0.1);
    const phase = report.phases.find(({ name }) => name === 'finalize');
    expect(phase?.seconds.min).toBeGreaterThan(1);
    expect(phase?.seconds.max).toBeGreaterThanOrEqual(4);
    expect(findingCodes(report)).not.toContain('slow-cleanup');
  });

  it('6: the first state is the API server’s; that the kubelet has it is said by its status or its Killing, in either order', () => {
    const silent = storyReport({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 30_000 });
    expect(hasMark(silent, 'acknowledged')).toBe(false);
    expect(hasMark(silent, 'stopping')).toBe(false);
    const latest = (report: ReturnType<typeof judged>, id: string) => after(report, markOf(report, id).at).latest;
    const late = storyReport(kubelet({ noticeMs: [5, 5], ackMs: [300, 300] }));
    expect(latest(late, 'acknowledged')).toBe(latest(late, 'stopping/app'));
    const unsaid = storyReport({ events: { queueMs: [2, 6], dropped: ['Killing'] } });
    expect(latest(unsaid, 'acknowledged')).toBeLessThan(0.2);
    expect(unsaid.verdict.outcome).toBe('graceful');
  });
});
