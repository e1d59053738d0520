/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import type { Sighting } from '../../../src/model/observation.ts';
import { adding, changed, containerOf, editing, judged, markedIn, recorded, stampOf } from '../../helpers/cases.ts';
import { podBefore, statusesIn } from '../../helpers/raw-edits.ts';

/** The listed pod had this older end, and ran again before the deletion. */
function crashedBefore(sightings: readonly Sighting[], end: Record<string, unknown>): Sighting[] {
  const pod = podBefore(sightings);
  const version = BigInt(String(pod.metadata['resourceVersion']));
  const { at } = markedIn(sightings);
  const crashed = editing(sightings, 'pod', (object, sighting) => {
    if (sighting.kind !== 'listed' || object.metadata.uid !== pod.metadata.uid) return object;
    for (const status of statusesIn(object)) Object.assign(status, { ready: false, state: { terminated: end } });
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version - 1n) } };
  });
  return adding(crashed, changed(at - 500, 'pod', pod));
}

describe('a crash before the deletion', () => {
  const end = (at: number) => ({
    exitCode: 1,
    reason: 'Error',
    startedAt: stampOf(at - 60_000),
    finishedAt: stampOf(at),
  });

  it('is not the end of a pod that ran again and was removed by force', async () => {
    const sightings = await recorded('force-delete');
    const report = judged(crashedBefore(sightings, end(markedIn(sightings).at - 5000)));
    expect(report.verdict.outcome).toBe('forced');
    expect(containerOf(report).outcome).toBe('abandoned');
  });

  it('is not the end of a pod that still runs when the run is left', async () => {
    const sightings = await recorded('graceful-exit');
    const { at } = markedIn(sightings);
    const left = crashedBefore(sightings, end(at - 30_000)).filter((one) => one.at < at + 1000);
    expect(containerOf(judged(left))).toMatchObject({ outcome: 'unknown' });
  });
});
