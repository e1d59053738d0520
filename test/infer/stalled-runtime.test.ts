/** A runtime that stood still: a log ends long after the exit that a status reports, so a signal may have been late too. */
import { expect, it } from 'vitest';
import { plainStory } from '../sim/plain-story.ts';
import type { AppStory } from '../sim/story.ts';
import { adding, alone, judged, storyObservations } from '../helpers/cases.ts';

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
