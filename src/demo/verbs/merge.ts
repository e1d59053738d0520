import { isRecord, type KubeObject, type Kind } from '../data/kube-object.ts';
import { badRequest } from '../data/status.ts';
import type { Playback } from '../cluster.ts';
import type { Call } from '../http/exchange.ts';
import { isDryRun, parseBody, jsonIn } from '../http/api-request.ts';

/** RFC 7386: null removes, objects are merged, everything else replaces. */
const mergePatch = (target: unknown, patch: unknown): unknown =>
  isRecord(patch) ? mergeFields(target, Object.entries(patch), mergePatch) : patch;

function mergeFields(
  target: unknown,
  changes: readonly [string, unknown][],
  merge: (target: unknown, patch: unknown, field: string) => unknown,
): Record<string, unknown> {
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of changes) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value, name);
  }
  return merged;
}

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** RFC 6902: `add`, `replace`, `remove` and `test`, which clients send to pods. Throws a 400 for other operations. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw badRequest('a JSON patch has to be a list');
  // A path begins with an empty step, which leads from here to the object.
  const root = { '': structuredClone(target) };
  for (const operation of operations as Operation[]) apply(root, operation);
  return root[''];
}

function apply(root: unknown, { op, path, value }: Operation): void {
  const steps = path.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  const parent = steps.reduce(child, root);
  if (!Array.isArray(parent) && !isRecord(parent)) throw badRequest(`the path ${path} does not exist`);
  const before = child(parent, last);
  if (op === 'test' && JSON.stringify(before) === JSON.stringify(value)) return;
  if (op !== 'add' && op !== 'replace' && (op !== 'remove' || before === undefined))
    throw badRequest(`the operation ${op} cannot be applied at ${path}`);
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last);
    parent.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  } else if (op === 'remove') delete parent[last];
  else parent[last] = value;
}

function child(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return (value as unknown[])[Number(step)];
  // A path may name what every object inherits, such as `__proto__`.
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * Kubernetes' strategic merge patch: like RFC 7386, but a list of objects with a key is merged by that key, as in the
 * struct tags of `k8s.io/api` (patchStrategy, patchMergeKey). Directives: `$patch: delete` and `$patch: replace`;
 * directives that only order a list are ignored.
 */
export function strategicMerge(target: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) return mergeLists(target, patch, field);
  if (!isRecord(patch)) return patch;
  const { $patch: directive, ...changes } = patch;
  if (directive === 'delete') return undefined;
  const fields = Object.entries(changes).filter(([name]) => !name.startsWith('$'));
  return mergeFields(directive === 'replace' ? undefined : target, fields, strategicMerge);
}

/** The merge keys of lists. A list that is not here is replaced as a whole. */
const mergeKeys: Record<string, readonly string[]> = {
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  // The key for containers, then for Services.
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

/** Serves PATCH of one object. A pod kept only by finalizers goes with the last of them (SIGNALS.md §1). */
export function serveChange(cluster: Playback, exchange: Call, kind: Kind): void {
  const before = cluster.requested(kind, exchange.request);
  const after = changedObject(before, exchange);
  if (isDryRun(exchange.request)) return exchange.json(200, after);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = after.metadata;
  if (kind.plural === 'pods') cluster.amend(after, { finalizers });
  if (deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0) {
    // The update is never stored: the DELETED object still lists the finalizer.
    cluster.amend(before, { gone: true });
    cluster.write({ type: 'DELETED', resource: 'pods', object: before });
    return exchange.json(200, after);
  }
  exchange.json(200, cluster.write({ type: 'MODIFIED', resource: kind.plural, object: after }).object);
}

function changedObject(before: KubeObject, exchange: Call): KubeObject {
  return withGeneration(withIdentity(patched(before, exchange), before), before);
}

function patched(before: KubeObject, { request }: Call): KubeObject {
  const type = String(request.headers['content-type']);
  if (type.startsWith('application/json-patch+json')) return jsonPatch(before, jsonIn(request.body)) as KubeObject;
  const merge = type.startsWith('application/strategic-merge-patch+json') ? strategicMerge : mergePatch;
  return merge(before, parseBody(request.body)) as KubeObject;
}

/** Clients cannot change an object's identity. */
function withIdentity(next: KubeObject, { metadata, kind, apiVersion }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp };
  const present = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
  const type = { kind: kind ?? next.kind, apiVersion: apiVersion ?? next.apiVersion };
  return { ...next, ...type, metadata: { ...next.metadata, ...present, name } };
}

/** A changed spec gets a new generation. */
function withGeneration(next: KubeObject, before: KubeObject): KubeObject {
  const { generation } = before.metadata;
  if (generation === undefined || JSON.stringify(next.spec) === JSON.stringify(before.spec)) return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}
