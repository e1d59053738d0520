/** A container ends by itself before the deletion while its kubelet is busy: its last status before it says running. */
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { alone, editing, type Raw } from '../helpers/cases.ts';
import { statusesIn } from '../helpers/raw-edits.ts';
import { judgeStory } from '../helpers/simulated.ts';
import { dies } from '../helpers/story-changes.ts';
import { withoutEvents, withoutLeases } from '../helpers/views.ts';
import { plainStory } from '../sim/plain-story.ts';

const story = plainStory({
  ...alone({ app: { ...dies, ownExit: { atMs: -1100, code: 0 } } }),
  faults: [{ kind: 'freeze', atMs: -1200, forMs: 2000 }],
});

/** The status that acknowledges the deletion shows the exit too, as after a restart of another container. */
const acknowledgedWithExit = (all: readonly RawObservation[]): RawObservation[] =>
  all.filter((one) => {
    if (one.kind !== 'changed' || one.stream !== 'pod') return true;
    const pod = one.object as Raw;
    return pod.status['observedGeneration'] !== 2 || !statusesIn(pod).some(({ state }) => 'running' in state);
  });

it('without Events and Leases the exit may lie before the deletion', () => {
  expect(judgeStory(story, (all) => acknowledgedWithExit(withoutLeases(withoutEvents(all)))).wrong).toEqual([]);
});

it('the acknowledging status shows that it ended at most a relist before the deletion', () => {
  const { report } = judgeStory(story, (all) => withoutLeases(withoutEvents(all)));
  expect(report.assumes).toContainEqual({ name: 'relist', seconds: 1 });
  const accepted = Date.parse(report.marks.find(({ id }) => id === 'accepted')?.at.earliest ?? '');
  const exit = report.containers[0]?.exit?.at;
  expect(accepted - Date.parse(exit?.earliest ?? '')).toBe(1000);
});

/** It exits as it is stopped, in the same second: it may have ended just before, as it did in earlier runs. */
const endsAtOnce = plainStory(alone({ app: { ...dies, onSignal: { kind: 'exits', afterMs: 20, code: 0 } } }));
const restarted = (all: readonly RawObservation[]): RawObservation[] =>
  editing(all, 'pod', (pod) => {
    for (const status of statusesIn(pod)) status['restartCount'] = 3;
    return pod;
  });

it.each([
  { before: 'never', signal: true, view: undefined },
  { before: 'before', signal: false, view: restarted },
])('a container that $before ended by itself: its stop signal is claimed: $signal', ({ signal, view }) => {
  const { report, wrong } = judgeStory(endsAtOnce, view);
  expect(wrong).toEqual([]);
  expect(report.containers[0]?.stopSignal !== undefined).toBe(signal);
});
