import {
  asBoolean,
  asNumber,
  asObject,
  asSeconds,
  asString,
  asStrings,
  filled,
  listOf,
  shape,
  stringMap,
  textOr,
} from './read.ts';

/** Labels that rules read: which Service a slice belongs to, which revision a pod is of, which index of its Job it has. */
const labels = new Set([
  'kubernetes.io/service-name',
  'endpointslice.kubernetes.io/managed-by',
  'pod-template-hash',
  'controller-revision-hash',
  'batch.kubernetes.io/job-completion-index',
]);

/** The annotation of a static pod's copy that holds the uid of the static pod itself. */
export const staticUid = 'kubernetes.io/config.hash';

/**
 * The annotations whose values are facts about the exit: when a slice's change was set off (SIGNALS.md §3), and the uid that a
 * static pod has for its kubelet, whose Events name that one.
 */
const kept = new Set(['endpoints.kubernetes.io/last-change-trigger-time', staticUid]);

export type Metadata = ReturnType<typeof narrowMetadata>;

export const narrowMetadata = shape({
  name: textOr(''),
  namespace: asString,
  uid: textOr(''),
  resourceVersion: asString,
  generation: asNumber,
  creationTimestamp: asString,
  deletionTimestamp: asString,
  deletionGracePeriodSeconds: asSeconds,
  finalizers: (raw) => filled(asStrings(raw)),
  ownerReferences: listOf(
    shape({ apiVersion: textOr(''), kind: textOr(''), name: textOr(''), uid: textOr(''), controller: asBoolean }),
    16,
  ),
  /** Last changing write of each manager (apiserver clock); no field sets. */
  managedFields: listOf(shape({ manager: textOr(''), subresource: asString, time: asString }), 64),
  /** Keys only: the values are empty, save of two. */
  annotations: annotationKeys,
  /** Only the labels that podexit itself reads. */
  labels: (raw) => stringMap(raw, (key) => labels.has(key)),
});

function annotationKeys(raw: unknown): Record<string, string> | undefined {
  const keys = Object.keys(asObject(raw)).slice(0, 256);
  if (keys.length === 0) return undefined;
  const read: Record<string, string> = {};
  for (const key of keys) read[key.slice(0, 320)] = kept.has(key) ? (asString(asObject(raw)[key]) ?? '') : '';
  return read;
}
