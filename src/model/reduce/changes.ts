/** Lists and watch events: objects that arrive, and objects that a list no longer has. */
import type { EndpointSlice, ObservedObject } from '../kube.ts';
import type { ObservationOf } from '../observation.ts';
import type { Seen, Trace } from '../trace.ts';
import { foldDelay } from './clocks.ts';
import { foldEvent } from './events.ts';
import { resumesAt } from './gaps.ts';
import { withEntry } from './notes.ts';
import { foldLease, foldMissingOwner, foldNamespace, foldNode, foldOwner, foldSlice } from './objects.ts';
import { foldPod, gone } from './pod.ts';
import { foldSiblings } from './siblings.ts';

/** Adds one watch event. */
export function foldChange(before: Trace, o: ObservationOf<'changed'>): Trace {
  const came = resumesAt(before, o.stream, o.at).length > 0 ? 'resumed' : o.change === 'ADDED' ? 'added' : 'changed';
  const trace = foldDelay(before, o.stream, o.object, o, came);
  const deleted = o.change === 'DELETED';
  if (o.stream === 'pod' && o.object.kind === 'Pod' && deleted && o.object.metadata.uid === trace.uid)
    return gone(foldPod(trace, o.object, o), 'deleted', o, 'DELETED');
  if (o.stream === 'siblings' && o.object.kind === 'Pod')
    return deleted ? trace : foldSiblings(trace, [o.object], o, o.change === 'ADDED' ? 'created' : 'existed');
  return foldObject(trace, o.object, o, deleted ? 'deleted' : 'changed');
}

/** Adds one object, by its kind. The caller handles what depends on the stream. */
function foldObject(trace: Trace, object: ObservedObject, seen: Seen, how: 'listed' | 'changed' | 'deleted'): Trace {
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

/** Adds a list: objects that are not in it do not exist. */
export function foldList(before: Trace, o: ObservationOf<'listed'>): Trace {
  const trace = o.objects.reduce((next, object) => foldDelay(next, o.stream, object, o, 'listed'), before);
  if (o.stream === 'pod') return foldPodList(trace, o);
  if (o.stream === 'siblings') return foldSiblingList(trace, o);
  if (o.stream === 'owner' && o.objects.length === 0) return foldMissingOwner(trace, o.name, o);
  const known = o.stream === 'services' ? { ...trace, servicesKnown: true } : trace;
  const next = o.objects.reduce((folded, object) => foldObject(folded, object, o, 'listed'), known);
  if (o.stream !== 'endpointslices') return next;
  return { ...foldVanishedSlices(next, o), slicesSince: next.slicesSince ?? o.at };
}

function foldPodList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  const own = pods.find((pod) => trace.uid === undefined || pod.metadata.uid === trace.uid);
  const successor = pods.find((pod) => pod !== own);
  if (own) return foldPod(trace, own, o, { consistentSince: o.sentAt });
  if (successor) return foldPod(trace, successor, o);
  if (trace.uid === undefined) return trace;
  return gone(trace, wasForced(trace) ? 'deleted' : 'absent', o, 'a new list does not have the pod');
}

/** The answer to a DELETE with grace 0 is the removed object, unless finalizers keep it (§1 "Finalizers"). */
const wasForced = (trace: Trace): boolean =>
  trace.requests.some(({ answer }) => {
    const { deletionGracePeriodSeconds: grace, finalizers = [] } = answer?.value.pod?.metadata ?? {};
    return grace === 0 && finalizers.length === 0;
  });

/** Pods in the first list existed before, unless this list is late; pods added by a later list were created since. */
function foldSiblingList(trace: Trace, o: ObservationOf<'listed'>): Trace {
  // A run that attaches may not have seen a deletion that is already under way.
  const isLate = trace.requests.length > 0 || trace.deletion !== undefined || trace.began?.value.mode === 'attach';
  const arrival = trace.siblingsKnown ? 'created' : isLate ? 'listed-late' : 'existed';
  const pods = o.objects.flatMap((object) => (object.kind === 'Pod' ? [object] : []));
  return { ...foldSiblings(trace, pods, o, arrival), siblingsKnown: true };
}

/** Slices that a new list no longer has were deleted, and the pod's endpoint with them. */
function foldVanishedSlices(trace: Trace, o: ObservationOf<'listed'>): Trace {
  const listed = new Set(o.objects.map((object) => object.metadata.name));
  return [...trace.slices].reduce((next, [name, facts]) => {
    if (listed.has(name)) return next;
    const slice: EndpointSlice = { kind: 'EndpointSlice', ...facts.slice, endpoints: [] };
    return foldSlice(next, slice, o, true);
  }, trace);
}
