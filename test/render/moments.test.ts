import { afterEach, describe, expect, it } from 'vitest';
import type { MarkView, Moment } from '../../src/render/moments.ts';
import {
  afterCauses,
  arrivalOf,
  boundsText,
  clockColumn,
  dayText,
  offsetColumn,
  shownAt,
  signed,
  toldMoment,
  zeroOfMarks,
} from '../../src/render/moments.ts';

const noon = Date.UTC(2026, 10, 20, 12, 0, 0);
const zero = { at: noon, accepted: noon + 8 };
const moment = (lo: number, hi: number, basis: Moment['basis'] = 'inferred'): Moment => ({
  lo: noon + lo,
  hi: noon + hi,
  basis,
});
const mark = (name: MarkView['name'], at: Moment): MarkView => ({ id: name, name, at, provisional: false });
const offset = (name: MarkView['name'], at: Moment): string => offsetColumn(shownAt(mark(name, at), zero), at, zero);

describe('when a mark was', () => {
  it('has the digits it deserves, and a sign of what is inferred', () => {
    expect(offset('requested', moment(0, 1, 'observed'))).toBe('    +0.000');
    expect(offset('unrouted', moment(0, 26, 'observed'))).toBe('    +0.026');
    expect(offset('exited', moment(2990, 3230))).toBe('   ~+3.1  ');
    expect(offset('stop-signal', moment(10, 30))).toBe('   ~+0.02 ');
    expect(offset('kill', moment(29_970, 32_090))).toBe('  ~+31    ');
    expect(offset('replacement-ready', moment(-520, -500, 'observed'))).toBe('    −0.500');
  });

  it('puts no effect before its cause where the intervals allow either', () => {
    expect(offset('stop-signal', moment(-1700, 100))).toBe('   ~+0    ');
    expect(offset('requested', moment(-3, -2, 'observed'))).toBe('    −0.003');
  });

  it('puts no exit before the signal or the kill that it followed, nor outside of its own interval', () => {
    const exitShown = (marks: MarkView[], told?: MarkView): number =>
      shownAt(afterCauses(marks, told && (() => told)).at(-1)!, zero) - noon;
    const of = (name: MarkView['name'], at: Moment, subject = 'app'): MarkView => ({ ...mark(name, at), subject });
    const exit = of('exited', moment(100, 400));
    expect(exitShown([exit])).toBe(250);
    expect(exitShown([of('stop-signal', moment(200, 400)), exit])).toBe(300);
    expect(exitShown([of('stop-signal', moment(50, 150)), exit])).toBe(250);
    expect(exitShown([of('stop-signal', moment(200, 400), 'other'), exit])).toBe(250);
    expect(exitShown([of('stop-signal', moment(50, 150)), of('kill', moment(320, 400)), exit])).toBe(360);
    const told = of('stop-signal', moment(300, 600));
    expect(exitShown([of('stop-signal', moment(200, 400)), exit], told)).toBe(400);
  });

  it('shows what was seen when the news of it came, though its end has been narrowed since', () => {
    const seen = moment(100, 498, 'observed');
    const arrivals = new Map([
      [1, seen.lo - 50],
      [2, seen.hi + 3],
      [3, seen.hi + 500],
    ]);
    const heardAt = (seq: number) => arrivals.get(seq);
    expect(arrivalOf(seen, [1, 2, 3], heardAt)).toEqual({ arrived: seen.hi + 4 });
    expect(arrivalOf(seen, [1], heardAt)).toEqual({});
    expect(arrivalOf({ ...seen, basis: 'inferred' }, [1, 2, 3], heardAt)).toEqual({});
  });

  it('calls inferred what late news tells by its stamps', () => {
    const seen = moment(100, 498, 'observed');
    expect(toldMoment({ at: seen, arrived: seen.hi + 4 }).basis).toBe('observed');
    expect(toldMoment({ at: seen, arrived: seen.hi + 20_000 }).basis).toBe('inferred');
    expect(toldMoment({ at: seen })).toBe(seen);
  });

  it('says between which moments it was, if that is a second or more', () => {
    expect(boundsText(moment(0, 914), zero)).toBeUndefined();
    expect(boundsText(moment(60_021, 63_013), zero)).toBe('between +60.0 and +63.0');
    expect(boundsText(moment(0, 2500, 'observed'), zero)).toBeUndefined();
  });

  it('never prints a negative zero', () => {
    expect(signed(-0.0004, 3)).toBe('+0.000');
    expect(signed(-0.04, 0)).toBe('+0');
  });

  it('counts from the request; attached, from the acceptance as it was seen', () => {
    const accepted = mark('accepted', moment(-1700, 8, 'observed'));
    const created = mark('replacement-created', moment(-2700, -480, 'observed'));
    expect(zeroOfMarks([created, accepted])).toEqual({ at: noon + 8, accepted: noon + 8 });
    const requested = mark('requested', moment(0, 1, 'observed'));
    expect(zeroOfMarks([requested, accepted])).toEqual({ at: noon, accepted: noon + 8 });
    expect(zeroOfMarks([])).toBeUndefined();
  });
});

describe('the time of day', () => {
  const before = process.env['TZ'];
  afterEach(() => {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  });

  it('is told in UTC, in local time, or not at all', () => {
    process.env['TZ'] = 'Asia/Kathmandu';
    const at = moment(0, 26, 'observed');
    expect(clockColumn(at.hi, at, 'utc')).toBe('12:00:00.026');
    expect(clockColumn(at.hi, at, 'local')).toBe('17:45:00.026');
    expect(clockColumn(at.hi, at, 'relative')).toBe('');
  });

  it('names its day and its zone', () => {
    process.env['TZ'] = 'Asia/Kathmandu';
    expect(dayText(noon, 'utc')).toBe('2026-11-20 UTC');
    expect(dayText(noon + 8 * 3_600_000, 'local')).toBe('2026-11-21 UTC+05:45');
    process.env['TZ'] = 'America/St_Johns';
    expect(dayText(noon, 'local')).toBe('2026-11-20 UTC-03:30');
  });

  it('rounds to what is deserved', () => {
    expect(clockColumn(noon + 3150, moment(3000, 3300), 'utc')).toBe('12:00:03.2  ');
    expect(clockColumn(noon + 31_000, moment(29_970, 32_090), 'utc')).toBe('12:00:31    ');
  });
});
