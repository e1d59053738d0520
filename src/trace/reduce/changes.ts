import type { KubeObject, Lease } from '../kube.ts';
import type { ObservationOf } from '../observation.ts';
import { parseFloor, parseTime } from '../stamps.ts';
import type { Trace } from '../trace.ts';
import { nodeReached } from './clocks.ts';
import { foldEvent } from './events.ts';
import type { Seen } from './notes.ts';
import { foldNamespace, foldNode, foldOwner } from './owners.ts';
import { foldPod, gone } from './pod.ts';
import { foldSibling } from './siblings.ts';
import { foldSlice } from './traffic.ts';
import { factOf, withEntry } from './notes.ts';

/** One watch line. */
export function foldChange(trace: Trace, o: ObservationOf<'changed'>): Trace {
  const deleted = o.change === 'DELETED';
  if (o.stream === 'pod' && o.object.kind === 'Pod' && deleted && o.object.metadata.uid === trace.uid)
    return gone(foldPod(trace, o.object, o), 'deleted', o, 'DELETED');
  if (o.stream === 'siblings' && o.object.kind === 'Pod')
    return deleted ? trace : foldSibling(trace, o.object, o, 'came');
  return foldObject(trace, o.object, o, deleted ? 'deleted' : 'changed');
}

/** How an object was told. */
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
      return foldLease(trace, object, seen);
    case 'Namespace':
      return foldNamespace(trace, object, seen);
    default:
      return foldOwner(trace, object, seen, deleted);
  }
}

/** The kubelet renews it every ten seconds, whatever its pods do. */
function foldLease(trace: Trace, { metadata, spec }: Lease, seen: Seen): Trace {
  const stamp = parseTime(spec.renewTime);
  const written = parseFloor(metadata.managedFields?.find(({ manager }) => manager === 'kubelet')?.time);
  const known = nodeReached(trace, stamp, seen);
  if (stamp === undefined || !written || trace.nodeSigns.lease) return known;
  return { ...known, nodeSigns: { ...known.nodeSigns, lease: factOf({ stamp, written }, seen) } };
}
