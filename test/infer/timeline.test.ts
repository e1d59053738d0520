/** Rules that the numeric timeline obeys in every state of every recording. */
import { expect, it } from 'vitest';
import { timelineOf } from '../../src/infer/conclude.ts';
import type { Interval, Timeline } from '../../src/infer/timeline.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { reduce } from '../../src/model/reduce.ts';
import { observationsOf, recordingNames, rawObservationsOf } from '../helpers/recordings.ts';

/** Sums of fractions differ by rounding (ms). */
const tick = 0.01;

it.each(recordingNames)(
  '%s: every shown time lies in its interval, and no effect is shown before its cause',
  async (name) => {
    let trace = emptyTrace;
    let timelines = 0;
    for (const observation of observationsOf(await rawObservationsOf(name))) {
      trace = reduce(trace, observation);
      const timeline = timelineOf(trace);
      if (!timeline) continue;
      timelines += 1;
      for (const { id, at } of timeline.marks) expect(isInside(at), `${id} at ${observation.seq}`).toBe(true);
      expect(reversed(timeline)).toEqual([]);
    }
    expect(timelines).toBeGreaterThan(0);
  },
);

const isInside = ({ shown, earliest, latest }: Interval): boolean =>
  shown >= earliest - tick && shown <= latest + tick && Number.isFinite(shown);

const causes = [
  ['stopping', 'stop-signal'],
  ['prestop-ended', 'stop-signal'],
  ['stop-signal', 'exited'],
  ['kill', 'exited'],
  ['containers-done', 'removed'],
  ['final-delete', 'removed'],
] as const;

/** Pairs of marks shown in the wrong order although their intervals allow the right one. */
const reversed = ({ marks }: Timeline): string[] =>
  causes.flatMap(([cause, effect]) =>
    marks.flatMap((from) =>
      marks.flatMap((to) => {
        const isPair = from.name === cause && to.name === effect && from.subject === to.subject;
        const mayFollow = from.at.earliest <= to.at.latest;
        return isPair && mayFollow && from.at.shown > to.at.shown + tick ? [`${from.id} after ${to.id}`] : [];
      }),
    ),
  );
