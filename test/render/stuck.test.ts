/** What a pod that will not end is waiting for, in words. */
import { expect, it } from 'vitest';
import { outcomeSentence } from '../../src/render/outcome-text.ts';
import type { Sighting } from '../../src/model/observation.ts';
import { changed, eventOf, judged, markedIn, recorded } from '../helpers/cases.ts';

/** The recording as far as `ms` after the deletion, and then nothing more until --timeout, at `timeoutMs`. */
async function stuckAfter(ms: number, timeoutMs: number, ...more: Sighting[]) {
  const sightings = await recorded('sigkill-after-grace');
  const { at } = markedIn(sightings);
  const timeout: Sighting = { at: at + timeoutMs, kind: 'timer', name: 'timeout' };
  return judged([...sightings.filter((one) => one.at < at + ms && one.kind !== 'log-ended'), ...more, timeout]);
}

it('says that the kill fails, in the kubelet’s own words', async () => {
  const sightings = await recorded('sigkill-after-grace');
  const { at, object } = markedIn(sightings);
  const message =
    'error killing pod: failed to "KillContainer" for "app" with KillContainerError: "rpc error: timeout"';
  const { name, uid } = object.metadata;
  const about = { kind: 'Pod', name, uid };
  const failed = eventOf(about, { reason: 'FailedKillPod', message }, { at: at + 5000 });
  const report = await stuckAfter(4000, 9000, changed(at + 5000, 'events', failed, 'ADDED'));
  expect(report.verdict).toMatchObject({ outcome: 'stuck', exitCode: 3 });
  expect(outcomeSentence(report)).toContain('waiting for app to end: its kill fails: error killing pod');
});

it('says that the kill is overdue where the kubelet keeps silent', async () => {
  expect(outcomeSentence(await stuckAfter(4000, 30_000))).toContain(
    'waiting for app to end: the kill of app is overdue',
  );
});

it('blames no kill while the grace lasts', async () => {
  expect(outcomeSentence(await stuckAfter(4000, 4500))).toMatch(/waiting for app to end\.$/);
});
