/** The edits and checks of traps.yaml. */
import { expect } from 'vitest';
import { attached, editing, markOf, markedIn } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { aboutPod, change, deletionIn, eachDeleted, eachStatus } from './edits.ts';

/** The Killing arrives after the pod object is removed. */
export const onlyTheKillingAcknowledges: Check = (report) =>
  expect(markOf(report, 'acknowledged').at.evidence).toEqual(markOf(report, 'stopping/app').at.evidence);

/** The last run of the crashed container ended an hour before the deletion. */
export const brokenEndedBefore = eachStatus((status) => {
  const stamps = { startedAt: '2026-11-20T22:00:00Z', finishedAt: '2026-11-20T22:00:09Z' };
  if (status['name'] === 'broken') status['state'] = { terminated: { exitCode: 137, reason: 'Error', ...stamps } };
});

const stopping = 'Stopping container app';

/** The Killing repeats one from half an hour earlier. */
export const repeatedKilling: Edit = (all) => {
  const again = aboutPod('Killing', stopping, 8, { count: 2, firstMs: -1_800_000 })(deletionIn(all));
  return editing(all, 'events', (event) => (event['reason'] === 'Killing' ? again : event));
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

export const notReadyByNodeController = change(900, 'pod', ({ pod: { metadata, status, ...rest } }) => {
  const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-20T23:04:31Z' }];
  const resourceVersion = String(Number(metadata['resourceVersion']) + 1);
  return { ...rest, metadata: { ...metadata, resourceVersion }, status: { ...status, conditions } };
});

export const evictionFailed: Edit = (all) => {
  const { at } = markedIn(all);
  const before = all.filter((one) => one.kind !== 'answered' && one.at < at);
  return [...before, { at, kind: 'answered', verb: 'evict', status: 500 }];
};

/** An attached run that waits at most 60 s. */
export const attachFor60: Edit = (all) => attached(all, 60);
