/** A run is handed what was heard before it (foregoing.ts), and told where that ends and its own first looks begin. */
import { sightingsOf } from './foregoing.ts';
import type { Run } from './live.ts';
import type { ToldRoutes } from './routes-ahead.ts';
import { covers, readLabels } from './selectors.ts';
import type { Raw, Target } from './watched.ts';
import { asRaw, isSelecting, namesOf, selects } from './watched.ts';

/**
 * Tells the pod's states and who routed to it until now, ahead of what the run finds itself, at `at` (client ms). What was not
 * heard of the routes is a gap until the run's own first look.
 */
export function handOverPast({ options: { before }, deliver }: Run, at: number): ToldRoutes | undefined {
  if (!before) return undefined;
  const told = before.routes();
  before.stop();
  for (const sighting of sightingsOf(before, at, told)) void deliver(sighting);
  if (!told || told.lostSince !== undefined)
    void deliver({
      kind: 'gap',
      at,
      stream: 'endpointslices',
      from: told?.lostSince ?? before.alive.at,
      cause: 'not-synced',
    });
  return told;
}

/** The first look finds what is as old as the deletion, and Services that nobody heard of before. At `at`, client ms. */
export function joinRoutes(
  { options: { before }, deliver }: Run,
  told: ToldRoutes | undefined,
  found: readonly Raw[],
  at: number,
): void {
  if (!before || !told) return;
  void deliver({ kind: 'resumed', at, stream: 'endpointslices', since: before.since });
  const known = new Set(namesOf(told.services.objects.map(asRaw)));
  const isNew = namesOf(found.filter(isSelecting)).some((name) => !known.has(name));
  if (isNew)
    void deliver({ kind: 'gap', at, stream: 'endpointslices', from: before.alive.at, to: at, cause: 'not-synced' });
}

/**
 * Tells who there was when the pod began to terminate, as a watch that had them all heard it before this run: whoever else the
 * run finds came after that. Returns what to do when its own first look has come, at `at` (client ms).
 */
export function handOverSiblings({ options: { before }, deliver }: Run, target: Target): (at: number) => void {
  const watched = before?.siblings && readLabels(before.siblings.labels);
  if (!before?.siblings || !watched || !covers(watched, target.labelSelector ?? {})) return () => {};
  const { since, siblings, ending } = before;
  const stream = 'siblings';
  const objects = siblings.pods.filter((pod) => selects(target, pod));
  void deliver({ kind: 'listed', at: ending.at, stream, resourceVersion: '', objects });
  return (at) => void deliver({ kind: 'resumed', at, stream, since });
}
