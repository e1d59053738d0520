/** The edits and checks of graces.yaml. */
import { expect } from 'vitest';
import { adding, changed, changesOf, comingAt, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import type { Check, Edit } from './case.ts';
import { also, arriving, each, only } from './edits.ts';

/** The pod's stream brings nothing until this long after 1.3 s. */
export const heldPast1300 = (heldMs: number): Edit =>
  arriving((one, { at }) => {
    const until = at + 1300 + heldMs;
    const isHeld = one.kind === 'changed' && ['pod', 'siblings'].includes(one.stream) && one.at > at && one.at < until;
    return isHeld ? until : one.at;
  });

/** A probe's status update acknowledges the DELETE after 0.6 s. */
export const acknowledgedByProbe = also(({ at, pod: { metadata, status, ...object } }) => {
  const fields = metadata['managedFields'] as { subresource?: string }[];
  const time = stampOf(at + 1000);
  const managedFields = fields.map((one) => (one.subresource === 'status' ? { ...one, time } : one));
  const observedGeneration = metadata['generation'];
  return changed(at + 600, 'pod', {
    ...object,
    metadata: { ...metadata, managedFields },
    status: { ...status, observedGeneration },
  });
});

/** Another client lowers the grace period to 1 s just after the container's end was reported. */
export const loweredAfterTheEnd: Edit = (all) => {
  const ended = changesOf(all, 'pod').find(({ object }) => JSON.stringify(object.status).includes('"terminated"'));
  if (!ended) throw new Error('no end was received');
  const { at, object } = ended;
  const { metadata, ...rest } = object;
  const resourceVersion = String(BigInt(String(metadata['resourceVersion'])) + 1n);
  const marked = { deletionGracePeriodSeconds: 1, deletionTimestamp: stampOf(at + 300), resourceVersion };
  return adding(all, changed(at + 300, 'pod', { ...rest, metadata: { ...metadata, ...marked } }));
};

/** No state of the pod arrives until a list after a gap, 5 s after its final DELETE. */
export const seenAfterFinalDelete: Edit = (all) => {
  const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
  const at = (final?.at ?? NaN) + 5000;
  const lost = also(
    ({ at: marked }): RawObservation => ({
      at,
      kind: 'gap',
      stream: 'pod',
      from: marked - 500,
      to: at,
      cause: 'expired',
    }),
    () => listed(at, 'pod', final?.object),
  );
  return lost(all).filter((one) => !(one.kind === 'changed' && one.stream === 'pod' && one.at < at));
};

/** The gap starts 0.5 s before the deletion. */
export const acceptedBeforeTheGap: Check = (report, rawObservations) => {
  const gap = rawObservations.find((one) => one.kind === 'gap');
  const marked = (gap?.kind === 'gap' ? gap.from : NaN) + 500;
  expect(Date.parse(markOf(report, 'accepted').at.earliest)).toBeLessThanOrEqual(marked);
  expect(Date.parse(markOf(report, 'accepted').at.latest)).toBeGreaterThanOrEqual(marked - 10);
};

/** The same deletion with another grace period. */
export const lasting = (grace: number): Edit =>
  each('pod', (one) => {
    const { deletionTimestamp, deletionGracePeriodSeconds: before } = one.metadata;
    if (typeof before !== 'number' || before === 0) return one;
    const deadline = stampOf(Date.parse(String(deletionTimestamp)) + (grace - before) * 1000);
    const marked = { deletionGracePeriodSeconds: grace, deletionTimestamp: deadline };
    return { ...one, metadata: { ...one.metadata, ...marked } };
  });

/** No list arrives before the deletion. */
export const notListedBefore = only((one, { at }) => one.kind !== 'listed' || one.at >= at);

/** The run starts this long after the final DELETE. */
export const startingAfterFinalDelete =
  (ms: number): Edit =>
  (all) => {
    const final = changesOf(all, 'pod').find(({ object }) => object.metadata['deletionGracePeriodSeconds'] === 0);
    return comingAt((final?.at ?? NaN) + ms, all);
  };

/** No Event shows that the kubelet started a second stop attempt. */
export const laterAttemptUnseen: Edit = (all) => {
  const first = changesOf(all, 'events').find(({ object }) => object['reason'] === 'Killing')?.at ?? 0;
  return all.filter(
    (one) => !(one.kind === 'changed' && ['events', 'node-events'].includes(one.stream) && one.at > first),
  );
};
