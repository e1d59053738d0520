/**
 * What deleted the pod: the rows of SIGNALS.md §4 that leave evidence of their own, and what can be mistaken for them.
 */
import type { Story } from '../../sim/story.ts';
import { ownerOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { successfulDelete } from '../../helpers/owned.ts';
import { anotherClient } from '../../helpers/story-changes.ts';
import type { Case, Edit } from './case.ts';
import type { Deletion } from './edits.ts';
import { attach, change, deletionIn, each, eachDeleted, list, owned } from './edits.ts';

const deployed: Partial<Story> = {
  owner: { kind: 'deployment', name: 'api', replicas: 2, readyAfterMs: 300 },
  pod: { name: 'api-5d4f-x2', graceSeconds: 10, state: 'running', finalizers: [] },
};
const triggeredBy = (
  kind: 'taint' | 'device-taint' | 'pod-gc' | 'preemption' | 'rollout' | 'scale-down' | 'owner-deleted',
) => ({
  trigger: { kind, atMs: 1240 } as Story['trigger'],
});

const leavingEvidence: Case[] = [
  {
    sentence: 'a TaintManagerEviction Event shows a NoExecute taint',
    of: triggeredBy('taint'),
    expect: { trigger: 'taint', evidence: /Event TaintManagerEviction/ },
  },
  {
    sentence: 'a condition and an Event show a device taint',
    of: triggeredBy('device-taint'),
    expect: {
      trigger: 'device-taint',
      evidence: /DisruptionTarget: DeletionByDeviceTaintManager[^]*Event DeviceTaintManagerEviction/,
    },
  },
  {
    sentence: 'a DeletionByPodGC condition shows PodGC',
    of: triggeredBy('pod-gc'),
    expect: {
      trigger: 'pod-gc',
      evidence: /DeletionByPodGC/,
      says: { 'force-deleted': /Pod garbage collection removed it.* drain a node before/ },
    },
  },
  {
    sentence: 'a PreemptionByScheduler condition shows a preemption',
    of: triggeredBy('preemption'),
    expect: { trigger: 'preemption', evidence: /PreemptionByScheduler/ },
  },
  {
    sentence: 'the scaling of the ReplicaSets shows a rollout',
    of: { ...deployed, ...triggeredBy('rollout') },
    expect: { trigger: 'rollout', evidence: /Scaling/ },
  },
  {
    sentence: 'an owner that was scaled shows a scale-down',
    of: { ...deployed, ...triggeredBy('scale-down') },
    expect: { trigger: 'scale-down', evidence: /scaled/ },
  },
  {
    sentence: 'a deleted owner deletes its pod',
    of: { ...deployed, ...triggeredBy('owner-deleted') },
    expect: { trigger: 'owner-deleted', evidence: /deleted/ },
  },
  {
    sentence: 'a SuccessfulDelete Event shows a suspended Job',
    of: { owner: { kind: 'job', name: 'report' }, trigger: { kind: 'job', atMs: 1240 } },
    expect: { trigger: 'job', evidence: /Event SuccessfulDelete/ },
  },
  {
    sentence: 'the trigger is unknown when another client leaves only a deletionTimestamp',
    of: anotherClient,
    expect: { trigger: 'unknown', evidence: /deletionTimestamp/ },
  },
  {
    sentence: 'phase Failed and grace period 0 while containers still run show PodGC without a condition',
    of: { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } },
    edit: [eachDeleted((pod) => ({ ...pod, status: { ...pod.status, phase: 'Failed' } }))],
    expect: { trigger: 'pod-gc' },
  },
  {
    sentence: 'a grace period of 0 alone does not show PodGC',
    of: { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } },
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'an unschedulable node is part of the evidence of an eviction (a drain)',
    of: 'evicted',
    edit: [
      attach,
      (all) => {
        const node = all.flatMap((one) =>
          one.kind === 'listed' && one.stream === 'node' ? one.objects : [],
        )[0] as Raw;
        const cordoned = { ...node, spec: { ...node.spec, unschedulable: true } };
        const [ms, listMs] = [90, 60].map((after) => (all[0]?.at ?? 0) + after) as [number, number];
        return [
          ...all,
          { kind: 'listed' as const, at: listMs, stream: 'node' as const, resourceVersion: '1', objects: [cordoned] },
          { kind: 'changed' as const, at: ms, stream: 'node' as const, change: 'MODIFIED' as const, object: cordoned },
        ].sort((a, b) => a.at - b.at);
      },
    ],
    expect: { trigger: 'eviction-api', evidence: /node \S+ .*unschedulable/ },
  },
  {
    sentence: 'a schedulable node is not part of the evidence of an eviction',
    of: 'evicted',
    edit: [attach],
    expect: { trigger: 'eviction-api', noEvidence: /unschedulable/ },
  },
  {
    sentence: 'our own request is the trigger even when an owner is deleted just before',
    of: { owner: { kind: 'job', name: 'report' } },
    edit: [change(-2, 'owner', ownerOf('Deployment', 'api'), 'DELETED')],
    expect: { trigger: 'this-command' },
  },
];

