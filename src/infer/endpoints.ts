/** When each EndpointSlice stopped routing to the pod, and how many other ready endpoints there were (SIGNALS.md §3). */
import type { Fact, SliceFacts, SliceState, Trace } from '../model/trace.ts';
import { second } from '../model/span.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { reportedExit, type ContainerExit, type DeletionContext, type EndpointExit } from './context.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';

export function endpointsOf(context: DeletionContext, exits: readonly ContainerExit[]): EndpointExit[] {
  return [...context.trace.slices]
    .map(([name, facts]) => [name, { ...facts, states: statesSince(context.deletion, facts.states) }] as const)
    .filter(([, facts]) => facts.states.some((state) => state.value.own))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, facts]) => endpointExit(context, exits, name, facts));
}

/** An endpoint that leaves within this time before the deletion (ms) is part of the exit: its requests may still be open. */
const partOfExitMs = 5 * second;

/** A slice's state shortly before the deletion, and all later ones. */
function statesSince({ accepted }: Deletion, states: SliceFacts['states']): SliceFacts['states'] {
  const since = accepted.client.lo - partOfExitMs;
  return states.slice(
    Math.max(
      0,
      states.findLastIndex(({ at }) => at + 1 < since),
    ),
  );
}

function endpointExit(
  context: DeletionContext,
  exits: readonly ContainerExit[],
  slice: string,
  facts: SliceFacts,
): EndpointExit {
  const { trace } = context;
  const lastReady = facts.states.findLastIndex(({ value }) => value.own?.ready);
  const wasReady = lastReady !== -1;
  const unready = wasReady ? facts.states[lastReady + 1] : undefined;
  const gone = facts.states[facts.states.findLastIndex(({ value }) => value.own) + 1];
  const at = unready ?? facts.states.at(-1);
  // An endpoint is removed on the terminal phase, so after the last exit (trap 16), unless there is another cause.
  const ends = trace.terminal ? exits.flatMap((exit) => reportedExit(exit) ?? []) : [];
  return {
    slice,
    service: facts.service,
    addressType: facts.slice.addressType,
    staysReady: staysReady(trace, facts.service),
    wasReady,
    unroutedAt: unready && changeAt(context, `unrouted/${slice}`, unready),
    removedAt: gone && changeAt(context, `endpoint-removed/${slice}`, gone, ends),
    otherReady: at ? otherReadyAt(trace, slice, facts, at) : 0,
    counted: at ? [at.seq] : [],
  };
}

/** publishNotReadyAddresses: the endpoint is ready until it is removed (trap 15). */
const staysReady = ({ services }: Trace, service = ''): boolean =>
  services.get(service)?.spec.publishNotReadyAddresses === true;

function changeAt(
  { trace, network, deletion }: DeletionContext,
  name: string,
  state: Fact<SliceState>,
  ends: readonly Estimate[] = [],
): Estimate {
  const after = state.at + 1 < deletion.accepted.client.lo ? [] : ['accepted'];
  const written = writtenAt(trace, state, 'endpointslices');
  constrainChange(network, name, { fact: state, written, after, stamp: state.value.written });
  for (const end of ends) network.notBefore(name, end);
  return network.read(name, 'observed');
}

function otherReadyAt(trace: Trace, slice: string, facts: SliceFacts, state: Fact<SliceState>): number {
  const others = [...trace.slices].filter(([name, other]) => {
    const sameService = other.service !== undefined && other.service === facts.service;
    return name !== slice && sameService && other.slice.addressType === facts.slice.addressType;
  });
  const then = others.map(([, other]) => other.states.findLast((one) => one.at <= state.at)?.value.otherReady ?? 0);
  return state.value.otherReady + then.reduce((sum, ready) => sum + ready, 0);
}
