/**
 * Audit events of one pod → its states, and the state that the deletion found. An event holds what the server stored, what
 * the client sent, or neither. Pure.
 */
import type { RawObservation } from '../../model/observation.ts';
import { asArray, asNumber, asObject, asString, metadataOf, type JsonObject } from '../../model/observe/read.ts';
import { second } from '../../model/span.ts';
import { isBinding, podIn, requestIn, type AuditEvent } from './audit-events.ts';

/**
 * The states of the pod, and gaps between those of its deletion. Many policies log what the kubelet sends and not what is
 * stored: its patch of the status is applied to the state before. After another write without its object the state is not
 * known until the next object.
 */
export function podStates(writes: readonly AuditEvent[]) {
  const pods: AuditEvent[] = [];
  const gaps: RawObservation[] = [];
  const hasRequest = requestIn(writes) !== undefined;
  let known: JsonObject | undefined;
  for (const event of writes) {
    const last = pods.at(-1);
    // Without the request that began the deletion, what is sent later does not show whether it has begun.
    const isBeginKnown = hasRequest || isDeleted(last?.object);
    const wasKnown = known !== undefined;
    known = podIn(event) ?? (known && isBeginKnown ? stateAfter(known, event) : undefined);
    if (!known) continue;
    const isMissing = !wasKnown || !isBeginKnown;
    const at = Math.floor(event.answeredAt);
    if (last && isDeleted(known) && isMissing)
      gaps.push({ at, kind: 'gap', stream: 'pod', from: Math.floor(last.answeredAt), to: at, cause: 'disconnected' });
    pods.push({ ...event, object: known });
  }
  return { pods, gaps };
}

export const isDeleted = (pod: JsonObject | undefined): boolean => metadataOf(pod)['deletionTimestamp'] !== undefined;

/** The pod after a write without its object; undefined if what was sent does not show it. */
function stateAfter(pod: JsonObject, event: AuditEvent): JsonObject | undefined {
  const { subresource, sent = {} } = event;
  const node = asString(asObject(sent['target'])['name']);
  if (isBinding(event) && node !== undefined) {
    const conditions = [{ type: 'PodScheduled', status: 'True' }];
    return {
      ...pod,
      spec: { ...asObject(pod['spec']), nodeName: node },
      status: patchedStatus(asObject(pod['status']), { conditions }),
    };
  }
  if (subresource !== 'status' || sent['status'] === undefined) return undefined;
  const { managedFields: _written, resourceVersion, ...metadata } = metadataOf(pod);
  return {
    ...pod,
    // The patch does not hold the new version: it is larger by one or more.
    metadata: { ...metadata, resourceVersion: versionAfter(resourceVersion, 1n) },
    status: patchedStatus(asObject(pod['status']), asObject(sent['status'])),
  };
}

/** A strategic merge patch of a pod's status: of its lists, only conditions are merged, by their type. */
function patchedStatus(status: JsonObject, { conditions, ...fields }: JsonObject): JsonObject {
  const byType = new Map<unknown, JsonObject>();
  for (const one of [...asArray(status['conditions']), ...asArray(conditions)].map(asObject)) {
    const type = one['type'];
    if (one['$patch'] === 'delete') byType.delete(type);
    else byType.set(type, { ...byType.get(type), ...one });
  }
  const present = Object.entries({ ...status, ...fields }).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(present), conditions: [...byType.values()] };
}

/**
 * The last state without a deletionTimestamp; else, if the first state answers the request that set it, this state with
 * the changes by the deletion undone. Undefined if the log begins after the deletion: like a client that comes late, it
 * does not show what the deletion found.
 */
export function beforeDeletion(writes: readonly AuditEvent[], pods: readonly AuditEvent[]) {
  const alive = pods.findLast(({ object }) => !isDeleted(object));
  if (alive) return { at: alive.answeredAt, object: alive.object ?? {} };
  const [first] = pods;
  if (!first || requestIn(writes)?.answeredAt !== first.answeredAt) return undefined;
  const { deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...metadata } = metadataOf(first.object);
  const generation = asNumber(metadata['generation']);
  const object: JsonObject = {
    ...first.object,
    metadata: {
      ...metadata,
      generation: generation === undefined ? undefined : generation - 1,
      resourceVersion: versionAfter(metadata['resourceVersion'], -1n),
    },
  };
  return { at: first.receivedAt - second, object };
}

const versionAfter = (version: unknown, by: bigint): string => {
  const text = asString(version) ?? '1';
  return /^\d+$/.test(text) ? String(BigInt(text) + by) : text;
};
