/** What must hold for any number of pods, containers and lines. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../src/model/observation.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { createChatterLimit } from '../../src/infer/conclude.ts';
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
  const at = (now: number) => ({ ...emptyTrace, now });
  /** Indexes of the lines after which the trace is concluded again, by their times. */
  const looked = (...times: number[]): number[] => {
    const isWorthIt = createChatterLimit();
    return times.filter((now) => isWorthIt(at(now), line(now)));
  };

  it('the few that an exit brings are looked at at once', () =>
    expect(looked(1000, 1001, 1002, 1200, 1201)).toEqual([1000, 1001, 1002, 1200, 1201]));

  it('what comes on top of them is left for the next look', () =>
    expect(looked(1000, 1001, 1002, 1003, 1050, 1099, 1100, 1101, 1102, 1150)).toEqual([
      1000, 1001, 1002, 1100, 1101, 1102,
    ]));

  it('one that names a signal is looked at whenever it comes', () => {
    const isWorthIt = createChatterLimit();
    const times = [1000, 1001, 1002, 1003];
    expect(times.map((now) => isWorthIt(at(now), line(now)))).toEqual([true, true, true, false]);
    expect(isWorthIt(at(1004), line(1004, true))).toBe(true);
  });
});

/** The recording, with this many more pods in the first list of siblings. */
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
