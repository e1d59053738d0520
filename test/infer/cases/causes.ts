/** The edits and checks of causes.yaml. */
import { expect } from 'vitest';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, changed, changesOf, editing, eventOf, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Check, Edit } from './case.ts';
import type { Deletion } from './edits.ts';
import { also, deletionIn, each, eachDeleted, only, ownersIn, podBefore } from './edits.ts';

const conditionsOf = (one: Raw) => (one.status['conditions'] ?? []) as { type: string }[];

const withConditions = (one: Raw, conditions: object[]): Raw => ({ ...one, status: { ...one.status, conditions } });

const disrupted = (one: Raw, reason: string, more: object = {}): Raw =>
  withConditions(one, [...conditionsOf(one), { type: 'DisruptionTarget', status: 'True', reason, ...more }]);

const versionOf = ({ metadata }: Raw): bigint => BigInt(String(metadata['resourceVersion']));

const versioned = (one: Raw, version: bigint): Raw => ({
  ...one,
  metadata: { ...one.metadata, resourceVersion: String(version) },
});

/** The time of our request, client ms. */
const sentIn = (all: readonly RawObservation[]): number => all.find(({ kind }) => kind === 'requested')?.at ?? NaN;

/** Another client deletes the pod this many ms before our request. Only the state of the final DELETE stays. */
export const begunBefore =
  (ago: number, grace = 10): Edit =>
  (all) => {
    const deletionTimestamp = stampOf(sentIn(all) - ago + grace * 1000);
    return editing(all, 'pod', (one) =>
      (one.metadata['deletionGracePeriodSeconds'] ?? 0) === 0
        ? one
        : { ...one, metadata: { ...one.metadata, deletionGracePeriodSeconds: grace, deletionTimestamp } },
    );
  };

/** The condition of our eviction arrives one state after the deletion. */
export const conditionAfter: Edit = (all) => {
  const { at, pod: marked } = deletionIn(all);
  const late = editing(all, 'pod', (one) =>
    versionOf(one) > versionOf(marked)
      ? one
      : withConditions(
          one,
          conditionsOf(one).filter(({ type }) => type !== 'DisruptionTarget'),
        ),
  );
  return adding(late, changed(at + 3, 'pod', versioned(marked, versionOf(marked) + 1n)));
};

/** The deletion was accepted 1.4 s before our request. */
export const acceptedBeforeTheRequest: Check = (report, _, untouched) => {
  const accepted = Date.parse(markOf(untouched(), 'requested').at.earliest) - 1400;
  const { earliest, latest } = markOf(report, 'accepted').at;
  expect(Date.parse(earliest)).toBeLessThanOrEqual(accepted);
  expect(Date.parse(latest)).toBeGreaterThanOrEqual(accepted);
};

/** The pod has the condition DisruptionTarget with this reason from its deletion on. */
export const disruptedWhenDeleted = (reason: string): Edit => eachDeleted((one) => disrupted(one, reason));

export const disruptedBefore = (reason: string): Edit => each('pod', (one) => disrupted(one, reason));

/** The run starts 25 s after another client's DELETE; the condition is added `ms` after the DELETE. */
export const conditionAt =
  (ms: number, reason: string): Edit =>
  (all) => {
    const { at, pod: marked } = deletionIn(all);
    const lastTransitionTime = stampOf(at + ms);
    const late = (one: Raw) => versioned(disrupted(one, reason, { lastTransitionTime }), versionOf(one) + 100n);
    const start = at + 25_000;
    return [
      ...all.filter(({ kind }) => kind === 'began').map((one) => ({ ...one, at: start })),
      listed(start + 5, 'pod', late(marked)),
      ...editing(all, 'pod', late).filter((one) => one.at >= start),
    ];
  };

