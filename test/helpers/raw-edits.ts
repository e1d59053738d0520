/** Finds and edits raw objects of a recording, for cases. */
import type { RawObservation } from '../../src/model/observation.ts';
import { editing, markedIn, stampOf, type Raw } from './cases.ts';

type Status = Record<string, unknown> & { state: Record<string, unknown> };

export const statusesIn = (pod: Raw): Status[] => (pod.status['containerStatuses'] ?? []) as Status[];

/** The pod as it was listed before the deletion. */
export function podBefore(rawObservations: readonly RawObservation[]): Raw {
  const { uid } = markedIn(rawObservations).object.metadata;
  const pods = rawObservations.flatMap((one) =>
    one.kind === 'listed' && one.stream === 'pod' ? one.objects : [],
  ) as Raw[];
  const found = pods.find((pod) => pod.metadata.uid === uid);
  if (!found) throw new Error('the pod was not listed');
  return structuredClone(found);
}

/** Owners as they were listed. */
export const ownersIn = (rawObservations: readonly RawObservation[]): Raw[] =>
  rawObservations.flatMap((one) => (one.kind === 'listed' && one.stream === 'owner' ? (one.objects as Raw[]) : []));

/** The Event at another time. */
export function retimed(event: Raw, at: number): Raw {
  const name = `${event.metadata.name.split('.')[0]}.${(BigInt(at) * 1_000_000n).toString(16)}`;
  const stamp = stampOf(at);
  return {
    ...event,
    metadata: { ...event.metadata, name, creationTimestamp: stamp },
    firstTimestamp: stamp,
    lastTimestamp: stamp,
  };
}

/** Changes every terminated state in the statuses of the pod. */
export function endingAs(
  rawObservations: readonly RawObservation[],
  change: Record<string, unknown>,
): RawObservation[] {
  const { uid } = markedIn(rawObservations).object.metadata;
  return editing(rawObservations, 'pod', (pod) => {
    if (pod.metadata.uid !== uid) return pod;
    for (const { state } of statusesIn(pod)) if (state['terminated']) Object.assign(state['terminated'], change);
    return pod;
  });
}
