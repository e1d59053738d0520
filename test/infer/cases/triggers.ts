/** The edits and checks of triggers.yaml. */
import { adding, changed, eventOf, listed, ownerOf, stampOf } from '../../helpers/cases.ts';
import type { Raw } from '../../helpers/cases.ts';
import type { Edit } from './case.ts';
import type { Deletion } from './edits.ts';
import { change, deletionIn, list, owned } from './edits.ts';

/** The node becomes unschedulable at the start of the run. */
export const cordoned: Edit = (all) => {
  const nodes = all.flatMap((one) => (one.kind === 'listed' && one.stream === 'node' ? one.objects : [])) as Raw[];
  const node = { ...nodes[0], spec: { ...nodes[0]?.spec, unschedulable: true } };
  const start = all[0]?.at ?? 0;
  return adding(all, listed(start + 60, 'node', node), changed(start + 90, 'node', node));
};

export const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] });

/** The owner, as it is deleted now. */
export const deletedOwner =
  (kind: string, name: string, owner: Partial<Raw> = {}) =>
  ({ at }: Deletion): Raw => ({
    ...ownerOf(kind, name, owner),
    metadata: { ...ownerOf(kind, name).metadata, deletionTimestamp: stampOf(at) },
  });

/** A Job with a TTL of 2 h finishes this many ms before it is deleted, just before the pod. */
export const jobDeletedAfter =
  (ms: number): Edit =>
  (all) => {
    const completed = { type: 'Complete', status: 'True', lastTransitionTime: stampOf(deletionIn(all).at - ms) };
    const job = { spec: { ttlSecondsAfterFinished: 7200 }, status: { conditions: [completed] } };
    const known = list(-600, 'owner', ownerOf('Job', 'report', job))(owned('Job', 'report')(all));
    return change(-5, 'owner', deletedOwner('Job', 'report', job))(known);
  };

/** A Job whose status says that it failed this many ms before the deletion. */
export const failedJob =
  (ms: number): Edit =>
  (all) => {
    const failed = { type: 'Failed', status: 'True', lastTransitionTime: stampOf(deletionIn(all).at - ms) };
    return owned('Job', 'report', { status: { conditions: [failed] } })(all);
  };

export const namespaceDeleted =
  (ms: number) =>
  ({ at }: Deletion): Raw => ({
    kind: 'Namespace',
    metadata: { name: 'story', uid: 'uid-story', deletionTimestamp: stampOf(at + ms) },
    spec: {},
    status: { phase: 'Terminating' },
  });

const successfulDelete = (kind: string, name: string, component: string, message: string, at: number, times = {}) =>
  eventOf({ kind, name, uid: `uid-${name}` }, { reason: 'SuccessfulDelete', message, component }, { at, ...times });

/** The StatefulSet's Event about this pod. */
export const setEvent =
  (pod: string) =>
  ({ at }: Deletion): Raw =>
    setEventAt(at, {}, pod);

const setEventAt = (at: number, times = {}, pod = 'api-0'): Raw => {
  const message = `delete Pod ${pod} in StatefulSet api successful`;
  return successfulDelete('StatefulSet', 'api', 'statefulset-controller', message, at, times);
};

export const daemonEvent = ({ at }: Deletion) =>
  successfulDelete('DaemonSet', 'agent', 'daemonset-controller', 'Deleted pod: api-0', at);

export const replicaEvent =
  (pod: string) =>
  ({ at }: Deletion) =>
    successfulDelete('ReplicaSet', 'api', 'replicaset-controller', `Deleted pod: ${pod}`, at);

export const setOf3 = owned('StatefulSet', 'api', { spec: { replicas: 3 } });

export const daemonsOf4 = owned('DaemonSet', 'agent', { status: { desiredNumberScheduled: 4 } });

export const replicasOf3 = owned('ReplicaSet', 'api', { spec: { replicas: 3 } });

export const fewerReplicas = change(-8, 'owner', ownerOf('ReplicaSet', 'api', { spec: { replicas: 2 } }));

export const revision = (hash: string) => (pod: Raw) => ({
  ...pod,
  metadata: { ...pod.metadata, labels: { 'controller-revision-hash': hash } },
});

export const oldEvent = ({ at }: Deletion) => setEventAt(at - 1_800_000);

/** The run starts just when the pod is deleted. */
export const fromTheDeletionOn: Edit = (all) => {
  const marked = all.find((one) => one.kind === 'changed' && isDeleted(one.object as Raw))?.at ?? 0;
  return all.filter((one) => one.kind === 'began' || one.at >= marked);
};

const isDeleted = ({ metadata }: Raw) => metadata['deletionTimestamp'] !== undefined;

export const successor = (hash: string) =>
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

/** Other pods that the ReplicaSet created, so many seconds before the deletion. */
export const createdBefore = (...seconds: number[]) =>
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
