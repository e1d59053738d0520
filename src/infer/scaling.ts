/** What a Deployment says in its Events that it did to its ReplicaSets (SIGNALS.md §4). */
import type { Fact, Occurrence, OwnerFacts, Trace } from '../model/trace.ts';
import { isAroundDeletion, deliveryLag, withinCauseWindow } from './cause-window.ts';
import { isMerged, newestMessage } from './missing-events.ts';

export interface Scaling {
  readonly way: 'up' | 'down';
  /** Name of the ReplicaSet. */
  readonly set: string;
  /** How many pods it had to have before, where that is said, and has to have now. */
  readonly from?: number;
  readonly to: number;
  readonly event: Occurrence;
}

export const scalingsOf = ({ events }: Trace): Scaling[] =>
  events.flatMap((event) => {
    const [, way, set, from, to] = scaled.exec(newestMessage(event)) ?? [];
    if (event.reason !== 'ScalingReplicaSet' || set === undefined) return [];
    const before = from === undefined ? {} : { from: Number(from) };
    return [{ way: way === 'up' ? ('up' as const) : ('down' as const), set, ...before, to: Number(to), event }];
  });

const scaled = /^Scaled (up|down) replica set (\S+) (?:from (\d+) )?to (\d+)$/;

/** The ReplicaSet that was scaled up last; undefined where that is not known. */
export function newestGrown(trace: Trace, until: number): Scaling | undefined {
  const known = scalingsOf(trace).filter(({ way, event }) => way === 'up' && event.at <= until);
  const newest = known.sort((a, b) => a.event.time.lo - b.event.time.lo).at(-1);
  return newest && !isHiddenSince(trace, newest) ? newest : undefined;
}

/** A list holds only the newest of those that were merged into one Event: what was scaled up between is lost. */
const isHiddenSince = ({ events }: Trace, newest: Scaling): boolean =>
  events.some(
    (event) =>
      event.reason === 'ScalingReplicaSet' &&
      isMerged(event) &&
      event.isOld &&
      event.id !== newest.event.id &&
      event.time.hi > newest.event.time.lo,
  );

/** The times that an owner came to want fewer pods, around the deletion: the facts that show them, and by how many in all. */
export interface Lowering {
  readonly facts: readonly Pick<Fact<unknown>, 'seq' | 'at'>[];
  readonly by: number;
}

/** By its own state: what it wanted before and after. */
export function loweredNear(owner: OwnerFacts | undefined, trace: Trace): Lowering | undefined {
  const steps = (owner?.wanted ?? []).flatMap((fact, index, all) => {
    const by = (all[index - 1]?.value ?? fact.value) - fact.value;
    return by > 0 && withinCauseWindow(fact, trace) ? [{ fact, by }] : [];
  });
  return steps.length === 0
    ? undefined
    : { facts: steps.map(({ fact }) => fact), by: steps.reduce((sum, { by }) => sum + by, 0) };
}

/** By its Deployment's Events about it. */
export function shrunkNear(set: string, trace: Trace): Lowering | undefined {
  const steps = scalingsOf(trace).filter(
    (one) => one.way === 'down' && one.set === set && isAroundDeletion(one.event, trace),
  );
  return steps.length === 0
    ? undefined
    : {
        facts: steps.map(({ event }) => event),
        by: steps.reduce((sum, { from, to }) => sum + ((from ?? to + 1) - to), 0),
      };
}

/** How many pods an owner wanted at a time (client ms); undefined where that is not known. */
export const wantedAt = ({ wanted }: OwnerFacts, at: number): number | undefined =>
  (wanted.findLast((fact) => fact.at <= at + deliveryLag) ?? wanted[0])?.value;
