/** What the last line and the end of a log show of an exit: they can be late, broken, or all that there is. */
import type { RawObservation } from '../../src/model/observation.ts';
import { adding, alone, editing, ignoresSignal, judged, markOf, storyObservations } from '../helpers/cases.ts';
import { podBefore } from '../helpers/raw-edits.ts';
import { judgeStory } from '../helpers/simulated.ts';
import { withoutLogs } from '../helpers/views.ts';
import { drains, plainContainer, plainStory } from '../sim/plain-story.ts';
import { simulate } from '../sim/simulate.ts';
import type { AppStory } from '../sim/story.ts';
import { describe, expect, it } from 'vitest';

describe('no status shows the exit, only the end of a log whose connection was broken for some time', () => {
  const app: AppStory = { onSignal: { kind: 'ignores' }, lost: false, lines: [], ownExit: { atMs: 3000, code: 1 } };
  /** The container exits by itself during its hook, and no status reports that before the pod is removed. */
  const story = alone(
    { app, preStop: { kind: 'sleep', seconds: 5 } },
    { pod: { ...plainStory().pod, graceSeconds: 30 } },
  );
  const running = podBefore(storyObservations(story)).status['containerStatuses'];
  const rawObservations = editing(storyObservations(story), 'pod', (pod) => ({
    ...pod,
    status: { ...pod.status, containerStatuses: running },
  }));
  const exited = Date.parse(
    String(simulate(plainStory(story)).expected.instants.find((one) => one.name === 'exited')?.client),
  );

  const delayed = (by: number): RawObservation[] =>
    adding(rawObservations.map((one) => (one.kind === 'log-ended' ? { ...one, at: one.at + by } : one)));
  const endOf = (all: readonly RawObservation[]): number => all.find((one) => one.kind === 'log-ended')?.at ?? NaN;

  /** If the stop signal may be later than the end of the log, the report has no time for the exit. */
  function expectContained(all: readonly RawObservation[]): void {
    const report = judged(all);
    expect(report.verdict.outcome).not.toBe('graceful');
    if (!report.marks.some(({ id }) => id === 'exited/app')) return;
    const exit = markOf(report, 'exited/app');
    expect(Date.parse(String(exit.at.earliest))).toBeLessThanOrEqual(exited);
    expect(Date.parse(String(exit.at.latest)) + 1).toBeGreaterThanOrEqual(exited);
  }

  describe('the end of a log', () => {
    it('does not date the exit if it comes before the stop signal', () => {
      expect(judged(rawObservations).marks.map(({ id }) => id)).not.toContain('exited/app');
    });

    it('allows for the time in which podexit itself stood still', () => {
      const late = delayed(9000);
      const resumed: RawObservation = { at: endOf(late), kind: 'resumed', stream: 'logs', since: endOf(late) - 10_000 };
      const index = late.findIndex((one) => one.kind === 'log-ended');
      expectContained(late.toSpliced(index, 0, resumed));
    });

    it('allows for the time before its connection was reopened', () => {
      const late = delayed(9000);
      const cut: RawObservation = { at: endOf(late) - 9500, kind: 'log-ended', container: 'app', clean: false };
      const again: RawObservation = { at: endOf(late) - 100, kind: 'log-opened', container: 'app' };
      expectContained(adding(late, cut, again));
    });
  });
});

describe('a container that prints very much before its exit', () => {
  const story = alone({
    app: {
      onSignal: { kind: 'exits', afterMs: 4000, code: 0 },
      lost: false,
      lines: [{ atMs: 3980, text: 'the last one' }],
    },
  });

  /** ms since the epoch, if each line came after so many others. */
  const earliestExit = (skipped: number): number => {
    const lines = storyObservations(story).map((one) => (one.kind === 'line' ? { ...one, skipped } : one));
    return Date.parse(judged(adding(lines)).containers[0]?.exit?.at.earliest ?? '');
  };

  it.each([
    [5, 'as exactly'],
    [50, 'less exactly'],
    [4000, 'less exactly'],
  ])('a last line after %i others proves the exit %s', (skipped, how) => {
    expect(earliestExit(skipped) < earliestExit(0) - 300).toBe(how === 'less exactly');
  });
});

describe('a runtime that stood still', () => {
  const app: AppStory = { onSignal: { kind: 'exits', afterMs: 4000, code: 0 }, lost: false, lines: [] };
  const story = alone(
    { app, preStop: { kind: 'sleep', seconds: 5 } },
    { pod: { ...plainStory().pod, graceSeconds: 30 } },
  );

  /** ms, if all that came after the exit came so much later. */
  const signalUncertainty = (delayMs: number): number => {
    const all = storyObservations(story);
    const logEnd = all.find(({ kind }) => kind === 'log-ended')?.at ?? NaN;
    const delayed = all.map((one) => (one.at < logEnd ? one : { ...one, at: one.at + delayMs }));
    const { earliest, latest } = judged(adding(delayed)).containers[0]?.stopSignal ?? { earliest: '', latest: '' };
    return Date.parse(latest) - Date.parse(earliest);
  };

  it('bounds a stop signal by the exit alone if a log ended late', () => {
    expect(signalUncertainty(0)).toBeLessThan(2000);
    expect(signalUncertainty(9000)).toBeGreaterThan(4000);
  });
});

/** The kubelet reports no exit of the app, as the other container still runs. The forced DELETE comes after 3 s. */
const forced = (drainMs: number) =>
  plainStory({
    containers: [plainContainer({ app: drains(drainMs) }), plainContainer({ name: 'worker', app: ignoresSignal })],
    later: [{ kind: 'delete', atMs: 3000, graceSeconds: 0 }],
  });

it.each([
  { what: 'just before', drainMs: 2990, view: undefined, probable: true, summary: 'app and worker probably still ran' },
  { what: 'long after', drainMs: 8000, view: undefined, probable: undefined, summary: 'app and worker still ran' },
  { what: 'unseen', drainMs: 8000, view: withoutLogs, probable: true, summary: 'app and worker probably still ran' },
])('a container that ended $what the removal: probable is $probable', ({ drainMs, view, probable, summary }) => {
  const { report, wrong } = judgeStory(forced(drainMs), view);
  expect(wrong).toEqual([]);
  expect(report.containers[0]).toMatchObject({ outcome: 'abandoned' });
  expect(report.containers[0]?.probable).toBe(probable);
  expect(report.summary).toContain(summary);
});
