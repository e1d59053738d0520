import { describe, expect, it } from 'vitest';
import type { MarkView } from '../../src/render/moments.ts';
import type { Telling } from '../../src/render/telling.ts';
import { nothingTold, tell } from '../../src/render/telling.ts';

const mark = (
  name: MarkView['name'],
  [lo, hi]: [number, number],
  rest: Partial<Omit<MarkView, 'at' | 'name'>> & { basis?: MarkView['at']['basis'] } = {},
): MarkView => {
  const { basis = 'inferred', ...others } = rest;
  return { id: `${name}/app`, name, subject: 'app', provisional: false, at: { lo, hi, basis }, ...others };
};

/** What is said at each of these times, as `KIND name`. */
function said(...steps: [now: number, marks: MarkView[]][]): string[][] {
  let telling: Telling = nothingTold;
  return steps.map(([now, marks]) => {
    const told = tell(telling, marks, now);
    telling = told.telling;
    return told.sayings.map(({ kind, mark }) => `${kind} ${mark.name}`);
  });
}

describe('telling marks', () => {
  it('tells what was observed, or is narrow, at once and once', () => {
    const marks = [mark('stopping', [0, 2500], { basis: 'observed' }), mark('stop-signal', [0, 400])];
    expect(said([400, marks], [800, marks])).toEqual([['told stopping', 'told stop-signal'], []]);
  });

  it('holds a wide one until it narrows', () => {
    expect(said([914, [mark('stop-signal', [0, 914])]], [1000, [mark('stop-signal', [0, 105])]])).toEqual([
      [],
      ['told stop-signal'],
    ]);
  });

  it('holds a wide one for a second after it was certainly over, and no longer', () => {
    const signal = [mark('stop-signal', [0, 914])];
    expect(said([13, signal], [914, signal], [1900, signal], [1914, signal])).toEqual([
      [],
      [],
      [],
      ['told stop-signal'],
    ]);
  });

  it('holds a hook whose end nothing tells, and its signal, for as long as its Event may be on its way', () => {
    const unknown = { provisional: true, note: 'preStop exec unknown' };
    const open = [mark('prestop-ended', [0, 5000], unknown), mark('stop-signal', [0, 5000])];
    const failed = { provisional: true, note: 'preStop exec cut-off' };
    const told = [mark('prestop-ended', [4990, 5090], failed), mark('stop-signal', [4990, 5090])];
    expect(said([5000, open], [6200, open], [6300, told])).toEqual([
      [],
      [],
      ['told prestop-ended', 'told stop-signal'],
    ]);
    expect(said([5000, open], [8400, open], [8500, open])).toEqual([
      [],
      [],
      ['told prestop-ended', 'told stop-signal'],
    ]);
  });

  it('never tells as done what may still lie ahead', () => {
    const hook = [mark('prestop-ended', [0, 20_000])];
    expect(said([20, hook], [5000, hook], [19_000, hook])).toEqual([[], [], []]);
  });

  it('tells the end of a log at once, and then confirms it', () => {
    const probably = mark('exited', [1000, 2600], { provisional: true, note: 'its log ended' });
    const surely = mark('exited', [1000, 1700], { note: 'code 0' });
    expect(said([2600, [probably]], [6600, [surely]], [6700, [surely]])).toEqual([
      ['told exited'],
      ['confirmed exited'],
      [],
    ]);
  });

  it('corrects an end that was somewhere else', () => {
    const probably = mark('exited', [1000, 1800], { provisional: true, note: 'its log ended' });
    const surely = mark('exited', [9700, 10_200], { note: 'code 0' });
    expect(said([1800, [probably]], [10_200, [surely]])).toEqual([['told exited'], ['corrected exited']]);
  });

  it('withdraws what did not happen, once, and tells it anew when it does', () => {
    const probably = mark('exited', [1000, 1800], { provisional: true });
    const surely = mark('exited', [9700, 10_200], { note: 'code 0' });
    expect(said([1800, [probably]], [3500, []], [3600, []], [10_200, [surely]])).toEqual([
      ['told exited'],
      ['withdrawn exited'],
      [],
      ['told exited'],
    ]);
  });

  it('does not repeat a mark that only narrows, but says when it was shown in the wrong place', () => {
    const wide = mark('stop-signal', [0, 4000]);
    expect(said([5000, [wide]], [6000, [wide]], [7000, [mark('stop-signal', [1500, 2500])]])).toEqual([
      [],
      ['told stop-signal'],
      [],
    ]);
    expect(said([5000, [wide]], [6000, [wide]], [7000, [mark('stop-signal', [3900, 4000])]]).at(-1)).toEqual([
      'corrected stop-signal',
    ]);
  });

  it('says when a hook turns out to have failed', () => {
    const over = mark('prestop-ended', [900, 1000], { note: 'preStop exec unknown' });
    const outcome = (word: string) => [{ ...over, note: `preStop exec ${word}` }];
    expect(said([1000, [over]], [1100, outcome('completed')])).toEqual([['told prestop-ended'], []]);
    expect(said([1000, [over]], [1100, outcome('failed')])).toEqual([
      ['told prestop-ended'],
      ['corrected prestop-ended'],
    ]);
  });

  it('tells everything at the end, and a container’s marks once its end is certain', () => {
    const wide = mark('kill', [0, 4000]);
    expect(tell(nothingTold, [wide], 100, true).sayings).toHaveLength(1);
    expect(said([4000, [wide, mark('exited', [0, 4000], { note: 'code 137' })]])).toEqual([
      ['told kill', 'told exited'],
    ]);
  });
});
