/** What has to hold however much there is of it. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../src/model/observation.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import type { Looks } from '../../src/infer/conclude.ts';
import { afterLook, isChatter } from '../../src/infer/conclude.ts';
import type { Raw } from '../helpers/cases.ts';
import { judged } from '../helpers/cases.ts';
import { rawObservationsOf } from '../helpers/recordings.ts';

describe('a workload of 5000 pods', () => {
  it.each(['graceful-exit', 'statefulset', 'rolling-update'])(
    'reports its replacement like a small one: %s',
    async (name) => {
      const [{ replacement }, small] = [judged(await amongMany(name, 5000)), judged(await amongMany(name, 0))];
      expect(replacement).toBeDefined();
      expect(replacement).toEqual(small.replacement);
    },
  );
});

describe('of the log lines of a chatty pod', () => {
  const line = (at: number, namesSignal = false) =>
    ({ kind: 'line', container: 'app', time: '', namesSignal, seq: at, at }) as Observation;
  /** Which of the lines, by when they come, are looked at. */
  const looked = (...times: number[]): number[] => {
    let looks: Looks = [];
    return times.filter((now) => {
      const trace = { ...emptyTrace, now };
      if (isChatter(trace, line(now), looks)) return false;
      looks = afterLook(looks, trace, line(now));
      return true;
    });
  };

  it('the few that an exit brings are looked at at once', () =>
    expect(looked(1000, 1001, 1002, 1200, 1201)).toEqual([1000, 1001, 1002, 1200, 1201]));

  it('what comes on top of them is left for the next look', () =>
    expect(looked(1000, 1001, 1002, 1003, 1050, 1099, 1100, 1101, 1102, 1150)).toEqual([
      1000, 1001, 1002, 1100, 1101, 1102,
    ]));

  it('one that names a signal is looked at whenever it comes', () =>
    expect(isChatter({ ...emptyTrace, now: 1003 }, line(1003, true), [1000, 1001, 1002])).toBe(false));
});

/** The recording, with so many more pods in the first list of its siblings. */
async function amongMany(recording: string, count: number) {
  return (await rawObservationsOf(recording)).map((one) => {
    if (one.kind !== 'listed' || one.stream !== 'siblings') return one;
    const [first] = one.objects as Raw[];
    const others = Array.from({ length: count }, (_, index) => ({
      ...first,
      metadata: { ...first?.metadata, name: `other-${index}`, uid: `uid-of-other-${index}` },
    }));
    return { ...one, objects: [...one.objects, ...others] };
  });
}
