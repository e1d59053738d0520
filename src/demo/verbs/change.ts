import type { Cluster } from '../cluster.ts';
import type { Kind } from '../data/kinds.ts';
import { isRecord, valueAt, type KubeObject } from '../data/kube-object.ts';
import { badRequest, failure, notFound, Refusal, invalidObject } from '../data/status.ts';
import type { Exchange } from '../http/exchange.ts';
import { parseJson } from './delete-options.ts';
import { jsonPatch, mergePatch, strategicMerge } from './merge.ts';

/** PATCH and PUT of one object. A pod that only its finalizers held goes with the last of them (SIGNALS.md §1). */
export function serveChange(cluster: Cluster, exchange: Exchange, kind: Kind, name: string): void {
  const { request } = exchange;
  const before = cluster.get(kind.plural, request.namespace, name);
  if (before === undefined) throw notFound(kind, name);
  const changed = request.verb === 'update' ? replacement(before, request.body) : patched(before, exchange);
  const after = withGeneration(withIdentity(changed, before), before);
  checkObject(before, after, kind);
  if (request.query.getAll('dryRun').includes('All')) return exchange.json(200, after);
  if (kind.plural === 'pods') rememberFinalizers(cluster, after);
  if (isReleased(after)) {
    // The update is never stored: the DELETED object still lists the finalizer.
    release(cluster, before);
    return exchange.json(200, after);
  }
  exchange.json(200, cluster.write({ type: 'MODIFIED', resource: kind.plural, object: after }).object);
}

function patched(before: KubeObject, { request }: Exchange): KubeObject {
  const type = String(request.headers['content-type']);
  if (type.startsWith('application/json-patch+json')) return jsonPatch(before, parsed(request.body)) as KubeObject;
  const merge = type.startsWith('application/strategic-merge-patch+json') ? strategicMerge : mergePatch;
  return merge(before, parseJson(request.body)) as KubeObject;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    throw badRequest('error decoding patch');
  }
}

function replacement(before: KubeObject, body: string): KubeObject {
  const next = parseJson(body) as unknown as KubeObject;
  const { resourceVersion } = next.metadata ?? {};
  if (resourceVersion === undefined || resourceVersion === before.metadata.resourceVersion) return next;
  const message =
    `Operation cannot be fulfilled on ${before.kind} "${before.metadata.name}": the object has been modified; ` +
    'please apply your changes to the latest version and try again';
  throw new Refusal(failure(409, 'Conflict', message, { name: before.metadata.name, kind: before.kind }));
}

/** No client can change who an object is. */
function withIdentity(next: KubeObject, { metadata, kind, apiVersion }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp };
  const known = Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
  const type = { kind: kind ?? next.kind, apiVersion: apiVersion ?? next.apiVersion };
  return { ...next, ...type, metadata: { ...next.metadata, ...known, name } };
}

/** A new spec is a new generation. */
function withGeneration(next: KubeObject, before: KubeObject): KubeObject {
  const { generation } = before.metadata;
  if (generation === undefined || JSON.stringify(next.spec) === JSON.stringify(before.spec)) return next;
  return { ...next, metadata: { ...next.metadata, generation: generation + 1 } };
}

function rememberFinalizers(cluster: Cluster, { metadata }: KubeObject): void {
  const uid = metadata.uid ?? '';
  cluster.amendments.set(uid, { ...cluster.amendments.get(uid), finalizers: metadata.finalizers ?? [] });
}

function isReleased({ metadata }: KubeObject): boolean {
  const isOver = metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
  return isOver && (metadata.finalizers ?? []).length === 0;
}

function release(cluster: Cluster, pod: KubeObject): void {
  const uid = pod.metadata.uid ?? '';
  cluster.amendments.set(uid, { ...cluster.amendments.get(uid), gone: true });
  cluster.write({ type: 'DELETED', resource: 'pods', object: pod });
}

/**
 * The part of the API server's validation that a change of shutdown settings can meet: container hooks, grace period,
 * the rollout's strategy, and that the spec of a pod stays as it is. Throws the 422 that names the field.
 */
function checkObject(before: KubeObject, after: KubeObject, kind: Kind): void {
  if (kind.plural === 'pods' && JSON.stringify(before.spec) !== JSON.stringify(withoutUpdatable(after, before))) {
    throw invalidObject(
      kind,
      after.metadata.name,
      'spec',
      'Forbidden: pod updates may not change fields other than image',
    );
  }
  const podSpec = valueAt(after, 'spec.template.spec');
  if (!isRecord(podSpec)) return;
  const [first] = [...problemsOf(podSpec), ...strategyProblems(after)];
  if (first !== undefined) throw invalidObject(kind, after.metadata.name, first.field, first.message);
}

interface Problem {
  field: string;
  message: string;
}

const template = 'spec.template.spec';

function problemsOf(podSpec: Record<string, unknown>): Problem[] {
  const grace = numberOr(podSpec.terminationGracePeriodSeconds, 30);
  const lists = ['initContainers', 'containers'].flatMap((list) => {
    const containers = (Array.isArray(podSpec[list]) ? podSpec[list] : []) as Record<string, unknown>[];
    return containers.flatMap((one, index) => containerProblems(one, `${template}.${list}[${index}]`, grace));
  });
  const graceProblem =
    grace < 0
      ? [
          {
            field: `${template}.terminationGracePeriodSeconds`,
            message: `Invalid value: ${grace}: must be greater than or equal to 0`,
          },
        ]
      : [];
  return [...graceProblem, ...lists];
}

function containerProblems(container: Record<string, unknown>, field: string, grace: number): Problem[] {
  if (typeof container.image !== 'string') return [{ field: `${field}.image`, message: 'Required value' }];
  const hook = valueAt(container, 'lifecycle.preStop');
  if (!isRecord(hook)) return [];
  const handlers = ['exec', 'httpGet', 'tcpSocket', 'sleep'].filter((name) => isRecord(hook[name]));
  const path = `${field}.lifecycle.preStop`;
  if (handlers.length === 0) return [{ field: path, message: 'Required value: must specify a handler type' }];
  if (handlers.length > 1)
    return [{ field: `${path}.${handlers[1]}`, message: 'Forbidden: may not specify more than 1 handler type' }];
  const seconds = valueAt(hook, 'sleep.seconds');
  if (typeof seconds !== 'number' || (seconds >= 0 && seconds <= grace)) return [];
  const range = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [{ field: `${path}.sleep`, message: `Invalid value: ${seconds}: ${range}` }];
}

function strategyProblems(object: KubeObject): Problem[] {
  const surge = valueAt(object, 'spec.strategy.rollingUpdate.maxSurge');
  const unavailable = valueAt(object, 'spec.strategy.rollingUpdate.maxUnavailable');
  const isNone = (value: unknown) => value === 0 || value === '0%';
  if (!isNone(surge) || !isNone(unavailable)) return [];
  const message = 'Invalid value: 0: may not be 0 when `maxSurge` is 0';
  return [{ field: 'spec.strategy.rollingUpdate.maxUnavailable', message }];
}

/** The new spec with what may be changed of a running pod taken from the old one. */
function withoutUpdatable(after: KubeObject, before: KubeObject): unknown {
  const old = (valueAt(before, 'spec.containers') ?? []) as Record<string, unknown>[];
  const containers = ((valueAt(after, 'spec.containers') ?? []) as Record<string, unknown>[]).map((one, index) =>
    old[index] !== undefined && 'image' in one ? { ...one, image: old[index].image } : one,
  );
  const { spec } = after;
  return isRecord(spec) && Array.isArray(spec.containers) ? { ...spec, containers } : spec;
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
