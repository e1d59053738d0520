/** A container ends by itself before the deletion while its kubelet is busy: its last status before it says running. */
import { expect, it } from 'vitest';
import type { RawObservation } from '../../src/model/observation.ts';
import { alone, type Raw } from '../helpers/cases.ts';
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