const finished: Partial<Story> = {
  ...anotherClient,
  pod: { name: 'api-0', graceSeconds: 10, state: 'finished', finalizers: [] },
};
const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] });
const hour = 3_600_000;

/** A Job with a TTL of 2 h finishes this many ms before it is deleted. */
const jobDeletedAfter = (ms: number, sentence: string, trigger: 'job' | 'owner-deleted'): Case => {
  const job = (at: number): Partial<Raw> => ({
    spec: { ttlSecondsAfterFinished: 7200 },
    status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: stampOf(at - ms) }] },
  });
  const deleted = ({ at }: Deletion): Raw => {
    const metadata = { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) };
    return ownerOf('Job', 'report', { ...job(at), metadata });
  };
  // The first list holds the Job before its deletion.
  const listedFirst = ({ at }: Deletion): Raw => ownerOf('Job', 'report', job(at));
  return {
    sentence,
    of: finished,
    edit: [owned('Job', 'report'), list(-600, 'owner', listedFirst), change(-5, 'owner', deleted)],
    expect: { trigger },
  };
};

const jobs: Case[] = [
  ...['Suspended', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Complete'].map((type): Case => ({
    sentence: `a Job with the condition ${type} deletes its running pod`,
    of: anotherClient,
    edit: [
      owned('Job', 'report', { spec: { completions: 1 } }),
      change(-5, 'owner', ownerOf('Job', 'report', { status: condition(type) })),
    ],
    expect: { trigger: 'job', evidence: /Job report/ },
  })),
  ...[
    ['just before deletes', 500, 'job'] as const,
    ['ten minutes before does not delete', 600_000, 'unknown'] as const,
  ].map(([what, ms, trigger]): Case => {
    const failed: Edit = (all) => {
      const ended = { type: 'Failed', status: 'True', lastTransitionTime: stampOf(deletionIn(all).at - ms) };
      return owned('Job', 'report', { status: { conditions: [ended] } })(all);
    };
    return {
      sentence: `a Job that was first seen after it had failed ${what} its running pod`,
      of: anotherClient,
      edit: [failed],
      expect: { trigger },
    };
  }),
  {
    sentence: 'a Job with spec.suspend deletes its running pod, even if no Event arrives',
    of: anotherClient,
    edit: [owned('Job', 'report'), change(-5, 'owner', ownerOf('Job', 'report', { spec: { suspend: true } }))],
    expect: { trigger: 'job', evidence: /Job report suspended/ },
  },
  {
    sentence: 'a finished Job with a TTL expires and takes its finished pod along',
    of: finished,
    edit: [
      owned('Job', 'report', { spec: { ttlSecondsAfterFinished: 60 }, status: condition('Complete') }),
      change(-5, 'owner', ({ at }) => ({
        ...ownerOf('Job', 'report', { spec: { ttlSecondsAfterFinished: 60 }, status: condition('Complete') }),
        metadata: { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) },
      })),
    ],
    expect: { trigger: 'job' },
  },
  jobDeletedAfter(2 * hour, 'a Job that finished exactly its TTL ago expires by itself', 'job'),
  jobDeletedAfter(
    2 * hour - 1000,
    'a Job may expire one second early, because its finish time is cut to whole seconds',
    'job',
  ),
  jobDeletedAfter(hour, 'a Job deleted before its TTL is over was deleted by another client', 'owner-deleted'),
  {
    sentence: 'a Job without a TTL that is deleted is a deleted owner',
    of: finished,
    edit: [
      owned('Job', 'report', { status: condition('Complete') }),
      change(-5, 'owner', ownerOf('Job', 'report'), 'DELETED'),
    ],
    expect: { trigger: 'owner-deleted' },
  },
  {
    sentence: 'a Job that finished earlier does not delete its finished pod, so the trigger is unknown',
    of: finished,
    edit: [owned('Job', 'report', { status: condition('Complete') })],
    expect: { trigger: 'unknown' },
  },
];

const namespaceDeleted =
  (ms: number) =>
  ({ at }: Deletion): Raw => ({
    kind: 'Namespace',
    metadata: { name: 'story', uid: 'uid-story', deletionTimestamp: stampOf(at + ms) },
    spec: {},
    status: { phase: 'Terminating' },
  });

