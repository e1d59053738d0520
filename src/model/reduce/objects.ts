/** Facts from the objects around the pod: its owners, its node and namespace, and the EndpointSlices that list it. */
import type { Endpoint, EndpointSlice, Lease, Namespace, Node, Owner } from '../kube.ts';
import { isOlder } from '../pod.ts';
import { parseFloor, parseTime } from '../stamps.ts';
import type { OwnerFacts, Seen, SliceFacts, SliceState, Trace } from '../trace.ts';
import { clockReached, lastWritten, writesReached } from './clocks.ts';
import { factOf, addNote, withEntry } from './notes.ts';

/** Adds one state of an owner; `deleted`: the owner is gone. */
export function foldOwner(trace: Trace, owner: Owner, seen: Seen, deleted = false): Trace {
  const key = owner.metadata.uid;
  if (key === '') return trace;
  const known = trace.owners.get(key);
  const stale = isOlder(owner.metadata.resourceVersion, known?.last.value.metadata.resourceVersion);
  const before = known?.wanted.at(-1)?.value;
  const wanted = desiredPods(owner);
  const isChanged = !stale && before !== wanted;
  const ended = known?.ended?.value ?? endConditionOf(owner);
  const failure = owner.status.conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True');
  const ending = deleted || owner.metadata.deletionTimestamp !== undefined;
  const facts: OwnerFacts = {
    first: known?.first ?? factOf(owner, seen),
    last: stale && known ? known.last : factOf(owner, seen),
    wanted: [...(known?.wanted ?? []), ...(isChanged ? [factOf(wanted, seen)] : [])].slice(-256),
    ended: known?.ended ?? (ended === undefined ? undefined : factOf(ended, seen)),
    failed: failure ? factOf(failure.message ?? failure.reason ?? failure.type, seen) : known?.failed,
    gone: known?.gone ?? (ending ? factOf(true, seen) : undefined),
  };
  const next = { ...trace, owners: withEntry(trace.owners, key, facts) };
  const name = `${owner.kind} ${owner.metadata.name}`;
  if (ending && !known?.gone) return addNote(next, seen, `${name} deleted`);
  if (isChanged && wanted < (before ?? -Infinity)) return addNote(next, seen, `${name} scaled to ${wanted}`);
  if (ended !== undefined && !known?.ended) return addNote(next, seen, `${name} ${ended}`);
  const { updateRevision = '' } = owner.status;
  const isNews = !stale && updateRevision !== (known?.last.value.status.updateRevision ?? '');
  const revision = updateRevision === '' ? '' : `, of revision ${updateRevision}`;
  return !known || isNews ? addNote(next, seen, `${name} wants ${wanted}${revision}`) : next;
}

/** The desired number of pods; for a DaemonSet it depends on the nodes. */
const desiredPods = ({ kind, spec, status }: Owner): number =>
  (kind === 'DaemonSet' ? status.desiredNumberScheduled : spec.replicas) ?? 0;

/** Conditions with which a Job stops its pods; the last two precede the end of the pods, the others may follow it. */
const endConditions = ['Suspended', 'Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'];

function endConditionOf({ kind, spec, status }: Owner): string | undefined {
  if (kind !== 'Job') return undefined;
  if (spec.suspend === true) return 'suspended';
  return status.conditions?.find((one) => one.status === 'True' && endConditions.includes(one.type))?.type;
}

/** A list limited to one owner's name was empty: the owner does not exist. */
export function foldMissingOwner(trace: Trace, name: string | undefined, seen: Seen): Trace {
  const reference = trace.pod?.value.metadata.ownerReferences?.find((one) => one.name === name);
  const known = [...trace.owners.values()].find((one) => one.first.value.metadata.name === name)?.first.value;
  const uid = known?.metadata.uid ?? reference?.uid;
  const kind = known?.kind ?? (reference?.kind as Owner['kind'] | undefined);
  if (name === undefined || uid === undefined || kind === undefined) return trace;
  const owner: Owner = known ?? { kind, metadata: { name, uid }, spec: {}, status: {} };
  return foldOwner(trace, owner, seen, true);
}

export function foldNode(trace: Trace, node: Node, seen: Seen): Trace {
  const ready = node.status.conditions?.find((condition) => condition.type === 'Ready')?.status;
  const last = trace.nodeReady.at(-1)?.value;
  const next = { ...foldCordon(trace, node, seen), node: factOf(node, seen) };
  if (ready === undefined || ready === last) return next;
  const nodeReady = [...trace.nodeReady, factOf(ready, seen)].slice(-64);
  return addNote({ ...next, nodeReady }, seen, `node ${node.metadata.name} Ready ${ready}`);
}

