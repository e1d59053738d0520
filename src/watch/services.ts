/** The ready endpoints of each Service, and for how long a Service had none. Pure: its clock is the log's. */
import type { EndpointSlice } from '../model/kube.ts';
import type { Observation } from '../model/observation.ts';

type Endpoint = EndpointSlice['endpoints'][number];

interface ServiceState {
  readonly namespace: string;
  readonly service: string;
  readonly slices: Map<string, readonly Endpoint[]>;
  /** Client ms since which time without a ready endpoint is not counted yet; undefined: it has one, or never had one. */
  uncountedSince?: number | undefined;
  emptySince?: number | undefined;
  hadReady: boolean;
}

export type ServiceReady = ReturnType<ReturnType<typeof createServices>['fewestReady']>[number];

/** `onNoReady`: this Service had no ready endpoint for so many further ms. `owns`: whether a namespace is this process's. */
export function createServices(
  onNoReady: (namespace: string, service: string, ms: number) => void,
  owns: (namespace: string) => boolean = () => true,
) {
  const services = new Map<string, ServiceState>();
  const count = (state: ServiceState, at: number): void => {
    const { namespace, service, uncountedSince, emptySince } = state;
    // After a minute without any endpoint it counts as scaled to zero: neither that nor its next start is an outage.
    if (emptySince !== undefined && at >= emptySince + 60_000)
      Object.assign(state, { uncountedSince: undefined, hadReady: false });
    // While all its pods terminate, it may be on its way to zero: what follows decides.
    else if (uncountedSince !== undefined && endpointsOf(state).some(mayServe)) {
      onNoReady(namespace, service, at - uncountedSince);
      state.uncountedSince = at;
    }
  };
  const take = ({ metadata, endpoints }: EndpointSlice, at: number, { isGone = false, isListed = false }): void => {
    const service = metadata.labels?.['kubernetes.io/service-name'];
    const { namespace = '' } = metadata;
    if (service === undefined || !owns(namespace)) return;
    const key = `${namespace}/${service}`;
    const state: ServiceState = services.get(key) ?? { namespace, service, slices: new Map(), hadReady: false };
    if (isGone) state.slices.delete(metadata.name);
    else state.slices.set(metadata.name, endpoints);
    services.set(key, state);
    if (!isListed) settle(key, state, at);
  };
  const settle = (key: string, state: ServiceState, at: number): void => {
    count(state, at);
    const endpoints = endpointsOf(state);
    const hasReady = endpoints.some(isReady);
    state.hadReady ||= hasReady;
    state.uncountedSince = hasReady || !state.hadReady ? undefined : (state.uncountedSince ?? at);
    state.emptySince = endpoints.length > 0 ? undefined : (state.emptySince ?? at);
    if (state.slices.size === 0) services.delete(key);
  };
  /** What happened while the stream was lost is not known, and not counted. */
  const skip = (lostAt: number, at: number): void =>
    services.forEach((state) => {
      count(state, Math.max(lostAt, state.uncountedSince ?? lostAt));
      state.uncountedSince &&= at;
    });
  return {
    take(o: Observation): void {
      if (!('stream' in o) || o.stream !== 'endpointslices') return;
      if (o.kind === 'gap' || o.kind === 'resumed') skip(o.kind === 'gap' ? o.from : o.since, o.at);
      if (o.kind === 'changed' && o.object.kind === 'EndpointSlice')
        take(o.object, o.at, { isGone: o.change === 'DELETED' });
      if (o.kind !== 'listed') return;
      // A list is the whole state: what it does not have is gone.
      for (const { slices } of services.values()) slices.clear();
      for (const object of o.objects) if (object.kind === 'EndpointSlice') take(object, o.at, { isListed: true });
      for (const [key, state] of services) settle(key, state, o.at);
    },
    /** Counts up to now, client ms: for a scrape. */
    countTo: (now: number): void => services.forEach((state) => count(state, now)),
    fewestReady: (most: number) =>
      [...services.values()]
        .filter(({ hadReady }) => hadReady)
        .map((state) => ({ ...state, ready: endpointsOf(state).filter(isReady).length }))
        .sort((a, b) => a.ready - b.ready)
        .slice(0, most),
  };
}

const endpointsOf = ({ slices }: ServiceState): Endpoint[] => [...slices.values()].flat();

const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready ?? true;

/** Those of terminating pods never become ready again. */
const mayServe = ({ conditions }: Endpoint): boolean => conditions?.terminating !== true;
