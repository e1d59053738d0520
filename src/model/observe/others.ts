import { ownerKinds } from '../kube.ts';
import type { Lease, Namespace, Node, Owner } from '../kube.ts';
import { narrowMetadata } from './metadata.ts';
import { narrowCondition } from './pod.ts';
import { asArray, asBoolean, asNumber, asObject, asSeconds, asString, compact, filled, has } from './read.ts';

export function narrowNode(raw: unknown): Node {
  const node = asObject(raw);
  const spec = asObject(node['spec']);
  const status = asObject(node['status']);
  const runtime = asString(asObject(status['nodeInfo'])['containerRuntimeVersion']);
  return {
    kind: 'Node',
    metadata: narrowMetadata(node['metadata']),
    spec: compact<Node['spec']>({
      unschedulable: asBoolean(spec['unschedulable']),
      taints: filled(asArray(spec['taints'], 64).map(narrowTaint)),
    }),
    status: compact<Node['status']>({
      conditions: filled(
        asArray(status['conditions'], 64)
          .map(narrowCondition)
          .filter((one) => one.type === 'Ready'),
      ),
      nodeInfo: runtime === undefined ? undefined : { containerRuntimeVersion: runtime },
    }),
  };
}

function narrowTaint(raw: unknown) {
  const taint = asObject(raw);
  return compact({
    key: asString(taint['key']) ?? '',
    effect: asString(taint['effect']) ?? '',
    timeAdded: asString(taint['timeAdded']),
  });
}

export function narrowLease(raw: unknown): Lease {
  const lease = asObject(raw);
  return {
    kind: 'Lease',
    metadata: narrowMetadata(lease['metadata']),
    spec: compact({ renewTime: asString(asObject(lease['spec'])['renewTime']) }),
  };
}

export function narrowOwner(raw: unknown, kind: (typeof ownerKinds)[number]): Owner {
  const owner = asObject(raw);
  const spec = asObject(owner['spec']);
  const status = asObject(owner['status']);
  return {
    kind,
    metadata: narrowMetadata(owner['metadata']),
    spec: compact<Owner['spec']>({
      replicas: asNumber(spec['replicas']),
      ordinals: has(spec['ordinals']) ? compact({ start: asSeconds(asObject(spec['ordinals'])['start']) }) : undefined,
      suspend: asBoolean(spec['suspend']),
      ttlSecondsAfterFinished: asSeconds(spec['ttlSecondsAfterFinished']),
    }),
    status: compact<Owner['status']>({
      replicas: asNumber(status['replicas']),
      desiredNumberScheduled: asNumber(status['desiredNumberScheduled']),
      updateRevision: asString(status['updateRevision']),
      currentRevision: asString(status['currentRevision']),
      conditions: filled(asArray(status['conditions'], 64).map(narrowCondition)),
    }),
  };
}

export function narrowNamespace(raw: unknown): Namespace {
  const namespace = asObject(raw);
  return {
    kind: 'Namespace',
    metadata: narrowMetadata(namespace['metadata']),
    status: compact({ phase: asString(asObject(namespace['status'])['phase']) }),
  };
}

/** The kind an object says it has; items of a list say none, so the caller may know better. */
export const ownerKindOf = (raw: unknown): (typeof ownerKinds)[number] | undefined =>
  ownerKinds.find((kind) => kind === asObject(raw)['kind']);