/** A node that is uncordoned after the deletion was still cordoned when it began. */
function foldCordon(trace: Trace, node: Node, seen: Seen): Trace {
  const { cordoned, ...rest } = trace;
  if (node.spec.unschedulable !== true) return cordoned && !trace.deletion ? rest : trace;
  if (cordoned) return trace;
  const next = { ...trace, cordoned: factOf(trace.node !== undefined, seen) };
  return addNote(next, seen, `node ${node.metadata.name} is unschedulable`);
}

export function foldNamespace(trace: Trace, namespace: Namespace, seen: Seen): Trace {
  const { name, deletionTimestamp } = namespace.metadata;
  const isEnding = namespace.status.phase === 'Terminating' || deletionTimestamp !== undefined;
  if (trace.namespaceEnding || !isEnding) return trace;
  const next = { ...trace, namespaceEnding: factOf(deletionTimestamp, seen) };
  return addNote(next, seen, `namespace ${name} is being deleted`);
}

/** The kubelet renews its Lease every ten seconds, independent of its pods. */
export function foldLease(trace: Trace, { metadata, spec }: Lease, seen: Seen, isLive: boolean): Trace {
  const stamp = parseTime(spec.renewTime);
  if (stamp === undefined) return trace;
  const written = parseFloor(metadata.managedFields?.find(({ manager }) => manager === 'kubelet')?.time);
  const { lease, renewals } = trace.nodeSigns;
  // A replayed change, or one without a new renewal, does not show when the node's clock reached this time.
  const isRenewal = isLive && stamp > (renewals.at(-1)?.value.stamp ?? -Infinity);
  const nodeSigns = {
    ...trace.nodeSigns,
    lease: lease ?? (written && factOf({ stamp, written }, seen)),
    listedRenewal: trace.nodeSigns.listedRenewal ?? (isLive ? undefined : factOf({ stamp, written }, seen)),
    renewals: isRenewal ? [...renewals, factOf({ stamp, written }, seen)].slice(-16) : renewals,
  };
  return clockReached({ ...trace, nodeSigns }, 'node', stamp, seen);
}

/** Adds one state of a slice; `absent`: the slice was deleted. */
export function foldSlice(trace: Trace, slice: EndpointSlice, seen: Seen, absent = false): Trace {
  if (trace.uid === undefined) return trace;
  const { name } = slice.metadata;
  const known = trace.slices.get(name);
  const state = stateOf(slice, trace.uid, absent);
  const last = known?.states.at(-1)?.value;
  if (known && last && sameState(last, state)) return trace;
  const facts: SliceFacts = {
    slice: { addressType: slice.addressType, metadata: slice.metadata },
    service: slice.metadata.labels?.['kubernetes.io/service-name'],
    states: [...(known?.states ?? []), factOf(state, seen)].slice(-256),
  };
  const next = { ...trace, slices: withEntry(trace.slices, name, facts) };
  return writesReached(addNote(next, seen, `slice ${name}: ${describe(state)}`), slice, seen);
}

/** Absent conditions: ready and serving default to true, terminating to false (SIGNALS.md §3). */
function stateOf(slice: EndpointSlice, uid: string, absent: boolean): SliceState {
  const endpoints = absent ? [] : slice.endpoints;
  const own = endpoints.find((endpoint) => endpoint.targetRef?.uid === uid);
  return {
    own: own && conditionsOf(own),
    otherReady: endpoints.filter((one) => one.targetRef?.uid !== uid && conditionsOf(one).ready).length,
    deleted: absent || undefined,
    written: lastWritten(slice),
  };
}

const conditionsOf = ({ conditions = {} }: Endpoint) => ({
  ready: conditions.ready ?? true,
  serving: conditions.serving ?? conditions.ready ?? true,
  terminating: conditions.terminating ?? false,
});

/** A Service with many endpoints changes all the time; it only matters whether any other endpoint is ready. */
const sameState = (a: SliceState, b: SliceState): boolean =>
  a.otherReady > 0 === b.otherReady > 0 &&
  a.deleted === b.deleted &&
  a.own?.ready === b.own?.ready &&
  a.own?.serving === b.own?.serving &&
  a.own?.terminating === b.own?.terminating;

function describe(state: SliceState): string {
  const own = state.own ? `ready ${state.own.ready}, serving ${state.own.serving}` : 'not listed';
  return `${own}; ${state.otherReady} other ready`;
}
