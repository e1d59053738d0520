/** Who routes to a workload's pods, heard before any of them terminates: the first look of a pod's own run comes too late. */
import type { Cluster } from '../kube/cluster.ts';
import { listPatiently } from '../kube/list-patiently.ts';
import { watchObjects } from '../kube/watch.ts';
import type { Sighting } from '../model/observation.ts';
import { watchTarget } from './follow.ts';
import type { HeardSlices, ToldSlices } from './heard-slices.ts';
import { createHeardSlices } from './heard-slices.ts';
import type { Raw, Target } from './watched.ts';
import { asRaw, candidateServices, firstTargets, namesOf, sliceTarget } from './watched.ts';

export interface RoutesAhead {
  /** Watches the slices that may route to such a pod, until the signal. */
  expect(pod: Raw): void;
  /** The process stood still: what comes now may be as old. */
  resumed(sighting: Extract<Sighting, { kind: 'resumed' }>): void;
  /** Who may route to such a pod. Undefined where its slices were not in sync yet. */
  told(pod: Raw): ToldRoutes | undefined;
}

export interface ToldRoutes extends ToldSlices {
  /** The Services whose slices these are, as they were listed first. */
  readonly services: Extract<Sighting, { kind: 'listed' }>;
}

interface Services {
  readonly all: readonly Raw[];
  /** Client ms. */
  readonly at: number;
}

/**
 * Ends with the signal. `came`: something did, at `at` (client ms), and is about to be taken. What cannot be read is left to
 * each pod's own run, which says so.
 */
export function routesAhead(cluster: Cluster, signal: AbortSignal, came: (at: number) => void): RoutesAhead {
  const heard = new Map<string, HeardSlices>();
  let listing: Promise<Services | undefined> | undefined;
  let services: Services | undefined;
  const expectFor = async (pod: Raw): Promise<void> => {
    services = await (listing ??= listServices(cluster, signal));
    const names = namesOf(candidateServices(services?.all ?? [], pod));
    const slices = sliceTarget(cluster.namespace, names);
    if (!slices || heard.has(keyOf(names)) || signal.aborted) return;
    const hearing = createHeardSlices();
    heard.set(keyOf(names), hearing);
    await listen(cluster, slices, { ...hearing, take: (one) => (came(one.at), hearing.take(one)) }, signal);
  };
  return {
    expect: (pod) => void expectFor(pod),
    resumed: (sighting) => heard.forEach((hearing) => hearing.take({ ...sighting, stream: 'endpointslices' })),
    told(pod) {
      if (!services) return undefined;
      const candidates = candidateServices(services.all, pod);
      const listed = {
        kind: 'listed',
        stream: 'services',
        resourceVersion: '',
        at: services.at,
        objects: candidates,
      } as const;
      if (candidates.length === 0) return { services: listed, sightings: [] };
      const slices = heard.get(keyOf(namesOf(candidates)))?.told();
      return slices && { services: listed, ...slices };
    },
  };
}

const keyOf = (names: readonly string[]): string => JSON.stringify(names);

/** Undefined where they may not be listed. */
async function listServices(cluster: Cluster, signal: AbortSignal): Promise<Services | undefined> {
  const target = watchTarget(firstTargets(cluster.namespace, '').services);
  const result = await listPatiently(cluster, target, { signal, tell: async () => {} }).catch(() => undefined);
  return result?.kind === 'listed' ? { all: result.objects.map(asRaw), at: result.at } : undefined;
}

async function listen(cluster: Cluster, target: Target, heard: HeardSlices, signal: AbortSignal): Promise<void> {
  const health = {
    lost: (since: number) => heard.lost(since),
    flows: () => heard.lost(undefined),
    sure: () => {},
    whole: () => {},
    doubted: signal,
  };
  try {
    for await (const sighting of watchObjects(cluster, watchTarget(target), { signal, health })) heard.take(sighting);
  } catch {
    // Each pod's own run meets the same, and says it.
  }
  heard.end();
}
