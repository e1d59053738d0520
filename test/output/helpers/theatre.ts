/** Plays observations into the live view in virtual time, and records each write with its time. */
import { createLive } from '../../../src/output/text/live.ts';
import type { LiveView } from '../../../src/output/text/live.ts';
import type { Style } from '../../../src/output/palette.ts';
import { reduce } from '../../../src/model/reduce.ts';
import type { Observation } from '../../../src/model/observation.ts';
import type { Trace } from '../../../src/model/trace.ts';
import { emptyTrace } from '../../../src/model/trace.ts';
import { timelineOf } from '../../../src/infer/conclude.ts';
import { mustRender } from '../../helpers/recordings.ts';
import type { Happening } from './screen.ts';

export interface Play {
  columns: number;
  rows: number;
  style: Style;
  /** Stop this many seconds after the request or the first observation of the deletion; absent: play to the end. */
  until?: number;
  resize?: { at: number; columns: number; rows: number };
}

export interface Played {
  happenings: Happening[];
  /** The time of each write, ms. */
  writtenAt: number[];
  live: LiveView;
}

export function play(observations: readonly Observation[], { columns, rows, style, until, resize }: Play): Played {
  const size = { columns, rows };
  const happenings: Happening[] = [];
  const writtenAt: number[] = [];
  const clock = virtualClock(observations[0]?.at ?? 0);
  const live = createLive({
    write: (text) => {
      happenings.push({ kind: 'write', text });
      writtenAt.push(clock.now());
    },
    style,
    columns: () => size.columns,
    rows: () => size.rows,
    clock,
    timestamps: 'relative',
  });
  const zero = zeroOf(observations);
  const resizing = resize && {
    at: zero + resize.at * 1000,
    run: () => {
      Object.assign(size, { columns: resize.columns, rows: resize.rows });
      happenings.push({ kind: 'resize', columns: resize.columns, rows: resize.rows });
      live.resize();
    },
  };
  if (resizing) clock.setTimeout(resizing.run, Math.max(0, resizing.at - clock.now()));
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

function virtualClock(start: number) {
  let now = start;
  let timers: { at: number; callback: () => void }[] = [];
  return {
    now: () => now,
    setTimeout: (callback: () => void, ms: number) => {
      const timer = { at: now + ms, callback };
      timers.push(timer);
      return () => void (timers = timers.filter((one) => one !== timer));
    },
    advanceTo: (time: number) => {
      for (let next = soonest(); next && next.at <= time; next = soonest()) {
        const due = next;
        timers = timers.filter((one) => one !== due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = Math.max(now, time);
    },
  };

  function soonest() {
    return timers.sort((a, b) => a.at - b.at)[0];
  }
}
