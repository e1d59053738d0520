/** False causes of a deletion, deletions that another client started first, and coincidences. */
import { expect } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, alone, changed, changesOf, editing, eventOf, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { ownersIn, podBefore } from '../../helpers/raw-edits.ts';
import { asked, pod, anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit, Expectation } from './case.ts';
import type { Deletion } from './edits.ts';
import { also, attach, deletionIn, each, eachDeleted, only } from './edits.ts';

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
const begunBefore =
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
const conditionAfter: Edit = (all) => {
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
const evicted: Partial<Story> = { trigger: { kind: 'eviction-api', atMs: 1240 } };
const notOurs = { trigger: 'unknown', findings: ['deleted-before'] } as const;

const deletedByOther: Case[] = [
  {
    sentence: 'our own deletion is not attributed to another client',
    of: asked(60),
    expect: { trigger: 'this-command', without: ['deleted-before'] },
  },
  {
    sentence: 'the other deletion keeps its own grace period, not the one that we request',
    of: asked(60),
    edit: [begunBefore(1400)],
    expect: {
      trigger: 'unknown',
      marks: { requested: false },
      says: { 'deleted-before': /10s instead of the 60s/ },
      holds: (report, _, untouched) => {
        const accepted = Date.parse(markOf(untouched(), 'requested').at.earliest) - 1400;
        const { earliest, latest } = markOf(report, 'accepted').at;
        expect(Date.parse(earliest)).toBeLessThanOrEqual(accepted);
        expect(Date.parse(latest)).toBeGreaterThanOrEqual(accepted);
      },
    },
  },
  {
    sentence: 'API server timestamps show that the other deletion came before our request',
    of: { trigger: { kind: 'this-command', atMs: 4240, graceSeconds: null, uid: false } },
    edit: [begunBefore(3500)],
    expect: { ...notOurs, assumes: ['server-skew'] },
  },
  {
    sentence: 'an eviction condition that arrives after the deletion shows that another client deleted the pod',
    of: evicted,
    edit: [conditionAfter],
    expect: notOurs,
  },
  {
    sentence: 'our own eviction has its condition from the first state on',
    of: evicted,
    expect: { trigger: 'eviction-api', without: ['deleted-before'] },
  },
  ...[
    ['EvictionByEvictionAPI', 'eviction-api'] as const,
    ['DeletionByTaintManager', 'taint'] as const,
    ['TerminationByKubelet', 'this-command'] as const,
  ].map(([reason, trigger]): Case => ({
    sentence: `${reason} together with deletionTimestamp means ${trigger}`,
    of: {},
    edit: [eachDeleted((one) => disrupted(one, reason))],
    expect: { trigger },
  })),
  {
    sentence: 'an eviction condition from before the deletion does not make our deletion an eviction',
    of: {},
    edit: [each('pod', (one) => disrupted(one, 'EvictionByEvictionAPI'))],
    expect: { trigger: 'this-command' },
  },
];

/** The run starts 25 s after another client's DELETE; the condition is added `ms` after the DELETE. */
const conditionAt =
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
const oldEviction =
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
const longDrain: Partial<Story> = { ...alone({ app: drains(40_000) }), ...pod({ graceSeconds: 60 }), ...anotherClient };

const conditions: Case[] = [
  ...[
    [20_000, 'EvictionByEvictionAPI', 'unknown'] as const,
    [20_000, 'DeletionByTaintManager', 'unknown'] as const,
    [-3, 'EvictionByEvictionAPI', 'eviction-api'] as const,
    [1000, 'DeletionByTaintManager', 'taint'] as const,
  ].map(([ms, reason, trigger]): Case => ({
    sentence: `${reason} with a transition time ${ms} ms after the deletion means ${trigger}`,
    of: longDrain,
    edit: [attach, conditionAt(ms, reason)],
    expect: { trigger },
  })),
  ...[true, false].map((reverted): Case => ({
    sentence: `an eviction that failed${reverted ? ' and was reverted' : ''} did not delete the pod`,
    of: 'graceful-exit',
    edit: [attach, oldEviction(reverted)],
    expect: { trigger: 'unknown' },
  })),
];

/** All owners are deleted this many ms after the pod. */
const ownersGone =
  (ms: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    return adding(all, ...ownersIn(all).map((owner) => changed(at + ms, 'owner', owner, 'DELETED')));
  };
const orphaned: Edit = (all) => {
  const { uid } = deletionIn(all).pod.metadata;
  return eachDeleted((one) => {
    if (one.metadata.uid !== uid) return one;
    const { ownerReferences: _, ...metadata } = one.metadata;
    return { ...one, metadata };
  })(all);
};
/** The Deployment wants one more replica until 0.9 s before the deletion. */
const scaledDownBefore: Edit = (all) => {
  const deployment = ownersIn(all).find((owner) => owner.spec['strategy']);
  const replicas = Number(deployment?.spec['replicas']) + 1;
  const more = editing(all, 'owner', (owner, { kind }) =>
    kind === 'listed' && owner.metadata.uid === deployment?.metadata.uid
      ? { ...owner, spec: { ...owner.spec, replicas } }
      : owner,
  );
  return also(({ at }) => changed(at - 900, 'owner', deployment))(more);
};
const setOf = ({ pod: one }: Deletion) => (one.metadata['ownerReferences'] as { name: string; uid: string }[])[0];
const deletedBySet: Edit = also((deletion) => {
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
const scaledToOne = (prefix: string, count: number): Edit =>
  also((deletion) => {
    const message = `${prefix}Scaled down replica set ${setOf(deletion)?.name} from 2 to 1`;
    return changed(deletion.at + 9, 'owner-events', scaling(message, deletion.at - 1, count), 'ADDED');
  });
const wantsOne = each('owner', (owner) => ({ ...owner, spec: { ...owner.spec, replicas: 1 } }));
/** podexit sees its ReplicaSet go from 2 to 1, and the Deployment only afterwards, when it wants this many. */
const setLowered =
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
const listedScalings =
  (mergedAgo?: number): Edit =>
  (all) => {
    const { at } = deletionIn(all);
    const objects = [
      scaling(older, at - 300_000),
      ...(mergedAgo === undefined ? [] : [scaling(merged, at - mergedAgo, 4)]),
    ];
    return all.map((one) => (one.kind === 'listed' && one.stream === 'owner-events' ? { ...one, objects } : one));
  };
const unseenDeployment: Edit[] = [
  each('owner', (owner) => (owner.spec['strategy'] ? undefined : owner)),
  each('owner-events', (one) => ((one['involvedObject'] as { kind: string }).kind === 'Deployment' ? undefined : one)),
  each('siblings', () => undefined),
];

const owners: Case[] = [
  ...[
    ['are deleted before the pod', [ownersGone(-800)], 'owner-deleted'] as const,
    ['are deleted before the pod and orphan it', [orphaned, ownersGone(-800)], 'unknown'] as const,
    ['are deleted after the pod', [ownersGone(2000)], 'unknown'] as const,
  ].map(([what, edit, trigger]): Case => ({
    sentence: `the trigger is ${trigger} if the owners ${what}`,
    of: 'graceful-exit',
    edit: [attach, ...edit],
    expect: { trigger },
  })),
  {
    sentence: 'a rollout stays a rollout if the Deployment was scaled down a second before',
    of: 'rolling-update',
    edit: [scaledDownBefore],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'the trigger is unknown if podexit cannot read the ReplicaSet’s Deployment',
    of: 'rolling-update',
    edit: unseenDeployment,
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'the trigger is unknown if a ReplicaSet deletes the pod and its Deployment wants one replica',
    of: 'graceful-exit',
    edit: [attach, wantsOne, deletedBySet],
    expect: { trigger: 'unknown' },
  },
  ...[
    ['as many as it keeps', 1, 'scale-down'] as const,
    ['one more, which another ReplicaSet may have', 2, 'unknown'] as const,
  ].map(([what, wanted, trigger]): Case => ({
    sentence: `the trigger is ${trigger} if a ReplicaSet was lowered, and its Deployment is seen later and wants ${what}`,
    of: 'graceful-exit',
    edit: [attach, setLowered(wanted), deletedBySet],
    expect: { trigger },
  })),
  // From the tenth within ten minutes on, a Deployment's Events are combined. A rollout of six pods makes that many.
  ...[
    ['in an Event of its own', '', 1] as const,
    ['in a combined Event', '(combined from similar events): ', 7] as const,
  ].map(([how, prefix, count]): Case => ({
    sentence: `a scale-down to the number that the Deployment wants, reported ${how}, is no rollout`,
    of: 'graceful-exit',
    edit: [attach, wantsOne, deletedBySet, scaledToOne(prefix, count)],
    expect: { trigger: 'unknown' },
  })),
  ...[
    ['last', undefined, 'rollout'] as const,
    ['before its Events were combined, which may hide a later scale-up', 200_000, 'unknown'] as const,
    ['after its Events were combined', 400_000, 'rollout'] as const,
  ].map(([what, ago, trigger]): Case => ({
    sentence: `the trigger is ${trigger} if the Deployment scaled up another ReplicaSet ${what}`,
    of: 'graceful-exit',
    edit: [attach, listedScalings(ago), deletedBySet],
    expect: { trigger },
  })),
];

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
const ofAnotherService: Edit = (all) => {
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
const movedBefore: Edit = (all) => {
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

const endpoints: Case[] = [
  {
    sentence: 'an endpoint that is removed before the containers exit keeps the time of its removal',
    of: 'graceful-exit',
    edit: [cutSlice(without)],
    expect: {
      holds: (report, rawObservations) =>
        expect(Date.parse(report.endpoints[0]?.removedAt?.latest ?? '')).toBeLessThan(
          deletionIn(rawObservations).at + 310,
        ),
    },
  },
  {
    sentence: 'a deleted slice does not show that there is no ready endpoint',
    of: 'graceful-exit',
    edit: [cutSlice((slice) => slice, 'DELETED')],
    expect: { without: ['no-ready-endpoint'] },
  },
  {
    sentence: 'no finding names a Service that never selected the pod',
    of: 'graceful-exit',
    edit: [ofAnotherService],
    expect: { noMessage: /external-db/ },
  },
  {
    sentence: 'an endpoint that moves to another slice before the deletion is removed only from the second one',
    of: { trigger: { kind: 'unknown', atMs: 11_240, graceSeconds: null } },
    edit: [attach, movedBefore],
    expect: {
      report: { endpoints: [{ slice: 'second' }] },
      holds: ({ endpoints, phases }) => {
        expect(endpoints).toHaveLength(1);
        expect(phases.filter(({ name }) => name === 'route-removal').map(({ subject }) => subject)).toEqual(['second']);
      },
    } satisfies Expectation,
  },
];

export const causes = {
  'a deletion that another client started first': deletedByOther,
  'a condition that names a cause': conditions,
  'an owner that looks like the cause': owners,
  'endpoints during the deletion': endpoints,
};
