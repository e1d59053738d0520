import type { Playback } from '../cluster.ts';
import type { Kind } from '../data/kinds.ts';
import type { KubeObject } from '../data/kube-object.ts';
import type { Call } from '../http/exchange.ts';
import { parseBody, jsonIn } from './delete-options.ts';
import { jsonPatch, mergePatch, strategicMerge } from './merge.ts';

/** Serves PATCH of one object. A pod kept only by finalizers goes with the last of them (SIGNALS.md §1). */
export function serveChange(cluster: Playback, exchange: Call, kind: Kind): void {
  const before = cluster.requested(kind, exchange.request);
  const after = changedObject(before, exchange);
  if (exchange.request.query.getAll('dryRun').includes('All')) return exchange.json(200, after);
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

export function changedObject(before: KubeObject, exchange: Call): KubeObject {
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
