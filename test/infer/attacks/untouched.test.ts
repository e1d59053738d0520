/** What somebody did who wanted a false sentence in a report: hooks and signals of which no Killing tells. */
import { describe, expect, it } from 'vitest';
import { drains, plainContainer, plainStory } from '../../sim/plain-story.ts';
import type { AppStory, Story } from '../../sim/story.ts';
import {
  adding,
  alone,
  containerOf,
  eventOf,
  findingCodes,
  hasMark,
  judged,
  listed,
  markedIn,
  storyReport,
  told,
} from '../../helpers/cases.ts';
import { judgeStory } from '../../helpers/simulated.ts';
import { kubelet, somebody } from '../../helpers/story-changes.ts';

const noKilling: Partial<Story> = { events: { queueMs: [2, 6], dropped: ['Killing'] } };
const namespaceEnds: Partial<Story> = { trigger: { kind: 'namespace-deletion', atMs: 1240 } };
const failing = alone({ preStop: { kind: 'exec', takesMs: 500, fails: true } });

/** It was there before this run began: an Event about the container, so many ms before the deletion. */
function afterwards(change: Partial<Story>, reason: string, { ago, count = 1 }: { ago: number; count?: number }) {
  const sightings = told(change);
  const { at, object } = markedIn(sightings);
  const about = { kind: 'Pod', name: object.metadata.name, uid: object.metadata.uid, container: 'app' };
  const event = eventOf(
    about,
    { reason, message: '' },
    { at: at - ago, count, firstAt: at - ago - 1000 * (count - 1) },
  );
  return judged(adding(sightings, listed((sightings[0]?.at ?? 0) + 40, 'events', event)));
}

describe('a line from before the deletion', () => {
  const reloads = alone({
    app: { ...drains(3000), saysOnSignal: undefined, lines: [{ atMs: -800, text: 'SIGHUP received, reloading' }] },
  });

  it.each([
    ['its Killing was lost', { ...reloads, ...somebody, ...noKilling }],
    ['its namespace is deleted', { ...reloads, ...namespaceEnds }],
  ])('is not the stop signal (%s)', (_why, story) => {
    expect(judgeStory(plainStory(story)).wrong).toEqual([]);
  });
});

describe('a FailedPreStopHook', () => {
  const fine = alone({ preStop: { kind: 'exec', takesMs: 500, fails: false } });

  it.each([1_800_000, 90_000])('from %i ms before the deletion is not of this exit, though no Killing tells', (ago) => {
    const report = afterwards({ ...fine, ...noKilling }, 'FailedPreStopHook', { ago });
    expect(containerOf(report).preStop?.outcome).not.toBe('failed');
    expect(findingCodes(report)).not.toContain('prestop-failed');
  });

  it('that follows the deletion is, though no Killing tells', () => {
    const report = storyReport({ ...failing, ...noKilling });
    expect(containerOf(report).preStop?.outcome).toBe('failed');
  });
});

describe('a container that ended before a busy kubelet began', () => {
  const ending = (code: number, atMs = 700): AppStory => ({
    onSignal: { kind: 'exits', afterMs: 300, code: 0 },
    ownExit: { atMs, code },
    lost: false,
    lines: [],
  });
  const busy = (ms: number) => kubelet({ noticeMs: [ms, ms] });

  it.each([
    ['no hook', alone({ app: ending(1) })],
    ['no hook, code 143', alone({ app: ending(143) })],
    ['a sleep', alone({ app: ending(0), preStop: { kind: 'sleep', seconds: 5 } })],
    ['an exec', alone({ app: ending(0), preStop: { kind: 'exec', takesMs: 800, fails: false } })],
    ['a tcpSocket', alone({ app: ending(0), preStop: { kind: 'tcpSocket' } })],
  ])('had neither hook nor signal (%s)', (_hook, change) => {
    const { report, wrong } = judgeStory(plainStory({ ...change, ...busy(2000) }));
    expect(wrong).toEqual([]);
    expect(containerOf(report).preStop?.outcome ?? 'unknown').toBe('unknown');
    expect(hasMark(report, 'prestop-ended')).toBe(false);
    expect(containerOf(report).stopSignal).toBeUndefined();
    expect(containerOf(report).outcome).not.toBe('signalled');
    expect(findingCodes(report).filter((code) => code.startsWith('prestop'))).toEqual([]);
  });

  it('had no hook for as long as the kubelet was busy', () => {
    const app = ending(0, 8000);
    const report = storyReport({ ...alone({ app, preStop: { kind: 'sleep', seconds: 6 } }), ...busy(15_000) });
    expect(containerOf(report).preStop?.outcome ?? 'unknown').toBe('unknown');
    expect(hasMark(report, 'prestop-ended')).toBe(false);
    expect(containerOf(report).stopSignal).toBeUndefined();
  });

  it('had none beside another that the kubelet stopped', () => {
    const containers = [plainContainer({ name: 'web' }), plainContainer({ name: 'worker', app: ending(139) })];
    const report = storyReport({ containers, ...busy(2000) });
    expect(containerOf(report, 'worker')).toMatchObject({ outcome: 'failed', exit: { code: 139 } });
    expect(containerOf(report, 'worker').stopSignal).toBeUndefined();
    expect(containerOf(report, 'web').stopSignal).toBeDefined();
  });
});

describe('the silence of a hook', () => {
  it('says nothing in a namespace that is deleted', () => {
    const lasting = alone({ app: drains(4000), preStop: { kind: 'exec', takesMs: 500, fails: true } });
    expect(containerOf(storyReport({ ...lasting, ...namespaceEnds })).preStop?.outcome ?? 'unknown').toBe('unknown');
  });

  it('says nothing once probe failures have spent what the kubelet may tell', () => {
    const starved: Partial<Story> = { ...failing, events: { queueMs: [2, 6], dropped: ['FailedPreStopHook'] } };
    const outcome = (count: number) =>
      containerOf(afterwards(starved, 'Unhealthy', { ago: 3000, count })).preStop?.outcome;
    expect(outcome(140)).toBe('unknown');
    expect(outcome(3)).toBe('completed');
  });
});
