/** Traps 7 to 13 for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import {
  after,
  alone,
  containerOf,
  editing,
  findingCodes,
  judged,
  markOf,
  recorded,
  storyReport,
  told,
} from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { judgeStory } from '../../helpers/simulated.ts';
import { asked, kubelet } from '../../helpers/story-changes.ts';

describe('what containers tell', () => {
  it('7: a container that was not running gets no Killing, and its older end is not this deletion’s', () => {
    const sightings = told({
      containers: [plainContainer(), plainContainer({ name: 'broken', state: { kind: 'crashed', code: 137 } })],
    });
    const ended = {
      exitCode: 137,
      reason: 'Error',
      startedAt: '2026-11-20T22:00:00Z',
      finishedAt: '2026-11-20T22:00:09Z',
    };
    const between = editing(sightings, 'pod', (object) => {
      for (const status of statusesIn(object)) if (status['name'] === 'broken') status['state'] = { terminated: ended };
      return object;
    });
    for (const report of [judged(sightings), judged(between)]) {
      expect(containerOf(report, 'broken')).toEqual({ name: 'broken', kind: 'container', outcome: 'not-running' });
      expect(report.verdict.outcome).toBe('graceful');
    }
  });

  it('8: all states change together at the end, so exits are ordered by when they happened', async () => {
    const report = judged(await recorded('multi-container'));
    expect(report.marks.filter(({ name }) => name === 'exited').map(({ subject }) => subject)).toEqual([
      'worker',
      'web',
      'legacy',
    ]);
  });

  it('9: a sidecar gets its Killing with the others and its signal after them', () => {
    const report = storyReport({
      containers: [plainContainer(), plainContainer({ name: 'proxy', kind: 'sidecar', app: drains(200) })],
    });
    expect(after(report, markOf(report, 'stopping/proxy').at).latest).toBeLessThan(0.2);
    expect(after(report, containerOf(report, 'proxy').stopSignal).latest).toBeGreaterThan(1);
    expect(containerOf(report, 'proxy').outcome).toBe('completed');
  });

  it('10: Killing is not the signal where a hook comes first', () => {
    const slept = storyReport(alone({ preStop: { kind: 'sleep', seconds: 3 } }));
    expect(after(slept, markOf(slept, 'stopping/app').at).latest).toBeLessThan(0.2);
    expect(after(slept, containerOf(slept).stopSignal).earliest).toBeGreaterThan(2.9);
    const exec = storyReport(alone({ preStop: { kind: 'exec', takesMs: 3000, fails: false }, logged: false }));
    expect(after(exec, containerOf(exec).stopSignal).latest).toBeGreaterThan(3);
  });

  it('11: a hook that failed says so in time; one that overran fails later and was cut off; tcpSocket always fails', () => {
    const outcome = (change: Partial<Story>) => containerOf(storyReport(change)).preStop?.outcome;
    expect(outcome(alone({ preStop: { kind: 'exec', takesMs: 500, fails: true } }))).toBe('failed');
    expect(outcome(alone({ preStop: { kind: 'tcpSocket' } }))).toBe('failed');
    const overran = storyReport(alone({ preStop: { kind: 'exec', takesMs: null, fails: false } }));
    expect(containerOf(overran).preStop?.outcome).toBe('cut-off');
    expect(findingCodes(overran)).not.toContain('prestop-failed');
  });

  it('12: a hook runs under grace 0 too, for a second, and again when a kill has failed', () => {
    const forced = storyReport(alone({ preStop: { kind: 'sleep', seconds: 8 } }, asked(0)));
    const hook = containerOf(forced).preStop;
    expect(hook?.outcome).not.toBe('completed');
    expect(after(forced, hook?.end).latest).toBeLessThan(8);
    const again = plainStory(alone({ preStop: { kind: 'sleep', seconds: 2 } }, kubelet({ failedKills: 1 })));
    expect(judgeStory(again).wrong).toEqual([]);
  });

  it('13: a pod may outlive its deadline by two or three seconds and is not stuck', () => {
    const hook = { kind: 'sleep', seconds: 10 } as const;
    const report = storyReport(alone({ preStop: hook, app: drains(1500) }));
    expect(after(report, markOf(report, 'removed').at).earliest).toBeGreaterThan(11);
    expect(report.verdict.outcome).not.toBe('stuck');
    expect(containerOf(report)).toMatchObject({ outcome: 'completed' });
  });
});
