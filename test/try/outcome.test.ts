/** What a try claims: only differences that are hardly chance, with intervals that contain the truth. */
import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../src/advice/history/reports.ts';
import { adviceOf, judgePatch, patchSummary, resultOf, type TriedExit } from '../../src/try/outcome.ts';
import { seeded } from '../helpers/seeded.ts';

interface Made {
  lost?: number;
  lostAnyway?: number;
  sent?: number;
  outage?: number;
  total?: number;
  outcome?: string;
}

const exitOf = ({
  lost = 0,
  lostAnyway = 0,
  sent = 200,
  outage = 0,
  total = 1,
  outcome = 'graceful',
}: Made): TriedExit => ({
  sample: sampleOf({
    pod: { name: 'web' },
    totalSeconds: total,
    containers: [{ name: 'app', kind: 'container', outcome: outcome === 'killed' ? 'killed' : 'completed' }],
    verdict: { outcome },
  }),
  requests: { sent, failed: lost },
  control: { sent, failed: lostAnyway },
  failures: [],
  notMeasured: 0,
  outage: { min: outage, max: outage },
});

const exitsOf = (made: Made, losses: readonly number[] = [0, 0, 0, 0, 0]): TriedExit[] =>
  losses.map((lost) => exitOf({ lost, ...made }));

const judged = (before: TriedExit[], after: TriedExit[]) => {
  const found = judgePatch(before, after);
  return {
    ...found,
    advice: adviceOf(found, resultOf(before), resultOf(after)),
    summary: patchSummary(found, resultOf(after)),
  };
};

describe('the patch', () => {
  it('helps if every exit lost requests and none does any more, though it takes longer', () => {
    const found = judged(exitsOf({}, [3, 5, 4, 2, 6]), exitsOf({ total: 11 }));
    expect(found).toMatchObject({ change: 'better', advice: 'apply it', costs: ['length of an exit: 1.0s → 11.0s'] });
    expect(found.summary).toBe(
      'the patch helps: requests lost in an exit: 4 → 0; it costs time: length of an exit: 1.0s → 11.0s',
    );
  });

  it('helps if every exit lost requests, however many, and none does any more', () => {
    const found = judged(exitsOf({}, [18, 3, 3]), exitsOf({}, [0, 0, 0]));
    expect(found).toMatchObject({ change: 'better', better: ['exits that lose requests: 3 of 3 → 0 of 3'] });
  });

  it('harms if exits lose more requests, even if they are faster', () => {
    const found = judged(exitsOf({ total: 11 }), exitsOf({ total: 1 }, [3, 5, 4, 2, 6]));
    expect(found).toMatchObject({ change: 'worse', better: [], advice: 'do not apply it' });
  });

  it('helps if pods are killed no longer', () => {
    const found = judged(exitsOf({ outcome: 'killed', total: 31 }), exitsOf({}));
    expect(found.change).toBe('better');
    expect(found.better).toEqual(['killed: 5 of 5 → 0 of 5', 'length of an exit: 31.0s → 1.0s']);
  });

  it('harms if the Service has no ready endpoint for longer', () => {
    expect(judged(exitsOf({ outage: 2 }), exitsOf({ outage: 9 }))).toMatchObject({
      change: 'worse',
      worse: ['outage: 2.0s → 9.0s'],
    });
  });

  it('gains and loses if it does both', () => {
    const found = judged(exitsOf({ outcome: 'killed' }), exitsOf({}, [3, 5, 4, 2, 6]));
    expect(found.change).toBe('mixed');
  });

  it('makes no difference if one exit of five lost a request', () => {
    const found = judged(exitsOf({}, [0, 1, 0, 0, 0]), exitsOf({ total: 11 }));
    expect(found).toMatchObject({
      change: 'same',
      advice: 'not proven: 1 of 5 exits lost requests without it and 0 of 5 with it; more exits show more (--runs)',
    });
  });

  it('does not help if as many exits lose requests as before', () => {
    const found = judged(exitsOf({}, [3, 5, 2, 4, 3]), exitsOf({}, [2, 4, 3, 3, 2]));
    expect(found.advice).toBe('nothing here speaks for it: 5 of 5 exits lost requests without it and 5 of 5 with it');
  });

  it('has nothing to gain if nothing was lost before', () => {
    const found = judged(exitsOf({}), exitsOf({ total: 11 }));
    expect(found.advice).toBe(
      'nothing here speaks for it: no request was lost without it either, and each exit takes longer',
    );
  });

  it('does not help where every pod is killed earlier', () => {
    const found = judged(exitsOf({ outcome: 'killed', total: 7 }), exitsOf({ outcome: 'killed', total: 3 }));
    expect(found).toMatchObject({ change: 'same', better: [], costs: [] });
  });

  it.each([1, 2])('is not judged by %i exits of each copy that ended in another way by chance', (exits) => {
    const [none, some] = [Array<number>(exits).fill(0), Array<number>(exits).fill(1)];
    expect(judged(exitsOf({}, none), exitsOf({}, some)).change).toBe('same');
    const killed = judged(exitsOf({ outcome: 'killed' }, none), exitsOf({}, none));
    expect(killed).toMatchObject({ change: 'same', advice: 'not proven: so few exits show little (--runs)' });
  });

  it('does not help where every pod is still killed, only later', () => {
    const found = judged(exitsOf({ outcome: 'killed', total: 7 }), exitsOf({ outcome: 'killed', total: 27 }));
    expect(found.advice).toBe(
      'nothing here speaks for it: no request was lost without it either, its pods are killed as before, and each exit takes longer',
    );
  });

  it('is not blamed for what is lost without an exit, however long its exits are', () => {
    const [short, long] = [
      exitsOf({ sent: 100 }, [1, 0, 2, 1, 1]),
      exitsOf({ sent: 700, lostAnyway: 8 }, [9, 6, 8, 7, 9]),
    ];
    expect(judged(short, long).change).toBe('same');
    expect(judged(short, exitsOf({ lostAnyway: 8 }, [29, 32, 28, 30, 31])).change).toBe('worse');
    expect(resultOf(long).lostPerExit).toMatchObject({ mean: 0, min: 0 });
  });
});

describe('the interval of the requests lost in an exit', () => {
  it('contains the mean of all possible exits in about 95 % of all tries, though losses come together', () => {
    const random = seeded(7);
    let contained = 0;
    const tries = 1000;
    for (let at = 0; at < tries; at++) {
      // Half of the exits lose up to 20 of 200 requests: 5 on average.
      const losses = Array.from({ length: 20 }, () => (random() < 0.5 ? Math.floor(random() * 21) : 0));
      const { min, max } = resultOf(exitsOf({}, losses)).lostPerExit;
      if (min <= 5 && 5 <= max) contained += 1;
    }
    expect(contained / tries).toBeGreaterThan(0.9);
  });

  it('does not call the next loss impossible', () => {
    const { mean, min, max } = resultOf(exitsOf({})).lostPerExit;
    expect([mean, min]).toEqual([0, 0]);
    expect(max).toBeGreaterThan(0.5);
  });

  it('claims a difference between equal copies in at most one try of ten', () => {
    const random = seeded(11);
    const losses = () => Array.from({ length: 5 }, () => (random() < 0.5 ? Math.floor(random() * 21) : 0));
    const claimed = Array.from({ length: 500 }, () => judgePatch(exitsOf({}, losses()), exitsOf({}, losses())).change);
    expect(claimed.filter((change) => change !== 'same').length / 500).toBeLessThan(0.1);
  });
});
