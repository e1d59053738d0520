/** Plays observations into the live view in virtual time, and records each write with its time. */
import { createLive } from '../../../src/output/text/live.ts';
import type { Style } from '../../../src/output/palette.ts';
import type { Output } from '../../../src/output/ports.ts';
import type { LookOptions } from '../../../src/output/view.ts';
import type { Played } from '../../helpers/recordings.ts';
import { createVirtualClock } from '../../demo/helpers/virtual-clock.ts';
import type { Happening } from './screen.ts';
import { outputOf, portsOn } from './ports.ts';

export interface Play {
  columns: number;
  rows: number;
  style: Style;
  /** Stop this many seconds after the request or the first observation of the deletion; absent: play to the end. */
  until?: number;
  resize?: { at: number; columns: number; rows: number };
}

export function play(played: Played, { columns, rows, style, until, resize }: Play) {
  const size = { columns, rows };
  const happenings: Happening[] = [];
  /** The time of each write, ms. */
  const writtenAt: number[] = [];
  const clock = createVirtualClock(played.steps[0]?.observation.at ?? 0);
  let onResize = (): void => {};
  const stdout: Output = {
    ...outputOf((text) => {
      happenings.push({ kind: 'write', text });
      writtenAt.push(clock.now());
    }, size),
    onResize: (listener) => {
      onResize = listener;
      return () => {};
    },
  };
  const look: LookOptions = {
    color: style.color ? 'always' : 'never',
    ascii: !style.unicode,
    timestamps: 'relative',
    logs: false,
  };
  const live = createLive(look, portsOn(stdout, clock));
  const zero = zeroOf(played);
  const resizeNow = ({ at: _, ...next }: NonNullable<Play['resize']>): void => {
    Object.assign(size, next);
    happenings.push({ kind: 'resize', ...next });
    onResize();
  };
  if (resize) clock.setTimeout(() => resizeNow(resize), Math.max(0, zero + resize.at * 1000 - clock.now()));
  const endsAt = until === undefined ? Infinity : zero + until * 1000;
  for (const { observation, timeline } of played.steps) {
    if (observation.at > endsAt) break;
    clock.advanceTo(observation.at);
    live.step(timeline, observation);
  }
  if (until === undefined) live.end(played.report);
  else clock.advanceTo(endsAt);
  return { happenings, writtenAt, live };
}

function zeroOf({ steps }: Played): number {
  const first = steps.find(({ observation, trace }) => observation.kind === 'requested' || trace.deletion) ?? steps[0];
  return first?.observation.at ?? 0;
}
