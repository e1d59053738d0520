/** What deleted the pod of a Job (SIGNALS.md §4), and what may pass for it. */
import { describe, expect, it } from 'vitest';
import type { Story } from '../../sim/story.ts';
import { adding, changed, judged, ownerOf, stampOf } from '../../helpers/cases.ts';
import { lineOf, ownedCase } from '../../helpers/owned.ts';

describe('a Job', () => {
  const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] });
  const finished: Partial<Story> = {
    pod: { name: 'api-0', graceSeconds: 10, state: 'finished', finalizers: [] },
  };

  it.each(['Suspended', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Complete'])(
    'ends its work (%s): what still runs of it is deleted',
    (type) => {
      const { at, sightings } = ownedCase('Job', 'report', { spec: { completions: 1 } });
      const ended = ownerOf('Job', 'report', { status: condition(type) });
      const line = lineOf(adding(sightings, changed(at - 5, 'owner', ended)));
      expect(line).toMatch(/^job\n/);
      expect(line).toMatch(/Job report/);
    },
  );

  it('is suspended by its spec, and no Event came through', () => {
    const { at, sightings } = ownedCase('Job', 'report');
    const line = lineOf(
      adding(sightings, changed(at - 5, 'owner', ownerOf('Job', 'report', { spec: { suspend: true } }))),
    );
    expect(line).toMatch(/^job\n[^]*Job report suspended/);
  });

  it('outlives its time to live: its finished pod goes with it', () => {
    const spec = { ttlSecondsAfterFinished: 60 };
    const { at, sightings } = ownedCase('Job', 'report', { spec, status: condition('Complete') }, finished);
    const metadata = { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) };
    const going = ownerOf('Job', 'report', { spec, status: condition('Complete'), metadata });
    expect(judged(adding(sightings, changed(at - 5, 'owner', going))).trigger.kind).toBe('job');
  });

  it('that ended hours ago goes when its time to live is over, and takes its finished pod with it', () => {
    const hour = 3_600_000;
    const going = (endedAt: number, at: number) => {
      const spec = { ttlSecondsAfterFinished: 7200 };
      const status = { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: stampOf(endedAt) }] };
      const { sightings } = ownedCase('Job', 'report', { spec, status }, finished);
      const metadata = { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) };
      return judged(adding(sightings, changed(at - 5, 'owner', ownerOf('Job', 'report', { spec, status, metadata }))));
    };
    const { at } = ownedCase('Job', 'report', {}, finished);
    expect(going(at - 2 * hour, at).trigger.kind).toBe('job');
    expect(going(at - 2 * hour + 1000, at).trigger.kind).toBe('job');
    // Somebody did not wait for it.
    expect(going(at - hour, at).trigger.kind).toBe('owner-deleted');
  });

  it('is deleted by somebody: then an owner was', () => {
    const { at, sightings } = ownedCase('Job', 'report', { status: condition('Complete') }, finished);
    const gone = changed(at - 5, 'owner', ownerOf('Job', 'report'), 'DELETED');
    expect(judged(adding(sightings, gone)).trigger.kind).toBe('owner-deleted');
  });

  it('that ended long ago does not delete its finished pod: some client did', () => {
    const { sightings } = ownedCase('Job', 'report', { status: condition('Complete') }, finished);
    expect(judged(sightings).trigger.kind).toBe('unknown');
  });
});