/** The eviction condition is added 0.9 s before the deletion. `reverted`: it is set to False 0.5 s before it. */
export const oldEviction =
  (reverted: boolean): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const before = podBefore(all);
    const version = versionOf(before);
    const evictedAs = (one: Raw, status: string, as: bigint) =>
      versioned(disrupted(one, 'EvictionByEvictionAPI', { status }), as);
    const older = editing(all, 'pod', (one, { kind }) => {
      if (one.metadata.uid !== before.metadata.uid) return one;
      if (kind === 'listed') return versioned(one, version - 3n);
      return one.metadata['deletionTimestamp'] === undefined ? one : evictedAs(one, 'False', versionOf(one));
    });
    const taken = reverted ? [changed(at - 500, 'pod', evictedAs(before, 'False', version - 1n))] : [];
    return adding(older, changed(at - 900, 'pod', evictedAs(before, 'True', version - 2n)), ...taken);
  };

/** All owners are deleted this many ms after the pod. */
export const ownersGone =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return adding(all, ...ownersIn(all).map((owner) => changed(at + ms, 'owner', owner, 'DELETED')));
  };

export const orphaned: Edit = (all) => {
  const { uid } = deletionIn(all).pod.metadata;
  return eachDeleted((one) => {
    if (one.metadata.uid !== uid) return one;
    const { ownerReferences: _, ...metadata } = one.metadata;
    return { ...one, metadata };
  })(all);
};

const setOf = ({ pod: one }: Deletion) => (one.metadata['ownerReferences'] as { name: string; uid: string }[])[0];

export const deletedBySet: Edit = also((deletion) => {
  const { name = '', uid = '' } = setOf(deletion) ?? {};
  const message = `Deleted pod: ${deletion.pod.metadata.name}`;
  const what = { reason: 'SuccessfulDelete', message, component: 'replicaset-controller' };
  const event = eventOf({ kind: 'ReplicaSet', name, uid }, what, { at: deletion.at });
  return changed(deletion.at + 8, 'owner-events', event, 'ADDED');
});

const scaling = (message: string, at: number, count = 1): Raw =>
  eventOf(
    { kind: 'Deployment', name: 'checkout' },
    { reason: 'ScalingReplicaSet', message, component: 'deployment-controller' },
    { at, count },
  );

export const scaledToOne = (prefix: string, count: number): Edit =>
  also((deletion) => {
    const message = `${prefix}Scaled down replica set ${setOf(deletion)?.name} from 2 to 1`;
    return changed(deletion.at + 9, 'owner-events', scaling(message, deletion.at - 1, count), 'ADDED');
  });

/** podexit sees its ReplicaSet go from 2 to 1, and the Deployment only afterwards, when it wants this many. */
export const setLowered =
  (wanted: number): Edit =>
  (all) => {
    const replicasOf = (owner: Raw, count: number): Raw => ({ ...owner, spec: { ...owner.spec, replicas: count } });
    const set = ownersIn(all).find((owner) => !owner.spec['strategy']);
    const seen = each('owner', (owner, { kind }) =>
      replicasOf(owner, owner.spec['strategy'] ? wanted : kind === 'listed' ? 2 : 1),
    )(all);
    return set ? also(({ at }) => changed(at - 100, 'owner', replicasOf(set, 1)))(seen) : seen;
  };

const older = 'Scaled up replica set checkout-older from 0 to 2';

const merged = '(combined from similar events): Scaled down replica set checkout-older from 1 to 0';

/**
 * The first list has these Events of the Deployment: it scaled up an older ReplicaSet, and later Events were combined
 * this many ms before the deletion.
 */
export const listedScalings =
  (mergedAgo?: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const objects = [
      scaling(older, at - 300_000),
      ...(mergedAgo === undefined ? [] : [scaling(merged, at - mergedAgo, 4)]),
    ];
    return all.map((one) => (one.kind === 'listed' && one.stream === 'owner-events' ? { ...one, objects } : one));
  };

