/** Who routes to a workload's pods, heard before any of them terminates: the first look of a pod's own run comes too late. */
import type { Cluster } from '../cluster/cluster.ts';
import type { Health } from '../cluster/health.ts';
import { listPatiently } from '../cluster/list-patiently.ts';
import { watchObjects } from '../cluster/watch.ts';
import type { Sighting } from '../trace/observation.ts';
import { watchTarget } from './follow.ts';
import type { Raw, Target } from './watched.ts';
import { asRaw, candidateServices, firstTargets, metadataOf, sliceTarget } from './watched.ts';

export interface RoutesAhead {
  /** Watches the slices that may route to such a pod. */
  expect(pod: Raw): Promise<void>;
  /** Of the slices of exactly these Services. Undefined where they were not in sync yet, or others were watched. */
  told(services: readonly string[]): ToldRoutes | undefined;
}

export interface ToldRoutes {
  /** A whole state, then its changes. */
  readonly sightings: readonly Sighting[];
  /** Client ms: the connection is gone since. */
  readonly lostSince?: number;
}

/** Ends with the signal. What cannot be read is left to each pod's own run, which says so. */
export function routesAhead(cluster: Cluster, signal: AbortSignal): RoutesAhead {
  const { namespace } = cluster;
  const heard = new Map<string, Heard>();
  let listed: Promise<readonly Raw[]> | undefined;
  return {
    async expect(pod) {
      listed ??= services(cluster, signal);
      const names = namesOf(candidateServices(await listed, pod));
      const slices = sliceTarget(namespace, names);
      if (!slices || heard.has(keyOf(names)) || signal.aborted) return;
      const hearing = createHeard();
      heard.set(keyOf(names), hearing);
      await listen(cluster, slices, hearing, signal);
    },
    told: (names) => heard.get(keyOf(names))?.told(),
  };
}

/** Names of Services, as `told` is asked with them. */
export const namesOf = (services: readonly Raw[]): string[] =>
  services.map((service) => String(metadataOf(service)['name']));

const keyOf = (names: readonly string[]): string => JSON.stringify([...names].sort());

async function services(cluster: Cluster, signal: AbortSignal): Promise<readonly Raw[]> {
  const target = watchTarget(firstTargets(cluster.namespace, '').services);
  const result = await listPatiently(cluster, target, { signal, tell: async () => {} }).catch(() => undefined);
  return result?.kind === 'listed' ? result.objects.map(asRaw) : [];
}

async function listen(cluster: Cluster, target: Target, heard: Heard, signal: AbortSignal): Promise<void> {
  try {
    const { health } = heard;
    for await (const sighting of watchObjects(cluster, watchTarget(target), { signal, health })) heard.take(sighting);
  } catch {
    // Each pod's own run meets the same, and says it.
  }
  heard.end();
}

interface Heard {
  readonly health: Health;
  take(sighting: Sighting): void;
  /** Nothing more is heard. */
  end(): void;
  told(): ToldRoutes | undefined;
}

/** What is older than so many changes is a part of the state before them: it may be hours until a pod terminates. */
const mostChanges = 64;

type State = Extract<Sighting, { kind: 'listed' }>;

function createHeard(): Heard {
  let state: State | undefined;
  let changes: Sighting[] = [];
  let lostSince: number | undefined;
  return {
    health: {
      lost: (since) => void (lostSince ??= since),
      flows: () => void (lostSince = undefined),
      whole: () => {},
      doubted: new AbortController().signal,
    },
    take(sighting) {
      // A state anew after a gap: what was before it proves nothing of what came in between.
      if (sighting.kind === 'listed') [state, changes] = [sighting, []];
      else if (state && (sighting.kind === 'changed' || sighting.kind === 'resumed')) changes.push(sighting);
      if (state && changes.length > mostChanges) state = changed(state, changes.shift());
    },
    end: () => void (state = undefined),
    told: () => state && { sightings: [state, ...changes], ...(lostSince === undefined ? {} : { lostSince }) },
  };
}

/** The state with one more change in it, known since that came. */
function changed(state: State, change: Sighting | undefined): State {
  if (change?.kind !== 'changed') return state;
  const name = nameOf(change.object);
  const others = state.objects.filter((object) => nameOf(object) !== name);
  return { ...state, at: change.at, objects: change.change === 'DELETED' ? others : [...others, change.object] };
}

const nameOf = (object: unknown): unknown => metadataOf(asRaw(object))['name'];
