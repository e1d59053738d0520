import type { RawObservation } from '../../../src/model/observation.ts';

/** Returns the first raw observations except those about the clock or the connection, and ends the source. */
export async function take(
  source: AsyncGenerator<RawObservation>,
  count: number,
  except: readonly RawObservation['kind'][] = ['dated', 'resumed'],
): Promise<RawObservation[]> {
  const seen: RawObservation[] = [];
  for await (const rawObservation of source) {
    if (!except.includes(rawObservation.kind)) seen.push(rawObservation);
    if (seen.length === count) break;
  }
  return seen;
}

/** Returns all of them, to the end of the source. */
export async function all(source: AsyncGenerator<RawObservation>): Promise<RawObservation[]> {
  return await take(source, Number.POSITIVE_INFINITY);
}

export function kinds(rawObservations: readonly RawObservation[]): string[] {
  return rawObservations.map(({ kind }) => kind);
}

/** Ends a test that hangs. */
export function stopping(ms = 100_000): AbortSignal {
  return AbortSignal.timeout(ms);
}
