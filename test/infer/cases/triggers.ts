/**
 * What deleted the pod: the rows of SIGNALS.md §4 that leave evidence of their own, and what can be mistaken for them.
 */
import type { Story } from '../../sim/story.ts';
import { ownerOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import { successfulDelete } from '../../helpers/owned.ts';
import { somebody } from '../../helpers/story-changes.ts';
import type { Case } from './case.ts';
import type { Deletion } from './edits.ts';
import { attach, change, each, eachDeleted, list, owned } from './edits.ts';

const deployed: Partial<Story> = {
  owner: { kind: 'deployment', name: 'api', replicas: 2, readyAfterMs: 300 },
  pod: { name: 'api-5d4f-x2', graceSeconds: 10, state: 'running', finalizers: [] },
};
const by = (kind: 'taint' | 'device-taint' | 'pod-gc' | 'preemption' | 'rollout' | 'scale-down' | 'owner-deleted') => ({
  trigger: { kind, atMs: 1240 } as Story['trigger'],
});

const leavingEvidence: Case[] = [
  {
    sentence: 'a NoExecute taint',
    of: by('taint'),
    expect: { trigger: 'taint', evidence: /Event TaintManagerEviction/ },
  },
  {
    sentence: 'a device taint',
    of: by('device-taint'),
    expect: {
      trigger: 'device-taint',
      evidence: /DisruptionTarget: DeletionByDeviceTaintManager[^]*Event DeviceTaintManagerEviction/,
    },
  },
  {
    sentence: 'PodGC, as the node is gone',
    of: by('pod-gc'),
    expect: { trigger: 'pod-gc', evidence: /DeletionByPodGC/ },
  },
  {
    sentence: 'a preemption',
    of: by('preemption'),
    expect: { trigger: 'preemption', evidence: /PreemptionByScheduler/ },
  },
  { sentence: 'a rollout', of: { ...deployed, ...by('rollout') }, expect: { trigger: 'rollout', evidence: /Scaling/ } },
  {
    sentence: 'a scale-down',
    of: { ...deployed, ...by('scale-down') },
    expect: { trigger: 'scale-down', evidence: /scaled/ },
  },
  {
    sentence: 'an owner that was deleted',
    of: { ...deployed, ...by('owner-deleted') },
    expect: { trigger: 'owner-deleted', evidence: /deleted/ },
  },
  {
    sentence: 'a Job that is suspended',
    of: { owner: { kind: 'job', name: 'report' }, trigger: { kind: 'job', atMs: 1240 } },
    expect: { trigger: 'job', evidence: /Event SuccessfulDelete/ },
  },
  {
    sentence: 'nobody that left evidence',
    of: somebody,
    expect: { trigger: 'unknown', evidence: /deletionTimestamp/ },
  },
  {
    sentence: 'PodGC without a condition: Failed and grace 0 over containers that nobody stopped',
    of: { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } },
    edit: [eachDeleted((pod) => ({ ...pod, status: { ...pod.status, phase: 'Failed' } }))],
    expect: { trigger: 'pod-gc' },
  },
  {
    sentence: 'grace 0 alone is no PodGC',
    of: { trigger: { kind: 'unknown', atMs: 1240, graceSeconds: 0 } },
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a drain: an eviction on a node that takes no new pods, which is part of the evidence',
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
    sentence: 'an eviction on a node that takes pods',
    of: 'evicted',
    edit: [attach],
    expect: { trigger: 'eviction-api', noEvidence: /unschedulable/ },
  },
  {
    sentence: 'our own request, whatever happened around it',
    of: { owner: { kind: 'job', name: 'report' } },
    edit: [change(-2, 'owner', ownerOf('Deployment', 'api'), 'DELETED')],
    expect: { trigger: 'this-command' },
  },
];

const finished: Partial<Story> = {
  ...somebody,
  pod: { name: 'api-0', graceSeconds: 10, state: 'finished', finalizers: [] },
};
const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] });
const hour = 3_600_000;

/** A Job with a TTL of 2 h that ended this many ms before it is deleted. */
const goingAfter = (ms: number, sentence: string, trigger: 'job' | 'owner-deleted'): Case => {
  const job = (at: number): Partial<Raw> => ({
    spec: { ttlSecondsAfterFinished: 7200 },
    status: { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: stampOf(at - ms) }] },
  });
  const going = ({ at }: Deletion): Raw => {
    const metadata = { ...ownerOf('Job', 'report').metadata, deletionTimestamp: stampOf(at) };
    return ownerOf('Job', 'report', { ...job(at), metadata });
  };
  // It was listed as it stood before.
  const listedFirst = ({ at }: Deletion): Raw => ownerOf('Job', 'report', job(at));
  return {
    sentence,
    of: finished,
    edit: [owned('Job', 'report'), list(-600, 'owner', listedFirst), change(-5, 'owner', going)],
    expect: { trigger },
  };
};

