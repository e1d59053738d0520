import type { Sighting } from '../../../src/model/observation.ts';

/** The first sightings that are not about the clock or the connection; leaves the source then. */
export async function take(source: AsyncGenerator<Sighting>, count: number): Promise<Sighting[]> {
  const seen: Sighting[] = [];
  for await (const sighting of source) {
    if (sighting.kind !== 'dated' && sighting.kind !== 'resumed') seen.push(sighting);
    if (seen.length === count) break;
  }
  return seen;
}

/** All of them, to the end. */
export async function all(source: AsyncGenerator<Sighting>): Promise<Sighting[]> {
  return await take(source, Number.POSITIVE_INFINITY);
}

export function kinds(sightings: readonly Sighting[]): string[] {
  return sightings.map(({ kind }) => kind);
}

/** Ends a test that hangs. */
export function stopping(ms = 10_000): AbortSignal {
  return AbortSignal.timeout(ms);
}
