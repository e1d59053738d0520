import { isRecord } from '../data/kube-object.ts';

/**
 * Kubernetes' strategic merge patch: like RFC 7386, but a list of objects that have a key is merged by that key, as the
 * struct tags of `k8s.io/api` say (patchStrategy, patchMergeKey). Directives: `$patch: delete` and `replace`; those that
 * only order a list are ignored.
 */
export function strategicMerge(target: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) return mergeLists(target, patch, field);
  if (!isRecord(patch)) return patch;
  const { $patch: directive, ...changes } = patch;
  if (directive === 'delete') return undefined;
  const merged: Record<string, unknown> = isRecord(target) && directive !== 'replace' ? { ...target } : {};
  for (const [name, value] of Object.entries(changes)) {
    if (name.startsWith('$')) continue;
    if (value === null) delete merged[name];
    else merged[name] = strategicMerge(merged[name], value, name);
  }
  return merged;
}

/** Which fields tell the elements of a list apart; a list that is not here is replaced as a whole. */
const mergeKeys: Record<string, readonly string[]> = {
  conditions: ['type'],
  containers: ['name'],
  containerStatuses: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  initContainerStatuses: ['name'],
  ownerReferences: ['uid'],
  // Of a container and of a Service.
  ports: ['containerPort', 'port'],
  resourceClaims: ['name'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
};

function mergeLists(target: unknown, patch: readonly unknown[], field: string): unknown[] {
  if (field === 'finalizers') return [...new Set([...(Array.isArray(target) ? (target as unknown[]) : []), ...patch])];
  const key = mergeKeys[field]?.find((name) => patch.some((one) => isRecord(one) && name in one));
  if (key === undefined) return [...patch];
  const isReplaced = patch.some((one) => isRecord(one) && one.$patch === 'replace' && !(key in one));
  const merged: unknown[] = Array.isArray(target) && !isReplaced ? [...(target as unknown[])] : [];
  for (const element of patch.filter((one): one is Record<string, unknown> => isRecord(one) && key in one)) {
    const index = merged.findIndex((one) => isRecord(one) && one[key] === element[key]);
    const next = strategicMerge(merged[index], element);
    if (index < 0) merged.push(...(next === undefined ? [] : [next]));
    else merged.splice(index, 1, ...(next === undefined ? [] : [next]));
  }
  return merged;
}
