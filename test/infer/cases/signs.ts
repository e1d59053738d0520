/** The edits and checks of signs.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { after, changed, editing, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { also, arriving, deletionIn } from './edits.ts';

/** The node is dead. 30 s later PodGC writes the status and removes the pod. */
export const sweptByPodGc =
  (isManaged: boolean): Edit =>
  (all) => {
    const { at, pod: object } = deletionIn(all);
    const version = BigInt(String(object.metadata['resourceVersion']));
    const field = (manager: string, time: number) => ({
      ...{ manager, operation: 'Update', subresource: 'status' },
      time: stampOf(time),
    });
    const managed = (one: Raw, time: number, later = 0n): Raw => ({
      ...one,
      metadata: {
        ...one.metadata,
        ...(later > 0n && { resourceVersion: String(version + later) }),
        managedFields: isManaged ? [field('kubelet', at - 5000), field('kube-controller-manager', time)] : [],
      },
    });
    const generation = object.metadata['generation'];
    const failed = { ...object, status: { ...object.status, phase: 'Failed', observedGeneration: generation } };
    const early = editing(all, 'pod', (one) => managed(one, at - 60_000)).filter((one) => one.at < at + 25_000);
    return also(
      () => changed(at + 30_000, 'pod', managed(failed, at + 30_000, 100n)),
      () => changed(at + 30_008, 'pod', managed(failed, at + 30_000, 101n), 'DELETED'),
    )(early);
  };

export const acknowledgedByTheLog: Check = (report, rawObservations) => {
  const { earliest, latest } = markOf(report, 'acknowledged').at;
  const { at } = deletionIn(rawObservations);
  expect(Date.parse(earliest)).toBeLessThanOrEqual(at);
  expect(Date.parse(latest)).toBeLessThan(at + 2000);
};

export const audited: Edit = (all) => {
  const { pod: object, removed } = deletionIn(all);
  const kept = editing(all, 'pod', (one, rawObservation) => {
    if (one.metadata.uid !== object.metadata.uid) return one;
    const later = rawObservation.kind === 'changed' && rawObservation.change === 'DELETED' ? 5n : 0n;
    const resourceVersion = String(BigInt(String(one.metadata['resourceVersion'])) + later);
    return { ...one, metadata: { ...one.metadata, finalizers: ['example.com/audit'], resourceVersion } };
  });
  return arriving((one) =>
    one.kind === 'changed' && one.change === 'DELETED' && one.at === removed ? one.at + 20_000 : one.at,
  )(kept);
};

export const logEndsAt = (ms: number): Edit => arriving((one, { at }) => (one.kind === 'log-ended' ? at + ms : one.at));

const ahead = 60_000;

/** Created 30 s before its deletion, by the API server's clock. */
export const young: Edit = (all) => {
  const creationTimestamp = stampOf(deletionIn(all).at - 4 + ahead - 30_000);
  return editing(all, 'pod', (one) => ({ ...one, metadata: { ...one.metadata, creationTimestamp } }));
};

/** The run starts this many ms after the deletion. `offset`: that of the Date headers; undefined: no Date headers. */
export const late =
  (afterMs: number, offset?: number): Edit =>
  (all) => {
    const start = deletionIn(all).at + afterMs;
    const last = all.findLast((one) => one.kind === 'changed' && one.stream === 'pod' && one.at < start);
    const date = Math.floor((start + (offset ?? 0)) / 1000) * 1000;
    return [
      ...all.filter(({ kind }) => kind === 'began').map((one) => ({ ...one, at: start })),
      ...(offset === undefined ? [] : [{ at: start + 1, kind: 'dated', sentAt: start, date } satisfies RawObservation]),
      listed(start + 5, 'pod', last?.kind === 'changed' ? last.object : undefined),
      ...all.filter((one) => one.at >= start + 5 && one.kind !== 'dated'),
    ];
  };

/** The run starts 1.2 s after the deletion. */
export const acceptedBeforeTheRun: Check = (report, rawObservations) => {
  const accepted = (rawObservations[0]?.at ?? NaN) - 1200 - 4;
  const earliest = Date.parse(markOf(report, 'accepted').at.earliest);
  expect(earliest).toBeLessThanOrEqual(accepted);
  expect(earliest).toBeGreaterThan(accepted - 33_000);
};

export const acceptedSinceEver: Check = (report) => expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBe(0);

export const noticeLastsAtMostItsSpan: Check = (report) => {
  const notice = report.phases.find(({ name }) => name === 'notice');
  const longest = after(report, notice?.end).latest - after(report, notice?.start).earliest;
  expect(notice?.seconds.max).toBeCloseTo(longest, 1);
};
