/** Where the pod is routed to, and who would be left. */
import type { EndpointSlice, Service } from '../../trace/kube.ts';
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
    const others = siblings.flatMap(({ endpoints }) => endpoints).filter((one) => one !== own && isReady(one));
    return [
      {
        slice: slice.metadata.name,
        ...(service ? { service } : {}),
        serviceName,
        addressType: slice.addressType,
        ready: isReady(own),
        otherReady: others.length,
      },
    ];
  });
}

const serviceOf = ({ metadata }: EndpointSlice): string =>
  metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name;

/** Absent means ready (discovery/v1). */
const isReady = ({ conditions }: EndpointSlice['endpoints'][number]): boolean => conditions?.ready !== false;
