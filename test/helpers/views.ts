/** What a run would have seen with fewer permissions. */
import type { Sighting } from '../../src/model/observation.ts';

/** A Role that may not read Events: the stream is refused where it would have been listed. */
export const withoutEvents = (all: readonly Sighting[]): Sighting[] =>
  refused(all, ['events', 'node-events', 'owner-events'], { resource: 'events', group: '' });

/** A Role that may not read EndpointSlices. */
export const withoutSlices = (all: readonly Sighting[]): Sighting[] =>
  refused(all, ['endpointslices'], { resource: 'endpointslices', group: 'discovery.k8s.io' });

/** A Role that may not read the Leases of nodes. */
export const withoutLeases = (all: readonly Sighting[]): Sighting[] =>
  refused(all, ['lease'], { resource: 'leases', group: 'coordination.k8s.io' });

/** A Role that may not read pods/log. */
export const withoutLogs = (all: readonly Sighting[]): Sighting[] =>
  all.filter(({ kind }) => !['log-opened', 'line', 'log-ended'].includes(kind));

function refused(
  all: readonly Sighting[],
  streams: readonly string[],
  denied: { resource: string; group: string },
): Sighting[] {
  return all.flatMap((one): Sighting[] => {
    if (!('stream' in one) || !streams.includes(one.stream)) return [one];
    if (one.kind !== 'listed') return [];
    const { at, stream } = one;
    return [{ at, kind: 'refused', stream, status: 403, verb: 'list', message: 'forbidden', ...denied }];
  });
}
