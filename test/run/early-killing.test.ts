/** The kubelet's Killing Event and the pod's states arrive on different streams: what is still awaited after the removal. */
import { expect, it } from 'vitest';
import { factsAwaitedUntil } from '../../src/run/ending/trace-end.ts';
import type { RawObservation } from '../../src/model/observation.ts';
import { adding, attached, changesOf, markedIn, storyObservations, without } from '../helpers/cases.ts';
import { observationsOf, traceOf } from '../helpers/recordings.ts';

const story = attached(storyObservations());
const deletedAt = markedIn(story).at;
const killing = changesOf(story, 'events').find(({ object }) => object['reason'] === 'Killing');
const endpoints = ['endpointslices'] as const;

/** ms after the removal until which facts are awaited, if Killing arrives so long after the deletion is seen. */
function awaitedFor(after: number | undefined): number {
  const quiet: RawObservation[] = without(story, 'events', ...endpoints).filter(({ kind }) => !kind.startsWith('log-'));
  const all = after === undefined || !killing ? quiet : adding(quiet, { ...killing, at: deletedAt + after });
  const trace = traceOf(observationsOf(all));
  return Math.max(0, (factsAwaitedUntil(trace) ?? NaN) - (trace.gone?.at ?? NaN));
}

it.each([
  [40, 0],
  [-40, 0],
  // A probe may have failed then.
  [-10_000, 2000],
  [undefined, 2000],
])('if Killing arrives %s ms after the deletion, more is awaited for %s ms', (after, awaited) => {
  expect(awaitedFor(after)).toBe(awaited);
});
