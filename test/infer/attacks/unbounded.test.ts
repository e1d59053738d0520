/** What somebody did who wanted an exact number of what nothing bounds: they came late, under clocks that differ. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import type { ExitReport } from '../../../src/model/report.ts';
import {
  alone,
  attached,
  changesOf,
  deaf,
  editing,
  judged,
  listed,
  markOf,
  markedIn,
  stampOf,
  told,
} from '../../helpers/cases.ts';
import { kubelet, pod, somebody } from '../../helpers/story-changes.ts';

const now: Partial<Story> = { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 1 } };
const ahead = 60_000;
const still = { offsetMs: 0, driftPpm: 0 };
const apart: Partial<Story> = {
  clocks: { api: { offsetMs: ahead, driftPpm: 0 }, node: still, controller: still, client: still },
};

/** Attached so many ms after the deletion; `offset`: the API server's clock in its Dates, undefined for no Dates. */
function late(all: readonly Sighting[], afterMs: number, offset?: number): Sighting[] {
  const start = markedIn(all).at + afterMs;
  const last = changesOf(all, 'pod').findLast(({ at }) => at < start);
  const date = (at: number): Sighting[] =>
    offset === undefined
      ? []
      : [{ at: at + 1, kind: 'dated', sentAt: at, date: Math.floor((at + offset) / 1000) * 1000 }];
  return [
    ...all.filter((one) => one.kind === 'began').map((one) => ({ ...one, at: start })),
    ...date(start),
    listed(start + 5, 'pod', last?.object),
    ...all.filter((one) => one.at >= start + 5 && one.kind !== 'dated'),
  ];
}

const seconds = (report: ExitReport, name: string) => report.phases.find((phase) => phase.name === name)?.seconds;

describe('a pod that was created by a clock ahead of ours', () => {
  const all = attached(told({ ...alone({ app: drains(1500) }), ...now, ...apart }));
  const accepted = markedIn(all).at - 4;
  const young = editing(all, 'pod', (object) => {
    object.metadata['creationTimestamp'] = stampOf(accepted + ahead - 30_000);
    return object;
  });

  it('was not deleted in the moment in which we came', () => {
    const { at } = markOf(judged(late(young, 1200, ahead)), 'accepted');
    expect(Date.parse(at.earliest)).toBeLessThanOrEqual(accepted);
    expect(Date.parse(at.earliest)).toBeGreaterThan(accepted - 33_000);
  });

  it('may have been created at any time where nothing tells how far it is ahead', () => {
    const report = judged(late(young, 1200));
    const { at } = markOf(report, 'accepted');
    expect(Date.parse(at.earliest)).toBe(0);
  });
});

describe('a phase that nothing bounds from above', () => {
  const all = attached(told({ ...alone({ app: deaf }), ...now, ...kubelet({ noticeMs: [4000, 4000] }) }));

  it('lasted at most from its earliest start to its latest end', () => {
    const report = judged(late(all, 5000, 0));
    const notice = report.phases.find(({ name }) => name === 'notice');
    const [from, to] = [Date.parse(notice?.start.earliest ?? ''), Date.parse(notice?.end.latest ?? '')];
    expect(notice?.seconds.min).toBeLessThanOrEqual(4);
    expect(notice?.seconds.max).toBeGreaterThanOrEqual(4);
    expect(notice?.seconds.max).toBeCloseTo((to - from) / 1000, 1);
  });

  it('is left out where no end of it is known either', () => {
    expect(seconds(judged(late(all, 5000)), 'notice')).toBeUndefined();
  });

  it('of a pod that finalizers hold was not over in the time that we saw of it', () => {
    const held = told({
      ...pod({ state: 'unscheduled', finalizers: ['example.com/audit'] }),
      ...somebody,
      later: [{ kind: 'remove-finalizers', atMs: 10_000 }],
    });
    const finalize = seconds(judged(late(attached(held), 1500, 0)), 'finalize');
    expect(finalize?.max).toBeGreaterThanOrEqual(10);
    expect(finalize?.min).toBeLessThanOrEqual(10);
  });
});
