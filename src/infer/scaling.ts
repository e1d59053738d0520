/** What a Deployment says in its Events that it did to its ReplicaSets (SIGNALS.md §4). */
import type { Occurrence, Trace } from '../model/trace.ts';
import { isMerged, newestMessage } from './merged.ts';

export interface Scaling {
  readonly way: 'up' | 'down';
  /** Name of the ReplicaSet. */
  readonly set: string;
  /** How many pods it is to have. */
  readonly to: number;
  readonly event: Occurrence;
}

export const scalingsOf = ({ events }: Trace): Scaling[] =>
  events.flatMap((event) => {
    const [, way, set, to] = scaled.exec(newestMessage(event)) ?? [];
    if (event.reason !== 'ScalingReplicaSet' || set === undefined) return [];
    return [{ way: way === 'up' ? ('up' as const) : ('down' as const), set, to: Number(to), event }];
  });

const scaled = /^Scaled (up|down) replica set (\S+) (?:from \d+ )?to (\d+)$/;

/** The ReplicaSet that was scaled up last; undefined where that is not known. */
export function newestGrown(trace: Trace, until: number): Scaling | undefined {
  const told = scalingsOf(trace).filter(({ way, event }) => way === 'up' && event.at <= until);
  const newest = told.sort((a, b) => a.event.time.lo - b.event.time.lo).at(-1);
  return newest && !isHiddenSince(trace, newest) ? newest : undefined;
}

/** A list tells only the newest of those that became one Event: whoever was scaled up between is not told. */
const isHiddenSince = ({ events }: Trace, newest: Scaling): boolean =>
  events.some(
    (event) =>
      event.reason === 'ScalingReplicaSet' &&
      isMerged(event) &&
      event.isOld &&
      event.id !== newest.event.id &&
      event.time.hi > newest.event.time.lo,
  );
