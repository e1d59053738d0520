import type { KubeObject, Lease } from '../kube.ts';
import type { ObservationOf } from '../observation.ts';
import { parseFloor, parseTime } from '../stamps.ts';
import type { Trace } from '../trace.ts';
import { foldDelay, nodeReached } from './clocks.ts';
import { foldEvent } from './events.ts';
import { isResumed } from './gaps.ts';
import type { Seen } from './notes.ts';
import { foldNamespace, foldNode, foldOwner } from './owners.ts';
import { foldPod, gone } from './pod.ts';
import { foldSibling } from './siblings.ts';
import { foldSlice } from './traffic.ts';
import { factOf, withEntry } from './notes.ts';

/** One watch line. */
export function foldChange(before: Trace, o: ObservationOf<'changed'>): Trace {
  const trace = foldDelay(before, o.stream, o.object, o, !isResumed(before, o.stream, o.at));
  const deleted = o.change === 'DELETED';
  if (o.stream === 'pod' && o.object.kind === 'Pod' && deleted && o.object.metadata.uid === trace.uid)
    return gone(foldPod(trace, o.object, o), 'deleted', o, 'DELETED');
  if (o.stream === 'siblings' && o.object.kind === 'Pod')
    return deleted ? trace : foldSibling(trace, o.object, o, 'came');
  return foldObject(trace, o.object, o, deleted ? 'deleted' : 'changed');
}

/** How an object arrived. */
export type How = 'listed' | 'changed' | 'deleted';

/** One object, by its kind; what the stream means for it is the caller's. */
export function foldObject(trace: Trace, object: KubeObject, seen: Seen, how: How): Trace {
  const deleted = how === 'deleted';
  switch (object.kind) {
    case 'Pod':
      return deleted && object.metadata.uid !== trace.uid ? trace : foldPod(trace, object, seen);
    case 'Service':
      return deleted ? trace : { ...trace, services: withEntry(trace.services, object.metadata.name, object) };
    case 'EndpointSlice':
      return foldSlice(trace, object, seen, deleted);
    case 'Event':
      return deleted ? trace : foldEvent(trace, object, seen, how === 'listed');
    case 'Node':
      return foldNode(trace, object, seen);
    case 'Lease':
      return deleted ? trace : foldLease(trace, object, seen, how === 'changed');
    case 'Namespace':
      return foldNamespace(trace, object, seen);
    default:
      return foldOwner(trace, object, seen, deleted);
  }
}

/** The kubelet renews it every ten seconds, whatever its pods do. */
function foldLease(trace: Trace, { metadata, spec }: Lease, seen: Seen, isLive: boolean): Trace {
  const stamp = parseTime(spec.renewTime);
  if (stamp === undefined) return trace;
  const written = parseFloor(metadata.managedFields?.find(({ manager }) => manager === 'kubelet')?.time);
  const { lease, renewals } = trace.nodeSigns;
  // A replayed change, and one that renews nothing, are no news of when the node's clock showed it.
  const isRenewal = isLive && stamp > (renewals.at(-1)?.value.stamp ?? -Infinity);
  const renewal = factOf({ stamp, ...(written ? { written } : {}) }, seen);
  const first = lease ?? (written && factOf({ stamp, written }, seen));
  const nodeSigns = {
    ...trace.nodeSigns,
    ...(first ? { lease: first } : {}),
    listedRenewal: trace.nodeSigns.listedRenewal ?? (isLive ? undefined : factOf(stamp, seen)),
    renewals: isRenewal ? [...renewals, renewal].slice(-mostRenewals) : renewals,
  };
  return nodeReached({ ...trace, nodeSigns }, stamp, seen);
}

/** Those of some minutes: older ones say less of a clock that drifts. */
const mostRenewals = 16;
