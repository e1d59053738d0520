/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { Sighting } from '../../../src/model/observation.ts';
import {
  adding,
  alone,
  changed,
  deaf,
  editing,
  eventOf,
  findingCodes,
  judged,
  markedIn,
  recorded,
  storyReport,
  told,
  stampOf,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { mustRender, observationsOf, traceOf } from '../../helpers/recordings.ts';
import { endedLikeLive } from '../../../src/run/replay.ts';
import { endingAs } from '../../helpers/raw-edits.ts';
import { kubelet } from '../../helpers/story-changes.ts';

describe('findings only where they are proved', () => {
  it('a log that ended before the kill shows no silence', async () => {
    const sightings = await recorded('sigkill-after-grace');
    const { at } = markedIn(sightings);
    const cut = sightings.map((one) => (one.kind === 'log-ended' ? { ...one, at: at + 1000 } : one));
    expect(findingCodes(judged(cut.sort((a, b) => a.at - b.at)))).not.toContain('no-signal-handling');
  });

  it('a probe that was refused before the deletion, or for liveness, is no request lost while draining', async () => {
    const sightings = await recorded('graceful-exit');
    const { at, object } = markedIn(sightings);
    const { name, uid } = object.metadata;
    const refused = (probe: string, when: number) => {
      const message = `${probe} probe failed: dial tcp 10.1.1.1:8080: connect: connection refused`;
      const event = eventOf(
        { kind: 'Pod', name, uid, container: 'app' },
        { reason: 'Unhealthy', message },
        { at: when },
      );
      const report = judged(adding(sightings, changed(when + 5, 'events', event, 'ADDED')));
      return report.verdict.findings.find(({ code }) => code === 'drain-race');
    };
    expect(refused('Readiness', at - 900)?.severity).toBe('info');
    expect(refused('Liveness', at + 400)?.severity).toBe('info');
    expect(refused('Readiness', at + 400)?.severity).toBe('warning');
    expect(refused('Readiness', at - 900)?.message).toMatch(/removal from Service/);
  });

  it('finalizers hold a pod that was finished when it was deleted', async () => {
    const sightings = await recorded('completed');
    const { uid } = markedIn(sightings).object.metadata;
    const kept = editing(sightings, 'pod', (pod, sighting) => {
      if (pod.metadata.uid !== uid) return pod;
      const isLast = sighting.kind === 'changed' && sighting.change === 'DELETED';
      const version = BigInt(String(pod.metadata['resourceVersion'])) + (isLast ? 5n : 0n);
      const metadata = { ...pod.metadata, finalizers: ['example.com/audit'], resourceVersion: String(version) };
      return { ...pod, metadata };
    }).map((one) => (one.kind === 'changed' && one.change === 'DELETED' ? { ...one, at: one.at + 20_000 } : one));
    const report = judged(kept.sort((a, b) => a.at - b.at));
    expect(report.verdict.findings.find(({ code }) => code === 'finalizer-held')?.message).toMatch(/20\.\ds/);
  });

  it('a slow clean-up names what it cannot have waited for', async () => {
    const slow = kubelet({ cleanupMs: [9000, 9000] });
    const cleanup = (report: ReturnType<typeof judged>) =>
      report.verdict.findings.find(({ code }) => code === 'slow-cleanup')?.advice ?? '';
    expect(cleanup(storyReport(slow))).toMatch(/^The sandbox was gone by then.*volumes/);
    const silent = editing(told(slow), 'pod', (pod) => {
      const conditions = (pod.status['conditions'] ?? []) as { type: string }[];
      pod.status['conditions'] = conditions.filter(({ type }) => type !== 'PodReadyToStartContainers');
      return pod;
    });
    expect(cleanup(judged(silent))).toMatch(/^It waited for the sandbox, volumes/);
  });

  it('a hook that went on after its container had ended left it no time, and needed none', () => {
    const hook = { kind: 'sleep', seconds: 60 } as const;
    const all = told({ ...alone({ preStop: hook, logged: false, app: drains(200) }) });
    const { at } = markedIn(all);
    const early = endingAs(all, { finishedAt: stampOf(at + 1200) });
    const wordsOf = (sightings: readonly Sighting[]) =>
      judged(sightings).verdict.findings.find(({ code }) => code === 'prestop-cut-off')?.message;
    expect(wordsOf(all)).toMatch(/; app was left with 2s after SIGTERM$/);
    expect(wordsOf(early)).toMatch(/, though app had already exited$/);
  });
});

describe('a kubelet that begins late', () => {
  /** Of node-down, where a container's probe had failed so many ms before the deletion. */
  async function failedBefore(ms: number): Promise<string | undefined> {
    const sightings = await recorded('node-down');
    const { at, object } = markedIn(sightings);
    const { name, uid } = object.metadata;
    const killing = eventOf(
      { kind: 'Pod', name, uid: String(uid), container: 'app' },
      { reason: 'Killing', message: 'Container app failed liveness probe, will be restarted' },
      { at: at - ms },
    );
    const listedThen = sightings.map((one) =>
      one.kind === 'listed' && one.stream === 'events' ? { ...one, objects: [...one.objects, killing] } : one,
    );
    return mustRender(traceOf(observationsOf([...endedLikeLive(listedThen)]))).verdict.findings.find(
      ({ code }) => code === 'slow-start',
    )?.why;
  }

  it('was restarting a container, if one had just failed its probe', async () => {
    expect(await failedBefore(2000)).toMatch(/it was restarting app, whose probe had failed/);
    expect(await failedBefore(120_000)).toMatch(/an image pull, a postStart hook or a busy kubelet may have held it/);
  });
});