const namespaces: Case[] = [
  {
    sentence: 'a deleted namespace is the trigger, not the owner that is deleted with it',
    of: anotherClient,
    edit: [
      owned('StatefulSet', 'api'),
      change(-5, 'owner', ownerOf('StatefulSet', 'api'), 'DELETED'),
      list(20, 'namespace', namespaceDeleted(-1000)),
    ],
    expect: { trigger: 'namespace-deletion' },
  },
  {
    sentence: 'a namespace deleted after the pod is not the trigger',
    of: anotherClient,
    edit: [list(3000, 'namespace', namespaceDeleted(2500))],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a deleted namespace accepts no Events, so only the pod status shows that the kubelet reacted',
    of: { trigger: { kind: 'namespace-deletion', atMs: 1240 } },
    expect: { marks: { stopping: false, acknowledged: true }, outcome: 'graceful', without: ['node-silent'] },
  },
];

const setEvent = (at: number, times = {}, pod = 'api-0') => {
  const message = `delete Pod ${pod} in StatefulSet api successful`;
  return successfulDelete('StatefulSet', 'api', 'statefulset-controller', message, at, times);
};
const daemonEvent = ({ at }: Deletion) =>
  successfulDelete('DaemonSet', 'agent', 'daemonset-controller', 'Deleted pod: api-0', at);
const replicaEvent =
  (pod: string) =>
  ({ at }: Deletion) =>
    successfulDelete('ReplicaSet', 'api', 'replicaset-controller', `Deleted pod: ${pod}`, at);
const setOf3 = owned('StatefulSet', 'api', { spec: { replicas: 3 } });
const daemonsOf4 = owned('DaemonSet', 'agent', { status: { desiredNumberScheduled: 4 } });
const replicasOf3 = owned('ReplicaSet', 'api', { spec: { replicas: 3 } });
const fewerReplicas = change(-8, 'owner', ownerOf('ReplicaSet', 'api', { spec: { replicas: 2 } }));
const revision = (hash: string) => (pod: Raw) => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { 'controller-revision-hash': hash } },
});
const oldEvent = ({ at }: Deletion) => setEvent(at - 1_800_000);
/** The run starts just when the pod is deleted. */
const startsAtDeletion = [
  attach,
  ((all) => {
    const marked = all.find((one) => one.kind === 'changed' && isDeleted(one.object as Raw))?.at ?? 0;
    return all.filter((one) => one.kind === 'began' || one.at >= marked);
  }) satisfies NonNullable<Case['edit']>[number],
];
const isDeleted = ({ metadata }: Raw) => metadata['deletionTimestamp'] !== undefined;
const successor = (hash: string) =>
  change(
    2050,
    'siblings',
    ({ at, pod }) => {
      const { deletionTimestamp: _, ...metadata } = pod.metadata;
      const next = { ...metadata, name: 'agent-2', uid: 'agent-2', creationTimestamp: stampOf(at + 2000) };
      return revision(hash)({ ...pod, metadata: next });
    },
    'ADDED',
  );
const deletedDaemon = [daemonsOf4, each('pod', revision('a')), change(12, 'owner-events', daemonEvent, 'ADDED')];
const lostOwnerEvents: NonNullable<Case['edit']>[number] = (all) => {
  const at = all.find((one) => one.kind === 'changed' && isDeleted(one.object as Raw))?.at ?? 0;
  const gap = { at: at + 20, kind: 'gap', stream: 'owner-events', from: at - 20, cause: 'disconnected' } as const;
  return [...all, gap].sort((a, b) => a.at - b.at);
};

/** Other pods that the ReplicaSet created, so many seconds before the deletion. */
const createdBefore = (...seconds: number[]) =>
  list(
    -60,
    'siblings',
    ...seconds.map((before, index) => ({ at, pod }: Deletion): Raw => {
      const { deletionTimestamp: _, ...metadata } = pod.metadata;
      const other = {
        name: `api-${index + 10}`,
        uid: `uid-${index + 10}`,
        creationTimestamp: stampOf(at - before * 1000),
      };
      return { ...pod, metadata: { ...metadata, ...other } };
    }),
  );
const times = (count: number, seconds: number): number[] => Array.from({ length: count }, () => seconds);

