/** A container that prints very much before its exit: the runtime reads the last lines from a full pipe, so it stamps them late. */
import { expect, it } from 'vitest';
import { adding, alone, judged, storyObservations } from '../helpers/cases.ts';

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
