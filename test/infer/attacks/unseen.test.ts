/** A pod whose deletion nobody saw, though it went, or was asked to. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import { adding, after, attached, changesOf, judged, listed, markedIn, markOf, recorded } from '../../helpers/cases.ts';

const evicted = await recorded('evicted');
const marked = markedIn(evicted);
const removedAt = changesOf(evicted, 'pod').find(({ change }) => change === 'DELETED')?.at ?? NaN;

/** The pod was lost from sight just before its deletion. */
const blind = (sightings: readonly Sighting[]): Sighting[] => {
  const isNews = (one: Sighting): boolean =>
    one.kind === 'changed' && (one.stream === 'pod' || one.stream === 'siblings') && one.at >= marked.at - 5;
  return sightings.filter((one) => !isNews(one));
};
const lost = (to?: number): Sighting => ({
  ...{ kind: 'gap', at: marked.at - 5, stream: 'pod', from: marked.at - 5, cause: 'disconnected' },
  ...(to === undefined ? {} : { to }),
});
/** The next list has it no more. */
const gone = [lost(removedAt + 400), listed(removedAt + 400, 'pod')];
const refused = (sightings: readonly Sighting[]): Sighting[] =>
  sightings.map((one) => (one.kind === 'answered' ? { ...one, status: 429 } : one));
const timeout: Sighting = { kind: 'timer', at: removedAt + 5000, name: 'timeout' };

describe('a pod that went unseen', () => {
  it('is not told as left alone after an eviction that was allowed', () => {
    const report = judged(adding(blind(evicted), ...gone));
    expect(report.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
    expect(markOf(report, 'requested').at.basis).toBe('observed');
  });

  it('was removed after the request that was executed, or after it was last seen', () => {
    const truth = (removedAt - (evicted.find(({ kind }) => kind === 'requested')?.at ?? NaN)) / 1000;
    for (const sightings of [evicted, attached(evicted), refused(evicted)]) {
      const report = judged(adding(blind(sightings), ...gone));
      const { earliest, latest } = markOf(report, 'removed').at;
      expect(Date.parse(earliest)).toBeLessThanOrEqual(removedAt);
      expect(Date.parse(latest)).toBeGreaterThanOrEqual(removedAt);
    }
    const { earliest } = after(
      judged(adding(blind(evicted), ...gone)),
      markOf(judged(adding(blind(evicted), ...gone)), 'removed').at,
    );
    expect(earliest).toBeGreaterThanOrEqual(0);
    expect(earliest).toBeLessThanOrEqual(truth);
  });
});

describe('a pod that was lost from sight', () => {
  it('may be being deleted', () => {
    const report = judged(adding(blind(evicted), lost(), timeout));
    expect(report.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
    expect(judged(adding(blind(attached(evicted)), lost(), timeout)).verdict.exitCode).toBe(4);
  });

  it('was left alone where it was watched to the end, and every request was refused', () => {
    const report = judged(adding(blind(refused(evicted)), timeout));
    expect(report.verdict).toMatchObject({ outcome: 'not-started', exitCode: 3 });
  });
});