const jobs: Case[] = [
  ...['Suspended', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Complete'].map((type): Case => ({
    sentence: `a Job that ends its work (${type}) deletes what still runs of it`,
    of: somebody,
    edit: [
      owned('Job', 'report', { spec: { completions: 1 } }),
      change(-5, 'owner', ownerOf('Job', 'report', { status: condition(type) })),
    ],
    expect: { trigger: 'job', evidence: /Job report/ },
  })),
  {
    sentence: 'a Job that is suspended by its spec, where no Event came through',
    of: somebody,
    edit: [owned('Job', 'report'), change(-5, 'owner', ownerOf('Job', 'report', { spec: { suspend: true } }))],
    expect: { trigger: 'job', evidence: /Job report suspended/ },
  },
  {
    sentence: 'a Job that outlives its time to live takes its finished pod with it',
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
  goingAfter(2 * hour, 'a Job that ended as long ago as its time to live goes by itself', 'job'),
  goingAfter(2 * hour - 1000, 'a Job goes by itself within the second of its stamp', 'job'),
  goingAfter(hour, 'a Job that goes before its time was deleted by somebody', 'owner-deleted'),
  {
    sentence: 'a Job that somebody deletes is a deleted owner',
    of: finished,
    edit: [
      owned('Job', 'report', { status: condition('Complete') }),
      change(-5, 'owner', ownerOf('Job', 'report'), 'DELETED'),
    ],
    expect: { trigger: 'owner-deleted' },
  },
  {
    sentence: 'a Job that ended long ago does not delete its finished pod: some client did',
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
    sentence: 'a namespace that is being deleted, and not the owners that go with it',
    of: somebody,
    edit: [
      owned('StatefulSet', 'api'),
      change(-5, 'owner', ownerOf('StatefulSet', 'api'), 'DELETED'),
      list(20, 'namespace', namespaceDeleted(-1000)),
    ],
    expect: { trigger: 'namespace-deletion' },
  },
  {
    sentence: 'a namespace whose deletion came after the pod’s is no cause of it',
    of: somebody,
    edit: [list(3000, 'namespace', namespaceDeleted(2500))],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a namespace that is being deleted brings no Events: the kubelet is seen by its statuses alone',
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
/** A run that started just when the pod was deleted. */
const comesLate = [
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

const sets: Case[] = [
  {
    sentence: 'a StatefulSet rolls out: its controller says that it deleted the pod, and its replicas stay',
    of: somebody,
    edit: [setOf3, change(12, 'owner-events', ({ at }) => setEvent(at), 'ADDED')],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a StatefulSet scales down: its replicas went down before',
    of: somebody,
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
    sentence: `${name} of a StatefulSet whose ordinals begin at ${start} and are ${replicas}: a ${trigger}`,
    of: { ...somebody, pod: { name, graceSeconds: 10, state: 'running', finalizers: [] } },
    edit: [
      owned('StatefulSet', 'api', { spec: { replicas, ordinals: { start } } }),
      change(12, 'owner-events', ({ at }) => setEvent(at, {}, name), 'ADDED'),
    ],
    expect: { trigger },
  })),
  {
    sentence: 'an Event of the last rollout, about an older pod of the same name, is no cause',
    of: somebody,
    edit: [setOf3, list(-600, 'owner-events', oldEvent)],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'the same Event, repeated at the deletion, is one',
    of: somebody,
    edit: [
      setOf3,
      list(-600, 'owner-events', oldEvent),
      change(12, 'owner-events', ({ at }) => setEvent(at, { count: 2, firstAt: at - 1_800_000 })),
    ],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a run that comes late finds the Event in its list, and believes it',
    of: somebody,
    edit: [
      setOf3,
      ...comesLate,
      list(40, 'owner', () => ownerOf('StatefulSet', 'api', { spec: { replicas: 3 } })),
      list(40, 'owner-events', ({ at }) => setEvent(at)),
    ],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a run that comes late does not believe an Event of long ago',
    of: somebody,
    edit: [
      setOf3,
      ...comesLate,
      list(40, 'owner', () => ownerOf('StatefulSet', 'api', { spec: { replicas: 3 } })),
      list(40, 'owner-events', oldEvent),
    ],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a DaemonSet that wants as many pods as before did what is not known',
    of: somebody,
    edit: deletedDaemon,
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a DaemonSet whose next pod has the same revision did not roll out',
    of: somebody,
    edit: [...deletedDaemon, successor('a')],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a DaemonSet whose next pod has another revision rolls out',
    of: somebody,
    edit: [...deletedDaemon, successor('b')],
    expect: { trigger: 'rollout' },
  },
  {
    sentence: 'a DaemonSet scales down: it wants a pod on fewer nodes than before',
    of: somebody,
    edit: [
      daemonsOf4,
      change(12, 'owner-events', daemonEvent, 'ADDED'),
      change(20, 'owner', ownerOf('DaemonSet', 'agent', { status: { desiredNumberScheduled: 3 } })),
    ],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet without a Deployment scales down: it wants fewer, and says which pod it deleted',
    of: somebody,
    edit: [replicasOf3, fewerReplicas, change(12, 'owner-events', replicaEvent('api-0'), 'ADDED')],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet without a Deployment deletes a pod only where it has too many',
    of: somebody,
    edit: [replicasOf3, change(12, 'owner-events', replicaEvent('api-0'), 'ADDED')],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet that wants fewer is not known to have chosen this pod: it says which one it deleted',
    of: somebody,
    edit: [replicasOf3, fewerReplicas],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a ReplicaSet that wants fewer may have said so while its Events were cut off',
    of: somebody,
    edit: [replicasOf3, fewerReplicas, lostOwnerEvents],
    expect: { trigger: 'scale-down' },
  },
  {
    sentence: 'a ReplicaSet that says it deleted another pod did not delete this one',
    of: somebody,
    edit: [replicasOf3, fewerReplicas, change(12, 'owner-events', replicaEvent('api-9'), 'ADDED'), lostOwnerEvents],
    expect: { trigger: 'unknown' },
  },
  {
    sentence: 'a ReplicaSet of which nothing changed was not the one that deleted it',
    of: somebody,
    edit: [replicasOf3],
    expect: { trigger: 'unknown' },
  },
];

export const triggers = { 'what left evidence': leavingEvidence, 'a Job': jobs, 'a namespace': namespaces, sets: sets };
