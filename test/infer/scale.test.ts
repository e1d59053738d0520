/** What must hold for any number of pods, containers and lines. */
import { describe, expect, it } from 'vitest';
import type { Observation, RawObservation } from '../../src/model/observation.ts';
import { observe } from '../../src/model/observe.ts';
import { reduce } from '../../src/model/reduce.ts';
import { emptyTrace } from '../../src/model/trace.ts';
import { createChatterLimit } from '../../src/infer/conclude.ts';
import { adding, alone, changesOf, judged, listed, storyObservations, type Raw } from '../helpers/cases.ts';
import { observationsOf, rawObservationsOf, traceOf } from '../helpers/recordings.ts';
import { drains } from '../sim/plain-story.ts';

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

describe('a list of thousands of siblings', () => {
  /** CPU time of the list (ms), the best of some tries: wall-clock time would measure other processes. */
  const timeOf = (count: number): number => {
    const pod = { kind: 'Pod', spec: { containers: [] }, status: {} };
    const metadata = (n: number) => ({ name: `web-${n}`, uid: `uid-${n}` });
    const objects = Array.from({ length: count }, (_, n) => ({ ...pod, metadata: metadata(n) }));
    const observation = observe(listed(0, 'siblings', ...objects), 1, { logText: false });
    const tries = Array.from({ length: 7 }, () => {
      const began = process.cpuUsage();
      expect(reduce(emptyTrace, observation).siblings.size).toBe(count);
      const { user, system } = process.cpuUsage(began);
      return (user + system) / 1000;
    });
    return Math.min(...tries);
  };

  it('takes time in proportion to its length, not to the square of it', () =>
    expect(timeOf(4000) / timeOf(500)).toBeLessThan(32));
});

describe('the log lines of a chatty pod', () => {
  const line = (at: number, namesSignal = false) =>
    ({ kind: 'line', container: 'app', time: '', namesSignal, seq: at, at }) as Observation;
  const at = (now: number) => ({ ...emptyTrace, now });
  /** The times of the lines after which podexit draws its conclusions again. */
  const evaluated = (...times: number[]): number[] => {
    const isWorthIt = createChatterLimit();
    return times.filter((now) => isWorthIt(at(now), line(now)));
  };

  it('are evaluated at once if there are only a few, as at an exit, and are left for the next evaluation if more', () => {
    expect(evaluated(1000, 1001, 1002, 1200, 1201)).toEqual([1000, 1001, 1002, 1200, 1201]);
    const many = evaluated(1000, 1001, 1002, 1003, 1050, 1099, 1100, 1101, 1102, 1150);
    expect(many).toEqual([1000, 1001, 1002, 1100, 1101, 1102]);
  });

  it('are evaluated at once if they name a signal', () => {
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

it('a long run keeps only the last Lease renewals', () => {
  const rawObservations = storyObservations(alone({ app: drains(3000, 0) }));
  const [first] = changesOf(rawObservations, 'lease');
  if (!first) throw new Error('the story has no Lease');
  const many = Array.from({ length: 500 }, (_, index): RawObservation => {
    const renewTime = new Date(first.at + index * 10_000).toISOString();
    const at = first.at + index * 10_000 + 3;
    return { ...first, at, object: { ...first.object, spec: { ...first.object.spec, renewTime } } };
  });
  const trace = traceOf(observationsOf(adding(rawObservations, ...many)));
  expect(trace.nodeSigns.renewals.length).toBeLessThanOrEqual(16);
});
