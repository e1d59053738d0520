/** Where the pod is routed to, and who would be left. */
import type { Endpoint, EndpointSlice, Service } from '../../model/kube.ts';
import type { CheckFacts } from './facts.ts';

export interface Route {
  slice: string;
  service?: Service;
  serviceName: string;
  addressType: string;
  ready: boolean;
  /** Other ready endpoints of the same Service and address type. */
  otherReady: number;
}

export function routesOf({ pod, services, slices }: CheckFacts): Route[] {
  return slices.flatMap((slice) => {
    const own = slice.endpoints.find(({ targetRef }) => targetRef?.uid === pod.metadata.uid);
    if (!own) return [];
    const serviceName = serviceOf(slice);
    const service = services.find((one) => one.metadata.name === serviceName);
    const siblings = slices.filter((one) => serviceOf(one) === serviceName && one.addressType === slice.addressType);
    const others = siblings
      .flatMap(({ endpoints }) => endpoints)
      .filter((one) => isReady(one) && identityOf(one) !== identityOf(own));
    return [
      {
        slice: slice.metadata.name,
        ...(service ? { service } : {}),
        serviceName,
        addressType: slice.addressType,
        ready: isReady(own),
        otherReady: new Set(others.map(identityOf)).size,
      },
    ];
  });
}

/** How many ready endpoints the Service of these has, this pod's own included: of each address type its own. */
export function readyBy(routes: readonly Route[]): number {
  const types = [...new Set(routes.map(({ addressType }) => addressType))];
  const readyOf = (alike: readonly Route[]): number =>
    (alike[0]?.otherReady ?? 0) + (alike.some(({ ready }) => ready) ? 1 : 0);
  return types.reduce((sum, type) => sum + readyOf(routes.filter(({ addressType }) => addressType === type)), 0);
}

/** A pod may stand in two slices while their controller moves it (discovery/v1, "Duplicate endpoints"); what is no pod is itself. */
const identityOf = (endpoint: Endpoint): unknown => endpoint.targetRef?.uid ?? endpoint;

const serviceOf = ({ metadata }: EndpointSlice): string =>
  metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name;

/** Absent means ready (discovery/v1). */
const isReady = ({ conditions }: EndpointSlice['endpoints'][number]): boolean => conditions?.ready !== false;
