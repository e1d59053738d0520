import type { Endpoint, EndpointSlice } from '../kube.ts';
import type { Seen, SliceFacts, SliceState, Trace } from '../trace.ts';
import { lastWritten, writesReached } from './clocks.ts';
import { factOf, note, withEntry } from './notes.ts';

const maxStates = 256;

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
    states: [...(known?.states ?? []), factOf(state, seen)].slice(-maxStates),
  };
  const next = { ...trace, slices: withEntry(trace.slices, name, facts) };
  return writesReached(note(next, seen, `slice ${name}: ${describe(state)}`), slice, seen);
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
