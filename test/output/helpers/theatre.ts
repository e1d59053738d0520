/** Plays observations into the live view in virtual time, and records each write with its time. */
import { createLive } from '../../../src/output/text/live.ts';
import { penFor, type Style } from '../../../src/output/palette.ts';
import { reduce } from '../../../src/model/reduce.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { Trace } from '../../../src/model/trace.ts';
import { emptyTrace } from '../../../src/model/trace.ts';
import { timelineOf } from '../../../src/infer/conclude.ts';
import { mustRender } from '../../helpers/recordings.ts';
import { createVirtualClock } from '../../demo/helpers/virtual-clock.ts';
import type { Happening } from './screen.ts';

export interface Play {
  columns: number;
  rows: number;
  style: Style;
  /** Stop this many seconds after the request or the first observation of the deletion; absent: play to the end. */
  until?: number;
  resize?: { at: number; columns: number; rows: number };
}

export function play(observations: readonly Observation[], { columns, rows, style, until, resize }: Play) {
  const size = { columns, rows };
  const happenings: Happening[] = [];
  /** The time of each write, ms. */
  const writtenAt: number[] = [];
  const clock = createVirtualClock(observations[0]?.at ?? 0);
  const live = createLive({
    write: (text) => {
      happenings.push({ kind: 'write', text });
      writtenAt.push(clock.now());
    },
    pen: penFor(style),
    columns: () => size.columns,
    rows: () => size.rows,
    clock,
    timestamps: 'relative',
  });
  const zero = zeroOf(observations);
  const resizeNow = ({ at: _, ...next }: NonNullable<Play['resize']>): void => {
    Object.assign(size, next);
    happenings.push({ kind: 'resize', ...next });
    live.resize();
  };
  if (resize) clock.setTimeout(() => resizeNow(resize), Math.max(0, zero + resize.at * 1000 - clock.now()));
  const endsAt = until === undefined ? Infinity : zero + until * 1000;
  let trace: Trace = emptyTrace;
  for (const observation of observations) {
    if (observation.at > endsAt) break;
    clock.advanceTo(observation.at);
    trace = reduce(trace, observation);
    live.step(timelineOf(trace), observation);
  }
  if (until === undefined) live.end(mustRender(trace));
  else clock.advanceTo(endsAt);
  return { happenings, writtenAt, live };
}

function zeroOf(observations: readonly Observation[]): number {
  let trace: Trace = emptyTrace;
  for (const observation of observations) {
    trace = reduce(trace, observation);
    if (observation.kind === 'requested' || trace.deletion) return observation.at;
  }
  return observations[0]?.at ?? 0;
}
