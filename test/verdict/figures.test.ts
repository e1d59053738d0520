import { describe, expect, it } from 'vitest';
import type { ExitReport, Instant, PhaseName } from '../../src/model/report.ts';
import { lasted, usedOfGrace } from '../../src/verdict/rollout.ts';

/** Seconds after 00:00:00. */
const at = (earliest: number, latest: number, basis: Instant['basis'] = 'observed'): Instant => ({
  earliest: new Date(Date.UTC(2031, 0, 1) + earliest * 1000).toISOString(),
  latest: new Date(Date.UTC(2031, 0, 1) + latest * 1000).toISOString(),
  basis,
  evidence: [],
});

const phase = (name: PhaseName, start: Instant, end: Instant, min: number, max: number) => ({
  name,
  subject: 'app',
  start,
  end,
  seconds: { min: min * 10, max: max * 10 },
  ofGrace: { min, max },
});

const reportOf = (parts: Partial<ExitReport>): ExitReport =>
  ({ grace: { effectiveSeconds: 10 }, marks: [], phases: [], ...parts }) as ExitReport;

const mark = (name: 'requested' | 'accepted' | 'removed', instant: Instant) => ({ id: name, name, at: instant });

describe('how long an exit took', () => {
  it('counts from the request', () => {
    const marks = [mark('requested', at(1, 1.001)), mark('accepted', at(1, 3)), mark('removed', at(5, 6))];
    expect(lasted(reportOf({ marks }))).toEqual({ min: 3.999, max: 5 });
  });

  it('of an attached run counts from anywhere in the acceptance, not only from its end', () => {
    const marks = [mark('accepted', at(1, 3)), mark('removed', at(5, 6))];
    expect(lasted(reportOf({ marks }))).toEqual({ min: 2, max: 5 });
  });

  it('has no upper bound where nothing tells when it began', () => {
    const unbounded = { ...at(0, 3), earliest: '1970-01-01T00:00:00.000Z' };
    const marks = [mark('accepted', unbounded), mark('removed', at(5, 6))];
    expect(lasted(reportOf({ marks }))).toEqual({ min: 2, max: Infinity });
  });
});

describe('what was used of the grace', () => {
  it('is what its phase says, whose ends are known to hang together', () => {
    const phases = [phase('drain', at(0, 2), at(2, 4), 0.19, 0.21)];
    expect(usedOfGrace(reportOf({ phases }))).toEqual({ min: 0.19, max: 0.21 });
  });

  it('of several phases is no wider than from the first start to the last end', () => {
    const phases = [phase('prestop', at(0, 0), at(1, 3), 0.1, 0.3), phase('drain', at(1, 3), at(4, 4), 0.1, 0.3)];
    expect(usedOfGrace(reportOf({ phases }))).toEqual({ min: 0.4, max: 0.4 });
  });

  it('does not count overtime twice, which is a part of the drain', () => {
    const phases = [
      phase('drain', at(0, 0), at(12, 12), 1.2, 1.2),
      phase('overtime', at(10, 10), at(12, 12), 0.2, 0.2),
    ];
    expect(usedOfGrace(reportOf({ phases }))).toEqual({ min: 1.2, max: 1.2 });
  });
});
