/** Hooks that did not do what their pods declare. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import type { Raw } from '../../helpers/cases.ts';
import {
  adding,
  changed,
  changesOf,
  containerOf,
  editing,
  findingCodes,
  judged,
  recorded,
  stampOf,
} from '../../helpers/cases.ts';
import { retimed } from '../../helpers/raw-edits.ts';

/** The last Killing of these, and when it was. */
function killingIn(sightings: readonly Sighting[]): { event: Raw; at: number } {
  const last = changesOf(sightings, 'events').findLast(({ object }) => object['reason'] === 'Killing');
  if (!last) throw new Error('nothing was killed');
  return { event: structuredClone(last.object), at: last.at };
}

const failing = (sightings: readonly Sighting[], afterMs: number): Sighting[] => {
  const { event, at } = killingIn(sightings);
  const metadata = { ...event.metadata, uid: 'hook-failure' };
  const failure = { ...event, metadata, reason: 'FailedPreStopHook', type: 'Warning', message: 'PreStopHook failed' };
  return adding(sightings, changed(at + afterMs, 'events', retimed(failure, at + afterMs), 'ADDED'));
};

const sleeping = (sightings: readonly Sighting[], seconds: number): Sighting[] =>
  editing(sightings, 'pod', (object) => ({
    ...object,
    spec: {
      ...object.spec,
      containers: (object.spec['containers'] as Record<string, unknown>[]).map((one) => ({
        ...one,
        lifecycle: { preStop: { sleep: { seconds } } },
      })),
    },
  }));

describe('a sleep that its kubelet does not know', () => {
  it('fails as it says: the signal follows at once', async () => {
    const report = judged(failing(await recorded('prestop-sleep'), 3));
    const { preStop, stopSignal } = containerOf(report, 'app');
    expect(preStop?.outcome).toBe('failed');
    expect(Date.parse(stopSignal?.earliest ?? '')).toBeLessThan(Date.parse(preStop?.start.latest ?? '') + 1000);
    const finding = report.verdict.findings.find(({ code }) => code === 'prestop-failed');
    expect(finding?.advice).toMatch(/may be older than 1\.30/);
  });

  it('is passed over in silence: nothing is said of a length that the pod did not have', async () => {
    const report = judged(sleeping(await recorded('prestop-sleep'), 9));
    expect(containerOf(report, 'app').preStop?.outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('prestop-heavy');
  });
});

/** As if its grace had been shorter: the deadline follows. */
const graced = (sightings: readonly Sighting[], seconds: number): Sighting[] =>
  editing(sightings, 'pod', ({ metadata, ...object }) => {
    const spec = { ...object.spec, terminationGracePeriodSeconds: seconds };
    const grace = Number(metadata['deletionGracePeriodSeconds'] ?? 0);
    if (grace === 0) return { ...object, metadata, spec };
    const deadline = stampOf(Date.parse(String(metadata.deletionTimestamp)) - (grace - seconds) * 1000);
    const marked = { ...metadata, deletionTimestamp: deadline, deletionGracePeriodSeconds: seconds };
    return { ...object, metadata: marked, spec };
  });

describe('a hook that failed in the round of a kubelet that had begun anew', () => {
  it('may have been cut off by the grace of that round', async () => {
    const report = judged(failing(graced(await recorded('kubelet-restart'), 5), 4990));
    expect(containerOf(report, 'app').preStop?.outcome).not.toBe('failed');
  });
});
