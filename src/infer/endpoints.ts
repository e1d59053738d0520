/** When each EndpointSlice stopped routing to the pod, and how many other ready endpoints there were (SIGNALS.md §3). */
import type { Fact, SliceFacts, SliceState, Trace } from '../model/trace.ts';
import { constrainChange, writtenAt } from './arrival.ts';
import { reportedExit, type ContainerExit, type DeletionContext, type EndpointExit, type PodExit } from './context.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';

export function endpointsOf(context: DeletionContext, exits: readonly ContainerExit[]): EndpointExit[] {
  return [...context.trace.slices]
    .map(([name, facts]) => [name, { ...facts, states: statesSince(context.deletion, facts.states) }] as const)
    .filter(([, facts]) => facts.states.some((state) => state.value.own))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, facts]) => endpointExit(context, exits, name, facts));
}

/** A slice's state at the deletion, and all later ones. What the endpoint left before has no part in the exit. */
function statesSince({ accepted }: Deletion, states: SliceFacts['states']): SliceFacts['states'] {
  const isBefore = ({ value, at }: Fact<SliceState>) => at + 1 < accepted.client.lo && !value.own?.terminating;
  return states.slice(Math.max(0, states.findLastIndex(isBefore)));
}

function endpointExit(
  context: DeletionContext,
  exits: readonly ContainerExit[],
  slice: string,
  facts: SliceFacts,
): EndpointExit {
  const { trace } = context;
  const marked = facts.states.findIndex((state, index) => leaves(state, facts.states[index - 1]));
  const start = marked === -1 ? facts.states.at(-1) : facts.states[marked - 1];
  const later = marked === -1 ? [] : facts.states.slice(marked);
  const wasReady = start?.value.own?.ready === true;
  const unready = wasReady ? later.find((state) => !state.value.own?.ready) : undefined;
  const gone = (start?.value.own ?? later[0]?.value.own) ? later.find((state) => !state.value.own) : undefined;
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
    removedAt: gone && changeAt(context, `endpoint-removed/${slice}`, gone, ['accepted'], ends),
    otherReady: at ? otherReadyAt(trace, slice, facts, at) : 0,
    counted: at ? [at.seq] : [],
  };
}

/** Endpoints that we saw stop routing to the pod before its deletion, because of its readiness or its labels. */
export const unroutedBefore = (exit: Pick<PodExit, 'trace' | 'deletion' | 'network' | 'endpoints'>) =>
  [...exit.trace.slices].flatMap(([slice, { service, states, slice: facts }]) => {
    const isElsewhere = exit.endpoints.some(
      (one) =>
        one.wasReady && (one.slice === slice || (one.service === service && one.addressType === facts.addressType)),
    );
    const unready = isElsewhere || staysReady(exit.trace, service) ? undefined : lostBefore(exit.deletion, states);
    return unready ? [{ slice, service, unroutedAt: changeAt(exit, `lost-ready/${slice}`, unready, []) }] : [];
  });

/** publishNotReadyAddresses: the endpoint is ready until it is removed (trap 15). */
const staysReady = ({ services }: Trace, service = ''): boolean =>
  services.get(service)?.spec.publishNotReadyAddresses === true;

function lostBefore(deletion: Deletion, allStates: SliceFacts['states']): Fact<SliceState> | undefined {
  const states = statesSince(deletion, allStates);
  const marked = states.findIndex((state, index) => leaves(state, states[index - 1]));
  const earlier = allStates.slice(0, marked === -1 ? undefined : allStates.length - states.length + marked);
  const ready = earlier.findLastIndex(({ value }) => value.own?.ready);
  return ready === -1 ? undefined : earlier[ready + 1];
}

/** Whether the endpoint is marked as terminating, or gone. Earlier states belong to the pod's life, not to its exit. */
const leaves = ({ value }: Fact<SliceState>, before: Fact<SliceState> | undefined): boolean =>
  value.own ? value.own.terminating : before?.value.own !== undefined;

function changeAt(
  { trace, network }: DeletionContext,
  name: string,
  state: Fact<SliceState>,
  after: readonly string[] = ['accepted'],
  ends: readonly Estimate[] = [],
): Estimate {
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
