/** What a try claims: only differences that are hardly chance, with intervals that contain the truth. */
import { describe, expect, it } from 'vitest';
import { sampleOf } from '../../src/advice/history/reports.ts';
import { adviceOf, judgePatch, patchSummary, resultOf, type TriedExit } from '../../src/try/outcome.ts';
import { casesIn } from '../helpers/case-file.ts';
import { seeded } from '../helpers/seeded.ts';

interface Exits {
  /** The requests lost in each exit. */
  lost?: readonly number[];
  lostAnyway?: number;
  sent?: number;
  outage?: number;
  total?: number;
  outcome?: string;
}

const exitsOf = ({ lost, lostAnyway = 0, sent = 200, outage = 0, total = 1, outcome = 'graceful' }: Exits) =>
  (lost ?? [0, 0, 0, 0, 0]).map((failed): TriedExit => ({
    sample: sampleOf({
      pod: { name: 'web' },
      totalSeconds: total,
      containers: [{ name: 'app', kind: 'container', outcome: outcome === 'killed' ? 'killed' : 'completed' }],
      verdict: { outcome },
    }),
    requests: { sent, failed },
    control: { sent, failed: lostAnyway },
    ...{ failures: [], notMeasured: 0, outage: { min: outage, max: outage } },
  }));

interface Case {
  before: Exits;
  after: Exits;
  /** Parts of what is said of the patch, and of the copy that has it. */
  found: object;
  lostPerExit?: object;
}

it.each(casesIn<Case>(new URL('outcome.yaml', import.meta.url), ['before', 'after', 'found', 'lostPerExit']))(
  '%s',
  (_, { before, after, found, lostPerExit = {} }) => {
    const judged = judgePatch(exitsOf(before), exitsOf(after));
    const [without, patched] = [resultOf(exitsOf(before)), resultOf(exitsOf(after))];
    const advice = adviceOf(judged, without, patched);
    expect({ ...judged, advice, summary: patchSummary(judged, patched) }).toMatchObject(found);
    expect(patched.lostPerExit).toMatchObject(lostPerExit);
  },
);

describe('the interval of the requests lost in an exit', () => {
  it('contains the mean of all possible exits in about 95 % of all tries, though losses come together', () => {
    const random = seeded(7);
    let contained = 0;
    const tries = 1000;
    for (let at = 0; at < tries; at++) {
      // Half of the exits lose up to 20 of 200 requests: 5 on average.
      const losses = Array.from({ length: 20 }, () => (random() < 0.5 ? Math.floor(random() * 21) : 0));
      const { min, max } = resultOf(exitsOf({ lost: losses })).lostPerExit;
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
    const claimed = Array.from(
      { length: 500 },
      () => judgePatch(exitsOf({ lost: losses() }), exitsOf({ lost: losses() })).change,
    );
    expect(claimed.filter((change) => change !== 'same').length / 500).toBeLessThan(0.1);
  });
});
