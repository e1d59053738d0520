/**
 * What follows the end of the containers. When each EndpointSlice stopped routing to the pod, and how many other ready
 * endpoints there were (SIGNALS.md §3). Then clean-up, the kubelet's last DELETE, finalizers and the removal of the object.
 */
import { isFinished } from '../model/pod.ts';
import { atLeast } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { Fact, SliceFacts, SliceState, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import { reportedExit, type ContainerExit, type DeletionContext, type EndpointExit } from './context.ts';
import { ranAtDeletion, type Deletion } from './deletion.ts';
import { isBefore, narrowed, narrowedByCause, onClient, unbounded, type Estimate } from './estimate.ts';

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
  const staysReady = trace.services.get(facts.service ?? '')?.spec.publishNotReadyAddresses === true;
  const at = unready ?? facts.states.at(-1);
  const unroutedAt = unready && { ...changeOf(context, unready), serving: unready.value.own?.serving ?? false };
  return {
    slice,
    service: facts.service,
    addressType: facts.slice.addressType,
    staysReady,
    wasReady,
    unroutedAt,
    removedAt: gone && afterContainers(trace, changeOf(context, gone), exits),
    otherReady: at ? otherReadyAt(trace, slice, facts, at) : 0,
    counted: at ? [at.seq] : [],
  };
}

/** Where an endpoint was, and when it stopped being ready. */
export type RoutedEndpoint = Pick<EndpointExit, 'slice' | 'service'> & { readonly unroutedAt?: Estimate };

/**
 * Slices that we saw stop routing to the pod before its deletion, because of its readiness or its labels. An endpoint that
 * moved to another slice of the same Service does not count.
 */
export function unroutedBefore(
  context: DeletionContext,
  endpoints: readonly Pick<EndpointExit, 'slice' | 'service' | 'addressType' | 'wasReady'>[],
): readonly RoutedEndpoint[] {
  return [...context.trace.slices].flatMap(([slice, facts]) => {
    const { service, states } = facts;
    const { addressType } = facts.slice;
    const isElsewhere = endpoints.some(
      (one) => one.wasReady && (one.slice === slice || (one.service === service && one.addressType === addressType)),
    );
    const unready = isElsewhere ? undefined : lostBefore(context.deletion, states);
    if (!unready) return [];
    return [{ slice, service, unroutedAt: changeOf(context, unready, unbounded) }];
  });
}

/** The state in which the endpoint became not ready, for the last time before the deletion. */
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

/** When a slice was written: between the cause, or the slice's own timestamp, and the arrival. */
function changeOf(
  { trace, deletion, network }: DeletionContext,
  state: Fact<SliceState>,
  cause = deletion.accepted,
): Estimate {
  const arrived = arrival(trace, state, 'endpointslices', cause);
  return network.narrowedByStamp(arrived, 'api', state.value.written, state);
}

/** An endpoint is removed on the terminal phase, so after the last exit, unless the pod was removed first (trap 16). */
function afterContainers(trace: Trace, removed: Estimate, exits: readonly ContainerExit[]): Estimate {
  if (!trace.terminal) return removed;
  const ends = exits.flatMap((exit) => reportedExit(exit) ?? []);
  // If it was certainly removed earlier, the cause is another one (a label, a selector, the slice itself).
  return ends.reduce((next, end) => (isBefore(removed, end) ? next : narrowedByCause(next, end)), removed);
}

function otherReadyAt(trace: Trace, slice: string, facts: SliceFacts, state: Fact<SliceState>): number {
  const others = [...trace.slices].filter(([name, other]) => {
    const sameService = other.service !== undefined && other.service === facts.service;
    return name !== slice && sameService && other.slice.addressType === facts.slice.addressType;
  });
  const then = others.map(
    ([, other]) => other.states.filter((one) => one.at <= state.at).at(-1)?.value.otherReady ?? 0,
  );
  return state.value.otherReady + then.reduce((sum, ready) => sum + ready, 0);
}

/**
 * `done`: the pod's phase became Succeeded or Failed, after the deletion. `held`: from then on only finalizers kept the
 * object.
 */
export function removalOf(context: DeletionContext, exits: readonly ContainerExit[]) {
  const { trace, deletion } = context;
  const done = doneAt(context, exits);
  const final = finalAt(context, done ?? (ranAtDeletion(deletion) ? deletion.accepted : undefined));
  const finalizers = trace.finalizing?.value ?? [];
  // If nothing can run, the first DELETE is also the last one (trap 5).
  const idle = isIdle(deletion) ? deletion.accepted : undefined;
  // If grace 0 was stored while it ran, the kubelet's last DELETE changes nothing, and is not seen (SIGNALS.md §0 row 9).
  const held = final ?? idle ?? (trace.finalizing ? done : undefined);
  const removed = trace.gone && arrival(trace, trace.gone, 'pod', final ?? done ?? deletion.accepted);
  // A copy, as the schedule knows each mark by its moment, and `held` has a mark of its own.
  return {
    done,
    finalDelete: final,
    finalizers,
    held: finalizers.length > 0 && held ? { ...held } : undefined,
    removed,
  };
}

const isIdle = (deletion: Deletion): boolean => !ranAtDeletion(deletion) || deletion.pod.spec.nodeName === undefined;

function doneAt({ trace, deletion }: DeletionContext, exits: readonly ContainerExit[]): Estimate | undefined {
  if (!trace.terminal || isFinished(deletion.pod)) return undefined;
  const ends = exits.flatMap((exit) => reportedExit(exit) ?? []);
  return ends.reduce(narrowedByCause, arrival(trace, trace.terminal, 'pod', deletion.accepted));
}

/** The kubelet's last DELETE: grace 0 on a finished pod. On a running pod, grace 0 is a forced DELETE (trap 4). */
function finalAt({ trace, network }: DeletionContext, done: Estimate | undefined): Estimate | undefined {
  const final = trace.finalDelete;
  if (!final || !isFinished(final.value) || !done) return undefined;
  const arrived = arrival(trace, final, 'pod', done);
  const stamp = parseFloor(final.value.metadata.deletionTimestamp);
  if (!stamp) return arrived;
  // A timestamp after the arrival proves nothing: the server's clock may have been set.
  const { lo } = network.toClient('api', stamp, final.at + 1, arrived.client.lo);
  return lo <= arrived.client.hi ? narrowed(arrived, onClient(atLeast(lo), [final.seq])) : arrived;
}
