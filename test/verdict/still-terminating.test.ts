/** A pod that is still terminating at --timeout is stuck, whatever its containers did: word, headline and icon say so. */
import { expect, it } from 'vitest';
import { headlineOf, wordOf } from '../../src/verdict/headline.ts';
import { iconOf } from '../../src/output/text/card.ts';
import { reportNamed } from '../output/helpers/reports.ts';

it('the first words of a killed pod that finalizers hold are about what is waited for', () => {
  const { timeline, verdict } = reportNamed('sigkill-after-grace');
  const marks = timeline.marks.filter(({ name }) => name !== 'removed');
  const stuck = { ...verdict, exitCode: 3 };
  const input = { timeline: { ...timeline, marks }, verdict: stuck, cause: undefined };
  expect(wordOf(input.timeline, stuck)).toBe('Stuck');
  expect(headlineOf(input).brief).toMatch(
    /^still terminating after \d+s: waiting for .*; app ignored SIGTERM .*\(exit 137\)/,
  );
  expect(iconOf({ verdict: stuck })).toMatchObject({ symbol: 'bad' });
});
