/** Traps 22 to 32 for a naive tool, each with the smallest case that would catch one (SIGNALS.md §6). */
import { describe, expect, it } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import {
  adding,
  after,
  alone,
  attached,
  changed,
  changesOf,
  containerOf,
  editing,
  findingCodes,
  hasMark,
  judged,
  markedIn,
  recorded,
  storyReport,
  told,
  without,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { statusesIn } from '../../helpers/raw-edits.ts';
import { pod, somebody, asked } from '../../helpers/story-changes.ts';

describe('who and what the object is', () => {
  it('22: a successor of the same name ends the old pod’s story, also where nobody saw it go', async () => {
    const sightings = await recorded('statefulset');
    const { uid } = markedIn(sightings).object.metadata;
    const unseen = sightings.filter(
      (one) =>
        !(
          one.kind === 'changed' &&
          one.stream === 'pod' &&
          one.change === 'DELETED' &&
          (one.object as Raw).metadata.uid === uid
        ),
    );
    for (const report of [judged(sightings), judged(unseen)]) {
      expect(report.pod.uid).toBe(uid);
      expect(report.replacement?.uid).not.toBe(uid);
      expect(report.verdict.outcome).toBe('graceful');
      expect(hasMark(report, 'removed')).toBe(true);
    }
  });

  it('23: the phase at the end only mirrors exit codes: Failed with 143 is a normal shutdown', async () => {
    const sightings = await recorded('exit-143');
    expect(changesOf(sightings, 'pod').at(-1)?.object.status['phase']).toBe('Failed');
    expect(judged(sightings).verdict.outcome).toBe('graceful');
  });

  it('24: 137 ContainerStatusUnknown is made up by the kubelet: no kill, no exit, no grace', () => {
    const lost = storyReport(alone({ app: { ...drains(1000), lost: true } }));
    expect(containerOf(lost).outcome).toBe('unknown');
    expect(containerOf(lost).kill).toBeUndefined();
    const never = storyReport(pod({ state: 'never-started' }));
    expect(containerOf(never).outcome).toBe('not-running');
    expect(never.verdict.outcome).toBe('removed');
  });

  it('25: terminated.signal is never filled by the kubelet, and nothing is read from it', () => {
    const sightings = told();
    const signed = editing(sightings, 'pod', (object) => {
      for (const status of statusesIn(object)) {
        const end = (status['state'] as { terminated?: Record<string, unknown> }).terminated;
        if (end) end['signal'] = 9;
      }
      return object;
    });
    expect(judged(signed)).toEqual(judged(sightings));
  });

  it('26: a DisruptionTarget that came after the deletion is no cause of it', () => {
    const sightings = told(somebody);
    const later = (when: (object: Raw) => boolean) =>
      editing(sightings, 'pod', (object) => {
        if (!when(object)) return object;
        const condition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
        return {
          ...object,
          status: { ...object.status, conditions: [...((object.status['conditions'] ?? []) as object[]), condition] },
        };
      });
    const first = markedIn(sightings).object.metadata['resourceVersion'];
    const isMarked = (object: Raw) => object.metadata['deletionTimestamp'] !== undefined;
    expect(
      judged(later((object) => isMarked(object) && object.metadata['resourceVersion'] !== first)).trigger.kind,
    ).toBe('unknown');
    expect(judged(later(isMarked)).trigger.kind).toBe('eviction-api');
  });

  it('27: Ready=False by the node controller says nothing about the container', () => {
    const sightings = told(alone({ app: drains(4000) }));
    const { at, object } = markedIn(sightings);
    const metadata = { ...object.metadata, resourceVersion: String(Number(object.metadata['resourceVersion']) + 1) };
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T23:04:31Z' }];
    const report = judged(
      adding(sightings, changed(at + 900, 'pod', { ...object, metadata, status: { ...object.status, conditions } })),
    );
    expect(hasMark(report, 'ready-lost')).toBe(false);
    expect(after(report, containerOf(report).exit?.at).earliest).toBeGreaterThan(3.9);
  });

  it('28: no Event tells of a grace that ran out: exit code and time do', async () => {
    const sightings = await recorded('sigkill-after-grace');
    expect(changesOf(sightings, 'events').map((one) => one.object['reason'])).not.toContain('ExceededGracePeriod');
    expect(containerOf(judged(sightings)).outcome).toBe('killed');
  });

  it('29: DELETED may still list finalizers, and a Job’s pod waits until it is counted', () => {
    const held = told({
      ...pod({ finalizers: ['example.com/audit'] }),
      later: [{ kind: 'remove-finalizers', atMs: 6000 }],
    });
    expect(changesOf(held, 'pod').at(-1)).toMatchObject({
      change: 'DELETED',
      object: { metadata: { finalizers: ['example.com/audit'] } },
    });
    const report = judged(held);
    expect(hasMark(report, 'removed')).toBe(true);
    expect(report.verdict.outcome).toBe('graceful');
    const tracked = pod({ finalizers: ['batch.kubernetes.io/job-tracking'] });
    const job = storyReport({ ...tracked, later: [{ kind: 'remove-finalizers', atMs: 6000 }] });
    const finding = job.verdict.findings.find(({ code }) => code === 'finalizer-held');
    expect(finding?.message).toContain('batch.kubernetes.io/job-tracking');
  });

  it('30: the DELETE of a mirror pod stops nothing, and nothing is said of its containers’ end', () => {
    const mirror = editing(told(asked(0)), 'pod', (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } },
    }));
    const report = judged(without(mirror, 'events').filter((one) => one.kind !== 'log-ended'));
    expect(containerOf(report).exit).toBeUndefined();
    expect(containerOf(report).kill).toBeUndefined();
    expect(findingCodes(report)).not.toContain('unmanaged-pod');
    expect(report.verdict.findings.find(({ code }) => code === 'force-deleted')?.message).toMatch(/static pod/);
  });

  it('30: whether a kubelet that removes the copy had stopped the containers before cannot be told', () => {
    const asMirror = (object: Raw) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } },
    });
    const removedAtOnce = { trigger: { ...somebody.trigger, graceSeconds: 0 } };
    const copy = without(editing(attached(told(removedAtOnce)), 'pod', asMirror), 'events');
    const report = judged(copy.filter((one) => one.kind !== 'log-ended'));
    expect(report.verdict).toMatchObject({ outcome: 'unknown', exitCode: 4 });
    const finding = report.verdict.findings.find(({ code }) => code === 'force-deleted');
    expect(finding).toMatchObject({ severity: 'info' });
    expect(finding?.message).toMatch(/its kubelet does that where the manifest is gone/);
  });

  it.each(['Evicted', 'Preempting', 'Terminated', 'DeadlineExceeded'])(
    '31: a pod that its kubelet ended (%s) has no deletion, and nobody waits for one',
    (reason) => {
      const sightings = attached(
        told({ ...pod({ state: 'finished' }), trigger: { kind: 'unknown', atMs: 40_000, graceSeconds: null } }),
        60,
      );
      const ended = editing(sightings, 'pod', (object) => ({
        ...object,
        status: { ...object.status, phase: 'Failed', reason },
      }));
      const report = judged(ended.filter((one) => one.at < markedIn(ended).at));
      expect(report.verdict).toMatchObject({ outcome: 'not-started', exitCode: 3 });
      expect(report.pod.reason).toBe(reason);
      expect(report.marks).toEqual([]);
    },
  );

  it('32: on a node that is down a deadline that has passed means nothing', () => {
    const sightings = told({ faults: [{ kind: 'freeze', atMs: -100, forMs: null }], limitMs: 45_000 });
    const at = (sightings.at(-1)?.at ?? 0) + 1;
    const report = judged(adding(sightings, { at, kind: 'timer', name: 'timeout' }));
    expect(report.verdict.outcome).toBe('stuck');
    expect(findingCodes(report)).toContain('node-silent');
    expect(containerOf(report).kill).toBeUndefined();
  });
});
