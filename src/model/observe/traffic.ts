import type { Endpoint, EndpointSlice, Service } from '../kube.ts';
import { narrowMetadata } from './metadata.ts';
import { asArray, asBoolean, asNumber, asObject, asString, compact, filled, has, stringMap } from './read.ts';

export function narrowService(raw: unknown): Service {
  const service = asObject(raw);
  const spec = asObject(service['spec']);
  return {
    kind: 'Service',
    metadata: narrowMetadata(service['metadata']),
    spec: compact<Service['spec']>({
      type: asString(spec['type']),
      clusterIP: spec['clusterIP'] === 'None' ? 'None' : undefined,
      selector: stringMap(spec['selector'], () => true),
      publishNotReadyAddresses: asBoolean(spec['publishNotReadyAddresses']),
      ports: filled(asArray(spec['ports'], 64).flatMap(narrowServicePort)),
    }),
  };
}

function narrowServicePort(raw: unknown): { port: number; targetPort?: number | string }[] {
  const service = asObject(raw);
  const port = asNumber(service['port']);
  const targetPort = asNumber(service['targetPort']) ?? asString(service['targetPort']);
  return port === undefined ? [] : [compact({ port, targetPort })];
}

export function narrowSlice(raw: unknown): EndpointSlice {
  const slice = asObject(raw);
  return {
    kind: 'EndpointSlice',
    metadata: narrowMetadata(slice['metadata']),
    addressType: asString(slice['addressType']) ?? '',
    endpoints: asArray(slice['endpoints'], 1000).map(narrowEndpoint),
  };
}

function narrowEndpoint(raw: unknown): Endpoint {
  const endpoint = asObject(raw);
  const target = asObject(endpoint['targetRef']);
  const conditions = asObject(endpoint['conditions']);
  const narrowed = compact({
    ready: asBoolean(conditions['ready']),
    serving: asBoolean(conditions['serving']),
    terminating: asBoolean(conditions['terminating']),
  });
  return compact<Endpoint>({
    targetRef: has(endpoint['targetRef'])
      ? compact({ kind: asString(target['kind']), name: asString(target['name']), uid: asString(target['uid']) })
      : undefined,
    conditions: filled(Object.keys(narrowed)) ? narrowed : undefined,
  });
}
