/**
 * What was heard of a workload before one of its pods began to terminate. The run of that pod begins after its deletion, and
 * by itself would see neither the state that the deletion found nor who routed to it then. Handed to it as sightings, with
 * the times at which they came: before the run began.
 */
import type { Cluster } from '../kube/cluster.ts';
import type { Sighting } from '../model/observation.ts';
import type { PodSelector } from './candidates.ts';
import type { ToldRoutes } from './routes-ahead.ts';
import { routesAhead } from './routes-ahead.ts';
import { watchSuspension } from './suspension.ts';
import type { Raw } from './watched.ts';
import { asRaw, uidOf } from './watched.ts';

export interface Foregoing {
  /** The pod's last state without a deletionTimestamp. */
  readonly alive: State;
  /** The watch was cut after that, or the process stood still, and went on. */
  readonly resumed?: Resumed;
  /** The change that brought the deletionTimestamp. */
  readonly ending: State;
  /** Client ms: what the run finds by itself may be as old. */
  readonly since: number;
  /** Who may have routed to it; undefined where that was not heard in time. */
  routes(): ToldRoutes | undefined;
  /** Undefined where a list brought the ending: it tells no order, and whoever came after the deletion may stand in it too. */
  readonly siblings?: Siblings;
  /** The run hears all by itself from now on. */
  stop(): void;
}

/** A state of the pod. */
export interface State {
  readonly pod: Raw;
  /** Client ms: when it came. */
  readonly at: number;
  /** Client ms: when the list that told it was asked for. */
  readonly sentAt?: number;
}

/** Who there was when the ending came: a watch tells all changes in order, so whoever comes later was created after it. */
export interface Siblings {
  /** The label selector of the watch, as a query parameter. */
  readonly labels: string;
  readonly pods: readonly Raw[];
}

type Resumed = Extract<Sighting, { kind: 'resumed' }>;

export interface Ahead {
  /** To be told of each sighting of the workload's watch, before what it brings. */
  heard(sighting: Sighting): void;
  /** A state of a pod that is not terminating. */
  saw(state: State): void;
  /** The change that brought a pod's deletionTimestamp; undefined where the pod had not been seen before. */
  ends(ending: State): Foregoing | undefined;
  /** These (uids) are all pods that there are and that are not terminating. Returns the others that were. */
  keepOnly(uids: ReadonlySet<string>): Raw[];
  forget(uid: string): void;
}

/**
 * Beside a watch of these pods. Ends with the signal, or with the cluster. `stop` is asked by whoever is done with what it was
 * handed.
 */
export function listenAhead(
  cluster: Cluster,
  selector: Pick<PodSelector, 'labels' | 'fields'>,
  signal: AbortSignal,
  stop: () => void = () => {},
): Ahead {
  const came = (at: number): void => suspension.before(at).forEach(takeResumed);
  const routes = routesAhead(cluster, signal, came);
  const states = new Map<string, State>();
  const present = presentIn(selector);
  let resumed: Resumed | undefined;
  const takeResumed = (sighting: Sighting): void => {
    if (sighting.kind !== 'resumed') return;
    resumed = sighting;
    routes.resumed(sighting);
  };
  const suspension = watchSuspension(cluster.surroundings, () => ['pod'], takeResumed);
  AbortSignal.any([signal, cluster.closed]).addEventListener('abort', suspension.cancel, { once: true });
  return {
    heard(sighting) {
      came(sighting.at);
      present.heard(sighting);
      if (sighting.kind === 'resumed') resumed = { ...sighting, stream: 'pod' };
    },
    saw(state) {
      if (!states.has(uidOf(state.pod))) routes.expect(state.pod);
      states.set(uidOf(state.pod), state);
    },
    ends(ending) {
      const alive = states.get(uidOf(ending.pod));
      states.delete(uidOf(ending.pod));
      if (!alive) return undefined;
      const cut = resumed && resumed.at >= alive.at ? resumed : undefined;
      const siblings = present.now();
      return {
        alive,
        ...(cut ? { resumed: cut } : {}),
        ending,
        since: cut && ending.at - cut.at <= mayBeOld ? Math.min(ending.at, cut.since) : ending.at,
        routes: () => routes.told(ending.pod),
        ...(siblings ? { siblings } : {}),
        stop,
      };
    },
    keepOnly(uids) {
      const others = [...states].filter(([uid]) => !uids.has(uid));
      others.forEach(([uid]) => states.delete(uid));
      return others.map(([, { pod }]) => pod);
    },
    forget: (uid) => void states.delete(uid),
  };
}

/** All pods of the watch, whatever they are doing. */
function presentIn({ labels, fields }: Pick<PodSelector, 'labels' | 'fields'>) {
  const pods = new Map<string, Raw>();
  let isOrdered = false;
  return {
    heard(sighting: Sighting): void {
      if (sighting.kind === 'listed') {
        isOrdered = false;
        pods.clear();
        sighting.objects.map(asRaw).forEach((pod) => pods.set(uidOf(pod), pod));
      }
      if (sighting.kind !== 'changed') return;
      isOrdered = true;
      const pod = asRaw(sighting.object);
      if (sighting.change === 'DELETED') pods.delete(uidOf(pod));
      else pods.set(uidOf(pod), pod);
    },
    now: (): Siblings | undefined =>
      isOrdered && fields === '' && pods.size <= mostHandedOver ? { labels, pods: [...pods.values()] } : undefined,
  };
}

/** More than these would stand in the recording of each pod's run. */
const mostHandedOver = 500;

/** ms after a watch went on in which what it brings may have waited for that: `delivery-lag`, twice over. */
const mayBeOld = 5000;

/**
 * What the run is told of the pod, and of who routes to it (`told`): the pod first, since nothing can be told of its endpoints
 * before its uid is known, then the rest in the order in which it came (an eviction changes the pod once more just before it
 * ends it). Its own look, at `at` (client ms), may find what is as old as `since`.
 */
export function sightingsOf({ alive, resumed, ending, since }: Foregoing, at: number, told?: ToldRoutes): Sighting[] {
  const { sentAt } = alive;
  const asked = sentAt === undefined ? {} : { sentAt };
  const living: Sighting = {
    kind: 'listed',
    at: alive.at,
    ...asked,
    stream: 'pod',
    resourceVersion: '',
    objects: [alive.pod],
  };
  const past: Sighting[] = [
    ...(resumed ? [resumed] : []),
    ...(told ? [told.services, ...told.sightings] : []),
    { kind: 'changed', at: ending.at, stream: 'pod', change: 'MODIFIED', object: ending.pod },
  ];
  return [living, ...past.sort((one, other) => one.at - other.at), { kind: 'resumed', at, stream: 'pod', since }];
}
