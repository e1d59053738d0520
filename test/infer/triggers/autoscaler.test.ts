/** A HorizontalPodAutoscaler's Event has the new number of replicas, but not the workload: when is the HPA named? */
import { expect, it } from 'vitest';
import { adding, changed, changesOf, eventOf, judged, storyObservations } from '../../helpers/cases.ts';
import { plainStory } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';

const owner: Story['owner'] = { kind: 'deployment', name: 'api', replicas: 3, readyAfterMs: 500 };
/** The Deployment scales down to two replicas. */
const scaled = storyObservations({ ...plainStory(), owner, trigger: { kind: 'scale-down', atMs: 1240 } });
const loweredAt = changesOf(scaled, 'owner').find(({ object }) => object['kind'] === 'Deployment')?.at ?? NaN;

const rescaled = (name: string, message: string, at = loweredAt - 5): RawObservation => {
  const about = { kind: 'HorizontalPodAutoscaler', name };
  const component = 'horizontal-pod-autoscaler';
  return changed(at, 'owner-events', eventOf(about, { reason: 'SuccessfulRescale', message, component }, { at }));
};

const noteOf = (...events: RawObservation[]) => judged(adding(scaled, ...events)).trigger;

it('the report names the HPA that set exactly the number that the Deployment then wants', () => {
  const { kind, note, evidence } = noteOf(rescaled('web-hpa', 'New size: 2; reason: All metrics below target'));
  expect([kind, note]).toEqual(['scale-down', 'by HorizontalPodAutoscaler web-hpa']);
  expect(evidence.length).toBeGreaterThan(judged(scaled).trigger.evidence.length);
});

it.each([
  ['set another number', [rescaled('web-hpa', 'New size: 5; reason: cpu above target')]],
  [
    'set the number long before',
    [rescaled('web-hpa', 'New size: 2; reason: All metrics below target', loweredAt - 60_000)],
  ],
  ['reports no number', [rescaled('web-hpa', 'New size: two')]],
  [
    'is one of two that set the number',
    [rescaled('a', 'New size: 2; reason: x'), rescaled('b', 'New size: 2; reason: x', loweredAt - 6)],
  ],
])('the report names no HPA that %s', (_, events) => {
  expect(noteOf(...events)).toMatchObject({ kind: 'scale-down' });
  expect(noteOf(...events).note).toBeUndefined();
});
