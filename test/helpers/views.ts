/** The raw observations of a run with fewer permissions. */
import type { RawObservation } from '../../src/model/observation.ts';

/** A Role that may not read Events: the list is refused. */
export const withoutEvents = (all: readonly RawObservation[]): RawObservation[] =>
  refused(all, ['events', 'node-events', 'owner-events'], { resource: 'events', group: '' });

/** A Role that may not read EndpointSlices. */
export const withoutSlices = (all: readonly RawObservation[]): RawObservation[] =>
  refused(all, ['endpointslices'], { resource: 'endpointslices', group: 'discovery.k8s.io' });

/** A Role that may not read the Leases of nodes. */
export const withoutLeases = (all: readonly RawObservation[]): RawObservation[] =>
  refused(all, ['lease'], { resource: 'leases', group: 'coordination.k8s.io' });

/** A Role that may not read pods/log. */
export const withoutLogs = (all: readonly RawObservation[]): RawObservation[] =>
  all.filter(({ kind }) => !['log-opened', 'line', 'log-ended'].includes(kind));

function refused(
  all: readonly RawObservation[],
  streams: readonly string[],
  denied: { resource: string; group: string },
): RawObservation[] {
  return all.flatMap((one): RawObservation[] => {
    if (!('stream' in one) || !streams.includes(one.stream)) return [one];
    if (one.kind !== 'listed') return [];
    const { at, stream } = one;
    return [{ at, kind: 'refused', stream, status: 403, verb: 'list', message: 'forbidden', ...denied }];
  });
}
