/** The edits and checks of traps.yaml. */
import { expect } from 'vitest';
import {
  after,
  attached,
  changesOf,
  containerOf,
  editing,
  markOf,
  markedIn,
  storyReport,
} from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { plainStory } from '../../sim/plain-story.ts';
import type { Check, Edit } from './case.ts';
import { aboutPod, change, deletionIn, each, eachDeleted, eachStatus } from './edits.ts';

export const deadlineIsNotTheKill: Check = (report) => {
  const seconds = (Date.parse(report.grace.deadline) - Date.parse(markOf(report, 'accepted').at.latest)) / 1000;
  expect(seconds).toBeGreaterThan(8.9);
  expect(after(report, containerOf(report).kill).earliest).toBeGreaterThan(seconds + 0.5);
};

export const deadlineOfFirstState: Check = ({ grace }, rawObservations) => {
  const last = changesOf(rawObservations, 'pod').at(-1)?.object.metadata;
  expect(last?.['deletionGracePeriodSeconds']).toBe(0);
  const marked = markedIn(rawObservations).object.metadata['deletionTimestamp'];
  expect(Date.parse(grace.deadline)).toBe(Date.parse(String(marked)));
  expect(grace.deadline).not.toBe(new Date(String(last?.['deletionTimestamp'])).toISOString());
};

/** The Killing arrives after the pod object is removed. */
export const onlyTheKillingAcknowledges: Check = (report) =>
  expect(markOf(report, 'acknowledged').at.evidence).toEqual(markOf(report, 'stopping/app').at.evidence);

export const acknowledgedByTheKilling: Check = (report) =>
  expect(after(report, markOf(report, 'acknowledged').at).latest).toBe(
    after(report, markOf(report, 'stopping/app').at).latest,
  );

export const isBrokenAndNotRunning: Check = (report) =>
  expect(containerOf(report, 'broken')).toEqual({ name: 'broken', kind: 'container', outcome: 'not-running' });

/** The last run of the crashed container ended an hour before the deletion. */
export const brokenEndedBefore = eachStatus((status) => {
  const stamps = { startedAt: '2026-11-20T22:00:00Z', finishedAt: '2026-11-20T22:00:09Z' };
  if (status['name'] === 'broken') status['state'] = { terminated: { exitCode: 137, reason: 'Error', ...stamps } };
});

export const exitsInOrder: Check = ({ marks }) =>
  expect(marks.filter(({ name }) => name === 'exited').map(({ subject }) => subject)).toEqual([
    'worker',
    'web',
    'legacy',
  ]);

export const endpointIsGoneBeforeThePod: Check = (report, rawObservations) => {
  expect(changesOf(rawObservations, 'endpointslices').at(-1)?.object['endpoints'] ?? []).toEqual([]);
  const removed = after(report, markOf(report, 'removed').at).latest;
  expect(after(report, report.endpoints[0]?.removedAt).latest).toBeLessThan(removed - 4);
};

/** The trigger time on every slice is an hour before the deletion. */
export const oldTriggerTime = each('endpointslices', (slice) => {
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-11-20T22:00:00Z' };
  return { ...slice, metadata: { ...slice.metadata, annotations } };
});

const stopping = 'Stopping container app';

/** The Killing repeats one from half an hour earlier. */
export const repeatedKilling: Edit = (all) => {
  const again = aboutPod('Killing', stopping, 8, { count: 2, firstMs: -1_800_000 })(deletionIn(all));
  return editing(all, 'events', (event) => (event['reason'] === 'Killing' ? again : event));
};

export const startsNow: Check = (report) => {
  expect(after(report, markOf(report, 'stopping/app').at).earliest).toBeGreaterThanOrEqual(0);
};

/** The pod's DELETED never arrives. */
export const removalUnseen: Edit = (all) => {
  const { uid } = markedIn(all).object.metadata;
  return all.filter(
    (one) =>
      one.kind !== 'changed' ||
      one.stream !== 'pod' ||
      one.change !== 'DELETED' ||
      (one.object as Raw).metadata.uid !== uid,
  );
};

export const isTheDeletedPod: Check = (report, rawObservations) => {
  const { uid } = markedIn(rawObservations).object.metadata;
  expect(report.pod.uid).toBe(uid);
  expect(report.replacement?.uid).not.toBe(uid);
};

const evicted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };

export const withCondition = (object: Raw): Raw => ({
  ...object,
  status: { ...object.status, conditions: [...((object.status['conditions'] ?? []) as object[]), evicted] },
});

/** The condition arrives with the state after the one that sets deletionTimestamp. */
export const conditionLater: Edit = (all) => {
  const first = markedIn(all).object.metadata['resourceVersion'];
  return eachDeleted((object) => (object.metadata['resourceVersion'] === first ? object : withCondition(object)))(all);
};

export const asMirror = each('pod', (object) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { 'kubernetes.io/config.mirror': 'a1b2' } },
}));

export const logsStayOpen: Edit = (all) => all.filter((one) => one.kind !== 'log-ended');

export const endedByKubelet =
  (reason: string): Edit =>
  (all) => {
    const failed = editing(all, 'pod', (object) => ({
      ...object,
      status: { ...object.status, phase: 'Failed', reason },
    }));
    return failed.filter((one) => one.at < markedIn(failed).at);
  };

/** An attached run that waits at most 60 s. */
export const attachFor60: Edit = (all) => attached(all, 60);

export const timesOut: Edit = (all) => [...all, { at: (all.at(-1)?.at ?? 0) + 1, kind: 'timer', name: 'timeout' }];

export const withTerminatedSignal = eachStatus(({ state }) => {
  const end = state['terminated'] as Record<string, unknown> | undefined;
  if (end) end['signal'] = 9;
});

export const notReadyByNodeController = change(900, 'pod', ({ pod: { metadata, status, ...rest } }) => {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T23:04:31Z' }];
  const resourceVersion = String(Number(metadata['resourceVersion']) + 1);
  return { ...rest, metadata: { ...metadata, resourceVersion }, status: { ...status, conditions } };
});

export const noEventOfTheGracePeriod: Check = (_, rawObservations) =>
  expect(changesOf(rawObservations, 'events').map((one) => one.object['reason'])).not.toContain('ExceededGracePeriod');

export const marksAsWithoutPatches: Check = ({ marks }) =>
  expect(marks.map(({ id }) => id)).toEqual(
    storyReport({ kubelet: { ...plainStory().kubelet, patchesResources: false } }).marks.map(({ id }) => id),
  );

export const evictionFailed: Edit = (all) => {
  const { at } = markedIn(all);
  const before = all.filter((one) => one.kind !== 'answered' && one.at < at);
  return [...before, { at, kind: 'answered', verb: 'evict', status: 500 }];
};
