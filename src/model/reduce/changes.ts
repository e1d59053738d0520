/** Lists and watch lines: what arrives of each kind of object, and what a list lacks. */
import type { EndpointSlice, KubeObject, Lease } from '../kube.ts';
import type { ObservationOf } from '../observation.ts';
import { foldDelay, nodeReached } from './clocks.ts';
import { foldEvent } from './events.ts';
import { isResumed } from './gaps.ts';
import { factOf, withEntry, type Seen } from './notes.ts';
import { foldMissingOwner, foldNamespace, foldNode, foldOwner } from './owners.ts';
import { foldPod, gone } from './pod.ts';
import { foldSibling, foldSiblings } from './siblings.ts';
import { foldSlice } from './traffic.ts';
import { parseFloor, parseTime } from '../stamps.ts';
import type { Trace } from '../trace.ts';

/** One watch line. */
export function foldChange(before: Trace, o: ObservationOf<'changed'>): Trace {
  const came = isResumed(before, o.stream, o.at) ? 'resumed' : o.change === 'ADDED' ? 'added' : 'changed';
  const trace = foldDelay(before, o.stream, o.object, o, came);
  const deleted = o.change === 'DELETED';
  if (o.stream === 'pod' && o.object.kind === 'Pod' && deleted && o.object.metadata.uid === trace.uid)
    return gone(foldPod(trace, o.object, o), 'deleted', o, 'DELETED');
  if (o.stream === 'siblings' && o.object.kind === 'Pod')
    return deleted ? trace : foldSibling(trace, o.object, o, 'came');
  return foldObject(trace, o.object, o, deleted ? 'deleted' : 'changed');
}

/** How an object arrived. */
type How = 'listed' | 'changed' | 'deleted';

/** One object, by its kind; what the stream means for it is the caller's. */
function foldObject(trace: Trace, object: KubeObject, seen: Seen, how: How): Trace {
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
  const nodeSigns = {
    ...trace.nodeSigns,
    lease: lease ?? (written && factOf({ stamp, written }, seen)),
    listedRenewal: trace.nodeSigns.listedRenewal ?? (isLive ? undefined : factOf(stamp, seen)),
    renewals: isRenewal ? [...renewals, factOf({ stamp, written }, seen)].slice(-mostRenewals) : renewals,
  };
  return nodeReached({ ...trace, nodeSigns }, stamp, seen);
}

/** Those of some minutes: older ones say less of a clock that drifts. */
const mostRenewals = 16;

/** A whole state: what is absent from it does not exist. */
export function foldList(before: Trace, o: ObservationOf<'listed'>): Trace {
  const trace = o.objects.reduce((next, object) => foldDelay(next, o.stream, object, o, 'listed'), before);
  if (o.stream === 'pod') return foldPodList(trace, o);
  if (o.stream === 'siblings') return foldSiblingList(trace, o);
  if (o.stream === 'owner' && o.objects.length === 0) return foldMissingOwner(trace, o.name, o);
  const known = o.stream === 'services' ? { ...trace, servicesKnown: true } : trace;
  const next = o.objects.reduce((folded, object) => foldObject(folded, object, o, 'listed'), known);
  return o.stream === 'endpointslices' ? sinceListed(foldVanishedSlices(next, o), o.at) : next;
}

const sinceListed = (trace: Trace, at: number): Trace =>
  trace.slicesSince === undefined ? { ...trace, slicesSince: at } : trace;

function foldPodList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  const own = pods.find((pod) => trace.uid === undefined || pod.metadata.uid === trace.uid);
  const successor = pods.find((pod) => pod !== own);
  if (own) return foldPod(trace, own, o, { consistentSince: o.sentAt });
  if (successor) return foldPod(trace, successor, o);
  if (trace.uid === undefined) return trace;
  return gone(trace, wasForced(trace) ? 'deleted' : 'absent', o, 'a new list does not have the pod');
}

/** A DELETE with grace 0 answers with the object as it was removed: the removal itself need not be seen. */
const wasForced = (trace: Trace): boolean =>
  trace.requests.some((request) => request.answer?.value.pod?.metadata.deletionGracePeriodSeconds === 0);

/** The first list holds what was there before, unless it is late itself; what a later list adds came in between. */
function foldSiblingList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  // A run that attaches may find a deletion under way that has not arrived yet.
  const isLate = trace.requests.length > 0 || trace.deletion !== undefined || trace.began?.value.mode === 'attach';
  const coming = trace.siblingsKnown ? 'came' : isLate ? 'listed-late' : 'was-there';
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  const folded = foldSiblings(trace, pods, o, coming);
  return folded.siblingsKnown ? folded : { ...folded, siblingsKnown: true };
}

/** Slices of the same Services that a new list lacks are gone, and our endpoint with them. */
function foldVanishedSlices(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const listed = new Set(o.objects.map((object) => object.metadata.name));
  return [...trace.slices].reduce((next, [name, facts]) => {
    if (listed.has(name)) return next;
    const slice: EndpointSlice = { kind: 'EndpointSlice', ...facts.slice, endpoints: [] };
    return foldSlice(next, slice, o, true);
  }, trace);
}
