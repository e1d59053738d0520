/** No status shows the exit, only the end of the log, and the log's connection was broken for some time. */
import { describe, expect, it } from 'vitest';
import { plainStory } from '../sim/plain-story.ts';
import type { AppStory } from '../sim/story.ts';
import { simulate } from '../sim/simulate.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { adding, alone, editing, judged, markOf, storyObservations } from '../helpers/cases.ts';
import { podBefore } from '../helpers/raw-edits.ts';

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
