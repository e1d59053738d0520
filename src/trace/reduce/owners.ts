import type { Namespace, Node, Owner } from '../kube.ts';
import type { OwnerFacts, Trace } from '../trace.ts';
import type { Seen } from './notes.ts';
import { factOf, note, withEntry } from './notes.ts';

/** One state of an owner in the pod's chain; `deleted` where it is gone. */
export function foldOwner(trace: Trace, owner: Owner, seen: Seen, deleted = false): Trace {
  const key = owner.metadata.uid;
  if (key === '') return trace;
  const known = trace.owners.get(key);
  const lowered = known && (owner.spec.replicas ?? 0) < (known.last.value.spec.replicas ?? 0);
  const ending = deleted || owner.metadata.deletionTimestamp !== undefined;
  const facts: OwnerFacts = {
    first: known?.first ?? factOf(owner, seen),
    last: factOf(owner, seen),
    ...(known?.lowered || lowered ? { lowered: known?.lowered ?? factOf(true, seen) } : {}),
    ...(known?.gone || ending ? { gone: known?.gone ?? factOf(true, seen) } : {}),
  };
  const next = { ...trace, owners: withEntry(trace.owners, key, facts) };
  if (ending && !known?.gone) return note(next, seen, `${owner.kind} ${owner.metadata.name} deleted`);
  if (lowered && !known.lowered)
    return note(next, seen, `${owner.kind} ${owner.metadata.name} scaled to ${owner.spec.replicas}`);
  return next;
}

/** A list narrowed to one owner's name came back empty: the owner does not exist. */
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
  const next = { ...trace, node: factOf(node, seen) };
  if (ready === undefined || ready === last) return next;
  return note(
    { ...next, nodeReady: [...trace.nodeReady, factOf(ready, seen)].slice(-64) },
    seen,
    `node ${node.metadata.name} Ready ${ready}`,
  );
}

export function foldNamespace(trace: Trace, namespace: Namespace, seen: Seen): Trace {
  const ending = namespace.status.phase === 'Terminating' || namespace.metadata.deletionTimestamp !== undefined;
  if (trace.namespaceEnding || !ending) return trace;
  return note(
    { ...trace, namespaceEnding: factOf(true, seen) },
    seen,
    `namespace ${namespace.metadata.name} is being deleted`,
  );
}
