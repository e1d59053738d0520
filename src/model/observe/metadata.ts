import {
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  nonEmpty,
  listOf,
  shape,
  stringMap,
  asText,
} from './read.ts';

/** Labels that rules read: the Service of a slice, the revision of a pod, the Job index of a pod. */
const keptLabels = new Set([
  'kubernetes.io/service-name',
  'pod-template-hash',
  'controller-revision-hash',
  'batch.kubernetes.io/job-completion-index',
]);

export const narrowMetadata = shape({
  name: asText,
  namespace: asString,
  uid: asText,
  resourceVersion: asString,
  generation: asNumber,
  creationTimestamp: asString,
  deletionTimestamp: asString,
  deletionGracePeriodSeconds: asSeconds,
  finalizers: (raw) => nonEmpty(asStrings(raw)),
  ownerReferences: listOf(
    shape({ apiVersion: asText, kind: asText, name: asText, uid: asText, controller: asBoolean }),
    16,
  ),
  /** Last changing write of each manager (API server's clock); no field sets. */
  managedFields: listOf(shape({ manager: asText, subresource: asString, time: asString }), 64),
  /** Only keys; of values, that of the time that triggered a slice's change (SIGNALS.md §3). */
  annotations: annotationKeys,
  /** Only labels that podexit reads. */
  labels: (raw) => stringMap(raw, (key) => keptLabels.has(key)),
});

function annotationKeys(raw: unknown): Record<string, string> | undefined {
  const annotations = Object.entries(asObject(raw)).slice(0, 256);
  if (annotations.length === 0) return undefined;
  return Object.fromEntries(
    annotations.map(([key, value]) => [
      key.slice(0, 320),
      key === 'endpoints.kubernetes.io/last-change-trigger-time' ? asText(value) : '',
    ]),
  );
}