const sets: Case[] = [
  ...(
    [
      ['25 pods in the minute before', times(25, 50), 'scale-down'],
      ['24 pods in the minute before', times(24, 50), 'unknown'],
      ['25 pods ten minutes before', times(25, 600), 'unknown'],
      ['25 pods before and one for a pod that somebody else deleted', [...times(25, 50), -1], 'unknown'],
    ] as const
  ).map(([created, seconds, trigger]): Case => ({
    sentence: `a ReplicaSet that created ${created} and then wants one less, without an Event, is: ${trigger}`,
    of: anotherClient,
    edit: [replicasOf3, fewerReplicas, createdBefore(...seconds)],
    expect: { trigger },
  })),
  {
    sentence: 'a StatefulSet rolls out when its controller deletes the pod and its replica count stays the same',
    of: anotherClient,
    edit: [setOf3, change(12, 'owner-events', ({ at }) => setEvent(at), 'ADDED')],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a StatefulSet scales down when its replica count drops before the deletion',
    of: anotherClient,
    edit: [
      setOf3,
      change(-8, 'owner', ownerOf('StatefulSet', 'api', { spec: { replicas: 2 } })),
      change(12, 'owner-events', ({ at }) => setEvent(at), 'ADDED'),
    ],
    expect: { trigger: 'scale-down' },
  },
  ...(
    [
      ['api-4', 3, 2, 'rollout'],
      ['api-3', 3, 2, 'rollout'],
      ['api-5', 3, 2, 'scale-down'],
      ['api-0', 0, 0, 'scale-down'],
      ['api-0', 1, 5, 'scale-down'],
    ] as const
  ).map(([name, start, replicas, trigger]): Case => ({
    sentence: `deleting ${name} of a StatefulSet with ${replicas} replicas and ordinals from ${start} is a ${trigger}`,
    of: { ...anotherClient, pod: { name, graceSeconds: 10, state: 'running', finalizers: [] } },
    edit: [
      owned('StatefulSet', 'api', { spec: { replicas, ordinals: { start } } }),
      change(12, 'owner-events', ({ at }) => setEvent(at, {}, name), 'ADDED'),
    ],
    expect: { trigger },
  })),
  {
    sentence: 'an Event of an earlier rollout, about an older pod of the same name, is no evidence',
    of: anotherClient,
    edit: [setOf3, list(-600, 'owner-events', oldEvent)],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'an Event of an earlier rollout is evidence when it repeats at the deletion',
    of: anotherClient,
    edit: [
      setOf3,
      list(-600, 'owner-events', oldEvent),
      change(12, 'owner-events', ({ at }) => setEvent(at, { count: 2, firstAt: at - 1_800_000 })),
    ],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a run that starts late accepts a recent Event from its first list',
    of: anotherClient,
    edit: [
      setOf3,
      ...startsAtDeletion,
      list(40, 'owner', () => ownerOf('StatefulSet', 'api', { spec: { replicas: 3 } })),
      list(40, 'owner-events', ({ at }) => setEvent(at)),
    ],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a run that starts late ignores an old Event from its first list',
    of: anotherClient,
    edit: [
      setOf3,
      ...startsAtDeletion,
      list(40, 'owner', () => ownerOf('StatefulSet', 'api', { spec: { replicas: 3 } })),
      list(40, 'owner-events', oldEvent),
    ],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'the trigger is unknown when a DaemonSet deletes a pod and wants as many pods as before',
    of: anotherClient,
    edit: deletedDaemon,
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a DaemonSet whose next pod has the same revision does not roll out',
    of: anotherClient,
    edit: [...deletedDaemon, successor('a')],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a DaemonSet whose next pod has another revision rolls out',
    of: anotherClient,
    edit: [...deletedDaemon, successor('b')],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a DaemonSet scales down when it wants a pod on fewer nodes than before',
    of: anotherClient,
    edit: [
      daemonsOf4,
      change(12, 'owner-events', daemonEvent, 'ADDED'),
      change(20, 'owner', ownerOf('DaemonSet', 'agent', { status: { desiredNumberScheduled: 3 } })),
    ],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet without a Deployment scales down when it wants fewer replicas and reports deleting the pod',
    of: anotherClient,
    edit: [replicasOf3, fewerReplicas, change(12, 'owner-events', replicaEvent('api-0'), 'ADDED')],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet without a Deployment deletes pods only to scale down, so its Event alone is enough',
    of: anotherClient,
    edit: [replicasOf3, change(12, 'owner-events', replicaEvent('api-0'), 'ADDED')],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'the trigger is unknown when a ReplicaSet wants fewer replicas but no Event names this pod',
    of: anotherClient,
    edit: [replicasOf3, fewerReplicas],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a ReplicaSet that wants fewer replicas scales down when its Event may be lost',
    of: anotherClient,
    edit: [replicasOf3, fewerReplicas, lostOwnerEvents],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet that reports deleting another pod did not delete this one',
    of: anotherClient,
    edit: [replicasOf3, fewerReplicas, change(12, 'owner-events', replicaEvent('api-9'), 'ADDED'), lostOwnerEvents],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'an unchanged ReplicaSet did not delete the pod',
    of: anotherClient,
    edit: [replicasOf3],
    expect: { trigger: 'unknown' },
  },
];

export const triggers = {
  'evidence of its own': leavingEvidence,
  Jobs: jobs,
  namespaces: namespaces,
  'StatefulSets, DaemonSets and ReplicaSets': sets,
};
