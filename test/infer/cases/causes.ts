/** What looks like the cause of a deletion but is not, whose deletion was first, and what is only a coincidence. */
import { expect } from 'vitest';
import { drains } from '../../sim/plain-story.ts';
import type { Story } from '../../sim/story.ts';
import type { RawObservation } from '../../../src/model/observation.ts';
import { adding, alone, changed, changesOf, editing, eventOf, listed, markOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { ownersIn, podBefore } from '../../helpers/raw-edits.ts';
import { asked, pod, somebody } from '../../helpers/story-changes.ts';
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
/** Somebody else deleted the pod this many ms before our request, by all states but that of the last DELETE. */
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
/** The condition of our eviction arrived one state after the deletion. */
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

const outrun: Case[] = [
  { sentence: 'our own is ours', of: asked(60), expect: { trigger: 'this-command', without: ['deleted-before'] } },
  {
    sentence: 'it keeps its own grace, whichever grace ours asked for',
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
    sentence: 'it was asked for before ours was sent, by the stamps of the API server',
    of: { trigger: { kind: 'this-command', atMs: 4240, graceSeconds: null, uid: false } },
    edit: [begunBefore(3500)],
    expect: { ...notOurs, assumes: ['server-skew'] },
  },
  {
    sentence: 'it gets the condition of our eviction only afterwards',
    of: evicted,
    edit: [conditionAfter],
    expect: notOurs,
  },
  {
    sentence: 'an eviction of ours has its condition from the first',
    of: evicted,
    expect: { trigger: 'eviction-api', without: ['deleted-before'] },
  },
  ...[
    ['EvictionByEvictionAPI', 'eviction-api'] as const,
    ['DeletionByTaintManager', 'taint'] as const,
    ['TerminationByKubelet', 'this-command'] as const,
  ].map(([reason, trigger]): Case => ({
    sentence: `where ${reason} came with deletionTimestamp it was ${trigger}`,
    of: {},
    edit: [eachDeleted((one) => disrupted(one, reason))],
    expect: { trigger },
  })),
  {
    sentence: 'it was no eviction where its condition had stood before',
    of: {},
    edit: [each('pod', (one) => disrupted(one, 'EvictionByEvictionAPI'))],
    expect: { trigger: 'this-command' },
  },
];

/** The run started 25 s after somebody's DELETE; the condition was added `ms` after it. */
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
/** An eviction came 0.9 s before the deletion; `takenBack`: the condition was removed 0.5 s before it. */
const oldEviction =
  (takenBack: boolean): Edit =>
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
    const taken = takenBack ? [changed(at - 500, 'pod', evictedAs(before, 'False', version - 1n))] : [];
    return adding(older, changed(at - 900, 'pod', evictedAs(before, 'True', version - 2n)), ...taken);
  };
const longDrain: Partial<Story> = { ...alone({ app: drains(40_000) }), ...pod({ graceSeconds: 60 }), ...somebody };

const conditions: Case[] = [
  ...[
    [20_000, 'EvictionByEvictionAPI', 'unknown'] as const,
    [20_000, 'DeletionByTaintManager', 'unknown'] as const,
    [-3, 'EvictionByEvictionAPI', 'eviction-api'] as const,
    [1000, 'DeletionByTaintManager', 'taint'] as const,
  ].map(([ms, reason, trigger]): Case => ({
    sentence: `${reason}, stamped ${ms} ms after the deletion: ${trigger}`,
    of: longDrain,
    edit: [attach, conditionAt(ms, reason)],
    expect: { trigger },
  })),
  ...[true, false].map((takenBack): Case => ({
    sentence: `an eviction that came to nothing${takenBack ? ' and was taken back' : ''} did not delete the pod`,
    of: 'graceful-exit',
    edit: [attach, oldEviction(takenBack)],
    expect: { trigger: 'unknown' },
  })),
];

/** All its owners were deleted this many ms later. */
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
/** The Deployment wanted one more pod until 0.9 s before the deletion. */
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
const older = 'Scaled up replica set checkout-older from 0 to 2';
const merged = '(combined from similar events): Scaled down replica set checkout-older from 1 to 0';
/**
 * The first list has these Events of the Deployment: an older ReplicaSet was scaled up, and later Events were merged
 * into one this long ago.
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
    ['went before it', [ownersGone(-800)], 'owner-deleted'] as const,
    ['left it behind', [orphaned, ownersGone(-800)], 'unknown'] as const,
    ['went after it', [ownersGone(2000)], 'unknown'] as const,
  ].map(([what, edit, trigger]): Case => ({
    sentence: `owners that ${what}: ${trigger}`,
    of: 'graceful-exit',
    edit: [attach, ...edit],
    expect: { trigger },
  })),
  {
    sentence: 'a rollout is a rollout also where the Deployment was scaled down a second before',
    of: 'rolling-update',
    edit: [scaledDownBefore],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a ReplicaSet whose Deployment cannot be seen gives no reason for scaling down',
    of: 'rolling-update',
    edit: unseenDeployment,
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a ReplicaSet that deleted the pod, of a Deployment that wants one: not known',
    of: 'graceful-exit',
    edit: [attach, wantsOne, deletedBySet],
    expect: { trigger: 'unknown' },
  },
  // From the tenth within ten minutes on a Deployment's Events are one, as those of any rollout of six pods.
  ...[
    ['by an Event of its own', '', 1] as const,
    ['by the newest of many alike', '(combined from similar events): ', 7] as const,
  ].map(([how, prefix, count]): Case => ({
    sentence: `scaled down to all that the Deployment wants, reported ${how}: no rollout`,
    of: 'graceful-exit',
    edit: [attach, wantsOne, deletedBySet, scaledToOne(prefix, count)],
    expect: { trigger: 'scale-down' },
  })),
  ...[
    ['not the newest: a rollout', undefined, 'rollout'] as const,
    ['scaled up before many Events became one: it may be the newest', 200_000, 'unknown'] as const,
    ['scaled up after many Events had become one: a rollout', 400_000, 'rollout'] as const,
  ].map(([what, ago, trigger]): Case => ({
    sentence: `a ReplicaSet beside one that was ${what}`,
    of: 'graceful-exit',
    edit: [attach, listedScalings(ago), deletedBySet],
    expect: { trigger },
  })),
];

/** From 0.3 s after the deletion on, no state of the slice arrives, except its first change, as `edit` makes it. */
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
/** A slice of another Service, not ready 1.5 s after the deletion. */
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
/** Its endpoint moved to the slice `second` 8 s before the deletion. */
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

const routes: Case[] = [
  {
    sentence: 'an endpoint that left before the containers ended keeps its own time',
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
    sentence: 'a slice that was deleted tells nothing of endpoints',
    of: 'graceful-exit',
    edit: [cutSlice((slice) => slice, 'DELETED')],
    expect: { without: ['no-ready-endpoint'] },
  },
  {
    sentence: 'a Service that never had the pod is none of its business',
    of: 'graceful-exit',
    edit: [ofAnotherService],
    expect: { unsaid: /external-db/ },
  },
  {
    sentence: 'an endpoint that moved to another slice before the deletion did not leave the first one because of it',
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
  'a deletion that somebody else had begun': outrun,
  'a condition that names a cause': conditions,
  'an owner that looks like the cause': owners,
  'routes beside the deletion': routes,
};
