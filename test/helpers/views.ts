/** What a run would have seen with fewer permissions. */
import type { Sighting } from '../../src/model/observation.ts';

const eventStreams = ['events', 'node-events', 'owner-events'];

/** A Role that may not read Events: the stream is refused where it would have been listed. */
export const withoutEvents = (all: readonly Sighting[]): Sighting[] => all.flatMap((one) => refusedInstead(one));

/** A Role that may not read pods/log. */
export const withoutLogs = (all: readonly Sighting[]): Sighting[] =>
  all.filter(({ kind }) => !['log-opened', 'line', 'log-ended'].includes(kind));

function refusedInstead(sighting: Sighting): Sighting[] {
  if (!('stream' in sighting) || !eventStreams.includes(sighting.stream)) return [sighting];
  if (sighting.kind !== 'listed') return [];
  const { at, stream } = sighting;
  const denied = { status: 403, verb: 'list', resource: 'events', group: '', message: 'forbidden' };
  return [{ at, kind: 'refused', stream, ...denied }];
}
