import type { EndpointSlice } from '../kube.ts';
import type { ObservationOf } from '../observation.ts';
import type { Trace } from '../trace.ts';
import { foldObject } from './changes.ts';
import { foldDelay } from './clocks.ts';
import { foldMissingOwner } from './owners.ts';
import { foldPod, gone } from './pod.ts';
import { foldSiblings } from './siblings.ts';
import { foldSlice } from './traffic.ts';

/** A whole state: what is absent from it does not exist. */
export function foldList(before: Trace, o: ObservationOf<'listed'>): Trace {
  const trace = o.objects.reduce((next, object) => foldDelay(next, o.stream, object, o, false), before);
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
