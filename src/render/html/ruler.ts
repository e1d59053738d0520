/** The row of seconds with the grace period on it, and the lines that it sends through all lanes. */
import type { ExitReport } from '../../trace/report.ts';
import { millis, offsetRange } from '../offsets.ts';
import { row, upright } from './row.ts';
import type { Scale } from './scale.ts';
import { at, ticksOf, wide } from './scale.ts';
import type { Html } from './tag.ts';
import { join, tag } from './tag.ts';

export function ruler(scale: Scale, report: ExitReport): Html {
  const ticks = ticksOf(scale).map(({ seconds, label, level }) =>
    tag(
      'g',
      { class: `tick level-${level}` },
      tag('line', { x1: at(scale, seconds), x2: at(scale, seconds), y1: 14, y2: 20 }),
      tag('text', { x: at(scale, seconds), y: 10, 'text-anchor': 'middle' }, label),
    ),
  );
  return row('grace', `${report.grace.effectiveSeconds}s`, 'seconds after the request, against the grace period', 62, [
    ...ticks,
    ...graceBand(scale, report),
  ]);
}

/** Under the numbers of the ruler. */
const below = 22;

function graceBand(scale: Scale, report: ExitReport): Html[] {
  const { deadline, deadlineBeyond } = scale;
  if (deadline === undefined) return [];
  // The API prints whole seconds, so that the sum would begin before the request; a grace that was lowered began no later.
  const accepted = report.marks.find(({ name }) => name === 'accepted');
  const latest = (accepted && offsetRange(scale.zero, accepted.at)?.max) ?? Infinity;
  const begin = Math.max(0, Math.min(deadline - report.grace.effectiveSeconds, latest));
  const end = deadlineBeyond ? scale.to : deadline;
  const anchor = { x: at(scale, end), dx: -6, y: 55, 'text-anchor': 'end' };
  return [
    tag('rect', {
      class: 'grace',
      x: at(scale, begin),
      width: wide(scale, { min: begin, max: end }),
      y: 26,
      height: 10,
      rx: 5,
    }),
    ...(deadlineBeyond ? [] : [upright(scale, deadline, 'deadline', below)]),
    tag(
      'text',
      { ...anchor, class: 'grace-label' },
      deadlineBeyond ? `deadline +${deadline.toFixed(0)}s →` : 'deadline',
    ),
    ...killsOf(report, scale).flatMap((seconds) => [
      upright(scale, seconds, 'kill-line', below),
      tag('text', { class: 'kill-label', x: at(scale, seconds), dx: 6, y: 55 }, 'kill'),
    ]),
  ];
}

/** Lines through all lanes: where the API's grace ends, and where something was killed. */
export function guidesOf(report: ExitReport, scale: Scale): Html {
  const deadline =
    scale.deadline === undefined || scale.deadlineBeyond ? [] : [upright(scale, scale.deadline, 'deadline')];
  return join([...deadline, ...killsOf(report, scale).map((seconds) => upright(scale, seconds, 'kill-line'))]);
}

function killsOf(report: ExitReport, { zero }: Scale): number[] {
  return report.marks.flatMap(({ name, at: { earliest, latest } }) => {
    const [from, to] = [millis(earliest), millis(latest)];
    return name !== 'kill' || from === undefined || to === undefined ? [] : [((from + to) / 2 - zero) / 1000];
  });
}
