/** The ready endpoints of each Service, and for how long a Service had none. Pure: its clock is the log's. */
import type { EndpointSlice } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';

/** ms without any endpoint, after which a Service counts as scaled to zero: that is no outage. */
const scaledToZeroMs = 60_000;

interface ServiceState {
  readonly slices: Map<string, { ready: number; all: number }>;
  /** Client ms until which time without a ready endpoint is counted; undefined: it has one, or never had one. */
  countedTo: number | undefined;
  emptySince: number | undefined;
  hadReady: boolean;
}

export interface ServiceReady {
  readonly namespace: string;
  readonly service: string;
  readonly ready: number;
}

/** `onNoReady`: this Service had no ready endpoint for so many further ms. */
export function createServices(onNoReady: (namespace: string, service: string, ms: number) => void) {
  const services = new Map<string, ServiceState>();
  const total = ({ slices }: ServiceState, of: 'ready' | 'all'): number =>
    [...slices.values()].reduce((sum, one) => sum + one[of], 0);
  const count = (key: string, state: ServiceState, at: number): void => {
    const until = state.emptySince === undefined ? at : Math.min(at, state.emptySince + scaledToZeroMs);
    if (state.countedTo === undefined || until <= state.countedTo) return;
    const [namespace = '', service = ''] = key.split('/');
    onNoReady(namespace, service, until - state.countedTo);
    state.countedTo = until;
  };
  const take = ({ metadata, endpoints }: EndpointSlice, at: number, { isGone = false, isListed = false }): void => {
    const service = metadata.labels?.['kubernetes.io/service-name'];
    if (service === undefined) return;
    const key = `${metadata.namespace ?? ''}/${service}`;
    const state = services.get(key) ?? {
      slices: new Map(),
      countedTo: undefined,
      emptySince: undefined,
      hadReady: false,
    };
    const ready = endpoints.filter(({ conditions }) => conditions?.ready ?? true).length;
    if (isGone) state.slices.delete(metadata.name);
    else state.slices.set(metadata.name, { ready, all: endpoints.length });
    services.set(key, state);
    if (!isListed) settle(key, state, at);
  };
  const settle = (key: string, state: ServiceState, at: number): void => {
    count(key, state, at);
    const hasReady = total(state, 'ready') > 0;
    state.hadReady ||= hasReady;
    state.countedTo = hasReady || !state.hadReady ? undefined : (state.countedTo ?? at);
    state.emptySince = total(state, 'all') > 0 ? undefined : (state.emptySince ?? at);
    if (state.slices.size === 0) services.delete(key);
  };
  return {
    take(o: Observation): void {
      if ((o.kind !== 'changed' && o.kind !== 'listed') || o.stream !== 'endpointslices') return;
      if (o.kind === 'changed') {
        if (o.object.kind === 'EndpointSlice') take(o.object, o.at, { isGone: o.change === 'DELETED' });
        return;
      }
      // A list is the whole state: what it does not have is gone.
      for (const { slices } of services.values()) slices.clear();
      for (const object of o.objects) if (object.kind === 'EndpointSlice') take(object, o.at, { isListed: true });
      for (const [key, state] of services) settle(key, state, o.at);
    },
    /** Counts up to now, client ms: for a scrape. */
    countTo: (now: number): void => services.forEach((state, key) => count(key, state, now)),
    /** The Services with the fewest ready endpoints. */
    fewestReady: (most: number): ServiceReady[] =>
      [...services]
        .filter(([, { hadReady }]) => hadReady)
        .map(([key, state]) => {
          const [namespace = '', service = ''] = key.split('/');
          return { namespace, service, ready: total(state, 'ready') };
        })
        .sort((a, b) => a.ready - b.ready)
        .slice(0, most),
  };
}
