/** What somebody did who wanted a false sentence in a report: each a recording with one thing changed. */
import { describe, expect, it } from 'vitest';
import {
  adding,
  changesOf,
  containerOf,
  editing,
  findingCodes,
  judged,
  markOf,
  markedIn,
  recorded,
  stampOf,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { editingEvents, endingAs, quiet, retimed, statusesIn } from '../../helpers/raw-edits.ts';

describe('what the kubelet did', () => {
  it('a hook that fails after its container has ended died with it', async () => {
    const sightings = await recorded('prestop-fails');
    const { at } = markedIn(sightings);
    const ended = quiet(endingAs(sightings, { finishedAt: stampOf(at) }));
    const late = adding(
      ended.filter((one) => one.kind !== 'changed' || (one.object as Raw)['reason'] !== 'FailedPreStopHook'),
      ...changesOf(ended, 'events')
        .filter(({ object }) => object['reason'] === 'FailedPreStopHook')
        .map((one) => ({ ...one, at: at + 1203, object: retimed(one.object, at + 1200) })),
    );
    const report = judged(late);
    expect(containerOf(report).preStop?.outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('prestop-failed');
    expect(findingCodes(judged(sightings))).toContain('prestop-failed');
  });

  it('a repeated Killing whose first time was not told begins at the first, and its signal stays open', async () => {
    const sightings = await recorded('exit-143');
    const alone = judged(sightings);
    const repeated = judged(editingEvents(sightings, 'Killing', (event) => ({ ...event, count: 2 })));
    const [first, known] = [markOf(repeated, 'stopping/app').at, markOf(alone, 'stopping/app').at];
    expect(first.earliest).toBe(known.earliest);
    expect(Date.parse(first.latest)).toBeLessThan(Date.parse(known.latest) + 50);
    const signal = containerOf(repeated).stopSignal;
    expect((signal?.earliest ?? '') <= known.earliest).toBe(true);
    expect((signal?.latest ?? '') >= (containerOf(alone).stopSignal?.latest ?? '')).toBe(true);
  });

  it('a container that had ended before the deletion was accepted was not running', async () => {
    const sightings = await recorded('graceful-exit');
    const { at } = markedIn(sightings);
    const dead = endingAs(sightings, { exitCode: 1, reason: 'Error', finishedAt: stampOf(at - 8000) });
    const silent = editing(quiet(dead), 'events', (event) => (event['reason'] === 'Killing' ? undefined : event));
    const report = judged(silent);
    expect(containerOf(report)).toEqual({ name: 'app', kind: 'container', outcome: 'not-running' });
    expect(report.verdict.outcome).toBe('removed');
  });

  it('a kill for a liveness probe that was under way may be the one that ended it', async () => {
    const sightings = await recorded('sigkill-after-grace');
    const { at } = markedIn(sightings);
    const probed = editingEvents(sightings, 'Killing', (event) =>
      retimed({ ...event, message: 'Container app failed liveness probe, will be restarted' }, at - 500),
    );
    const report = judged(probed);
    expect(containerOf(report).outcome).toBe('unknown');
    expect(findingCodes(report)).not.toContain('exit-nonzero');
    expect(findingCodes(report)).not.toContain('killed-at-grace');
  });

  it('an end by the stop signal that was set is one, whichever of the real-time signals it is', async () => {
    const sightings = endingAs(await recorded('exit-143'), { exitCode: 165 });
    const told = editing(sightings, 'pod', (pod) => {
      for (const status of statusesIn(pod)) status['stopSignal'] = 'SIGRTMIN+3';
      return pod;
    });
    expect(containerOf(judged(told))).toMatchObject({ outcome: 'signalled', stopSignal: { signal: 'SIGRTMIN+3' } });
    expect(containerOf(judged(sightings)).outcome).toBe('failed');
  });

  it('a debug container that was killed held the pod, and is no failure of the application', async () => {
    const sightings = editing(await recorded('multi-container'), 'pod', (pod) => {
      const containers = pod.spec['containers'] as { name: string }[];
      const isOld = (one: { name?: unknown; state?: unknown }) => one.name === 'legacy';
      pod.spec['ephemeralContainers'] = containers.filter(isOld);
      pod.spec['containers'] = containers.filter((one) => !isOld(one));
      pod.status['ephemeralContainerStatuses'] = statusesIn(pod).filter(isOld);
      pod.status['containerStatuses'] = statusesIn(pod).filter((one) => !isOld(one));
      return pod;
    });
    const report = judged(sightings);
    expect(report.verdict.outcome).toBe('graceful');
    expect(report.verdict.findings.find(({ code }) => code === 'sidecar-killed')?.message).toMatch(/debug container/);
    expect(findingCodes(report)).not.toContain('killed-at-grace');
    expect(findingCodes(report)).not.toContain('no-signal-handling');
  });
});
