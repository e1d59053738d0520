import type { Metadata } from '../kube.ts';
import { staticUid } from '../pod.ts';
import {
  asArray,
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  compact,
  filled,
  stringMap,
} from './read.ts';

/** Labels that rules read: which Service a slice belongs to, which revision a pod is of, which index of its Job it has. */
const labels = new Set([
  'kubernetes.io/service-name',
  'endpointslice.kubernetes.io/managed-by',
  'pod-template-hash',
  'controller-revision-hash',
  'batch.kubernetes.io/job-completion-index',
]);

/**
 * The annotations whose values are facts about the exit: when a slice's change was set off (SIGNALS.md §3), and the uid that a
 * static pod has for its kubelet, whose Events name that one.
 */
const kept = new Set(['endpoints.kubernetes.io/last-change-trigger-time', staticUid]);

export function narrowMetadata(raw: unknown): Metadata {
  const metadata = asObject(raw);
  return compact<Metadata>({
    name: asString(metadata['name']) ?? '',
    namespace: asString(metadata['namespace']),
    uid: asString(metadata['uid']) ?? '',
    resourceVersion: asString(metadata['resourceVersion']),
    generation: asNumber(metadata['generation']),
    creationTimestamp: asString(metadata['creationTimestamp']),
    deletionTimestamp: asString(metadata['deletionTimestamp']),
    deletionGracePeriodSeconds: asSeconds(metadata['deletionGracePeriodSeconds']),
    finalizers: filled(asStrings(metadata['finalizers'])),
    ownerReferences: filled(asArray(metadata['ownerReferences'], 16).map(narrowOwnerReference)),
    managedFields: filled(asArray(metadata['managedFields'], 64).map(narrowManager)),
    annotations: annotationKeys(metadata['annotations']),
    labels: stringMap(metadata['labels'], (key) => labels.has(key)),
  });
}

function narrowOwnerReference(raw: unknown) {
  const reference = asObject(raw);
  return compact({
    apiVersion: asString(reference['apiVersion']) ?? '',
    kind: asString(reference['kind']) ?? '',
    name: asString(reference['name']) ?? '',
    uid: asString(reference['uid']) ?? '',
    controller: asBoolean(reference['controller']),
  });
}

function narrowManager(raw: unknown) {
  const entry = asObject(raw);
  return compact({
    manager: asString(entry['manager']) ?? '',
    subresource: asString(entry['subresource']),
    time: asString(entry['time']),
  });
}

function annotationKeys(raw: unknown): Record<string, string> | undefined {
  const keys = Object.keys(asObject(raw)).slice(0, 256);
  if (keys.length === 0) return undefined;
  const value = (key: string) => (kept.has(key) ? (asString(asObject(raw)[key]) ?? '') : '');
  return Object.fromEntries(keys.map((key) => [key.slice(0, 320), value(key)]));
}
