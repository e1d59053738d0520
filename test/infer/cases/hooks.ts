/** The edits and checks of hooks.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, changed, changesOf, containerOf, listed, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import { aboutPod, also, deletionIn, each, withoutStreams } from './edits.ts';

/** A FailedPreStopHook arrives this many ms after the last Killing. */
export const failingAfter =
  (ms: number): Edit =>
  (all) => {
    const last = changesOf(all, 'events').findLast(({ object }) => object['reason'] === 'Killing');
    if (!last) throw new Error('nothing was killed');
    const at = last.at + ms;
    const failure = aboutPod('FailedPreStopHook', 'PreStopHook failed', 0);
    return also((deletion) => changed(at, 'events', failure({ ...deletion, at }), 'ADDED'))(all);
  };

/** Adds these fields to the pod's containers. */
export const declaring = (part: object): Edit =>
  each('pod', (one) => {
    const containers = (one.spec['containers'] as object[]).map((container) => ({ ...container, ...part }));
    return { ...one, spec: { ...one.spec, containers } };
  });

/** Shortens the grace period, and moves the deadline. */
export const graced = (seconds: number): Edit =>
  each('pod', ({ metadata, ...one }) => {
    const spec = { ...one.spec, terminationGracePeriodSeconds: seconds };
    const grace = Number(metadata['deletionGracePeriodSeconds'] ?? 0);
    if (grace === 0) return { ...one, metadata, spec };
    const deadline = stampOf(Date.parse(String(metadata['deletionTimestamp'])) - (grace - seconds) * 1000);
    return {
      ...one,
      spec,
      metadata: { ...metadata, deletionTimestamp: deadline, deletionGracePeriodSeconds: seconds },
    };
  });

export const signalFollowsAtOnce: Check = (report) => {
  const { preStop, stopSignal } = containerOf(report);
  expect(Date.parse(stopSignal?.earliest ?? '')).toBeLessThan(Date.parse(preStop?.start.latest ?? '') + 1000);
};

/** The first list holds an Event about the container from this many ms before the deletion. */
export const listedBefore =
  (reason: string, ago: number, count = 1): Edit =>
  (all) => {
    const old = aboutPod(reason, '', -ago, { count, firstMs: -ago - 1000 * (count - 1) });
    return also((deletion) => listed(deletion.runStart + 40, 'events', old(deletion)))(all);
  };

const lostEvents = (from: number, to?: number): RawObservation => ({
  ...{ kind: 'gap', at: from, stream: 'events', from, cause: 'disconnected' },
  ...(to !== undefined && { to }),
});

/** No Event arrives: the stream breaks this long after the deletion, and comes back at `backMs`. */
export const eventsLostSince =
  (ms: number, backMs?: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return adding(withoutStreams('events')(all), lostEvents(at + ms, backMs === undefined ? undefined : at + backMs));
  };

export const eventsLostAfterRemoval: Edit = (all) =>
  adding(withoutStreams('events')(all), lostEvents(deletionIn(all).removed + 2100));

const killingOf = (container: string) => (one: Raw) =>
  one['reason'] === 'Killing' &&
  (one['involvedObject'] as { fieldPath?: string }).fieldPath === `spec.containers{${container}}`;

export const withoutKillingOf = (container: string): Edit =>
  each('events', (one) => (killingOf(container)(one) ? undefined : one));

/** The Event stream breaks this long after the first Killing, and does not come back. */
export const lostAfterKilling =
  (ms: number): Edit =>
  (all) => {
    const killing = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing');
    return adding(all, lostEvents((killing?.at ?? NaN) + ms));
  };