export const unseenDeployment: Edit = (all) => {
  const sets = editing(all, 'owner', (owner) => (owner.spec['strategy'] ? undefined : owner));
  const isAboutDeployment = (one: Raw) => (one['involvedObject'] as { kind: string }).kind === 'Deployment';
  const events = editing(sets, 'owner-events', (one) => (isAboutDeployment(one) ? undefined : one));
  return editing(events, 'siblings', () => undefined);
};

/** No state of the slice arrives from 0.3 s after the deletion on, except its first change, changed by `edit`. */
const cutSlice =
  (edit: (slice: Raw, uid: string) => Raw, how?: 'DELETED'): Edit =>
  (all) => {
    const { at, pod: one } = deletionIn(all);
    const [first] = changesOf(all, 'endpointslices');
    if (!first) throw new Error('the slice did not change');
    const cut = only((news) => news.kind !== 'changed' || news.stream !== 'endpointslices' || news.at < at + 300);
    return adding(cut(all), changed(at + 300, 'endpointslices', edit(first.object, one.metadata.uid), how));
  };

const without = (slice: Raw, uid: string): Raw => ({
  ...slice,
  endpoints: (slice['endpoints'] as { targetRef?: { uid: string } }[]).filter((one) => one.targetRef?.uid !== uid),
});

/** The endpoint of another Service becomes not ready 1.5 s after the deletion. */
export const ofAnotherService: Edit = (all) => {
  const { at } = deletionIn(all);
  const [first] = changesOf(all, 'endpointslices');
  const other = (ready: boolean, resourceVersion: string) => ({
    ...first?.object,
    metadata: {
      ...first?.object.metadata,
      ...{ name: 'external-db-1', uid: 'external-db-1', resourceVersion, managedFields: [] },
      labels: { 'kubernetes.io/service-name': 'external-db' },
    },
    endpoints: [{ addresses: ['192.0.2.7'], conditions: { ready } }],
  });
  return adding(
    all,
    changed(at - 400, 'endpointslices', other(true, '1'), 'ADDED'),
    changed(at + 1500, 'endpointslices', other(false, '2')),
  );
};

/** The pod's endpoint moves to the slice `second` 8 s before the deletion. */
export const movedBefore: Edit = (all) => {
  const { at } = deletionIn(all);
  const list = all.find((one) => one.kind === 'listed' && one.stream === 'endpointslices');
  const slice = (list?.kind === 'listed' ? list.objects[0] : undefined) as Raw;
  const second = (one: Raw, version: number): Raw => ({
    ...one,
    metadata: { ...one.metadata, name: 'second', uid: 'second', resourceVersion: String(version) },
  });
  const moved = editing(all, 'endpointslices', (one, rawObservation) =>
    rawObservation.kind === 'changed' ? second(one, 900_010 + rawObservation.at - at + 9000) : one,
  );
  return adding(
    moved,
    changed(at - 8000, 'endpointslices', second(slice, 900_000), 'ADDED'),
    changed(at - 7999, 'endpointslices', versioned({ ...slice, endpoints: [] }, 900_001n)),
  );
};

export const endpointRemovedEarly = cutSlice(without);

export const sliceDeleted = cutSlice((slice) => slice, 'DELETED');

/** The answer to the DELETE has a later resourceVersion. */
export const answeredLater: Edit = (all) =>
  all.map((one): RawObservation => {
    if (one.kind !== 'answered' || one.object === undefined) return one;
    const object = one.object as Raw;
    return { ...one, object: versioned(object, versionOf(object) + 9n) };
  });

/** All its containers are native sidecars of another one, which waits for them. */
export const asSidecar: Edit = each('pod', ({ spec, status, ...pod }) => {
  const initContainers = (spec['containers'] as object[]).map((one) => ({ ...one, restartPolicy: 'Always' }));
  return {
    ...pod,
    spec: { ...spec, initContainers, containers: [{ name: 'main', image: 'main' }] },
    status: { ...status, initContainerStatuses: status['containerStatuses'], containerStatuses: [] },
  };
});
