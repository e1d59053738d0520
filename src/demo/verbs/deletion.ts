import { valueAt, type KubeObject } from '../data/kube-object.ts';
import { formatStamp, fromMs } from '../play/nanoseconds.ts';
import type { DeleteOptions } from './delete-options.ts';

/**
 * What a DELETE makes of a pod, as a value. `gone`: the object is removed right after it was marked.
 * `unchanged`: it was terminating already and the request shortens nothing.
 */
export interface Deletion {
  pod: KubeObject;
  effect: 'marked' | 'shortened' | 'gone' | 'unchanged';
}

/** Decides a DELETE as the API server does (SIGNALS.md §1); `now` in milliseconds of the API server's clock. */
export function decideDeletion(pod: KubeObject, options: DeleteOptions, now: number): Deletion {
  return pod.metadata.deletionTimestamp === undefined
    ? firstDelete(pod, options, now)
    : repeatDelete(pod, options, now);
}

/** The grace a first DELETE gets: none where there is nothing to stop. */
export function effectiveGrace(pod: KubeObject, { graceSeconds }: DeleteOptions): number {
  const phase = valueAt(pod, 'status.phase');
  const isIdle = !valueAt(pod, 'spec.nodeName') || phase === 'Succeeded' || phase === 'Failed';
  if (isIdle) return 0;
  const ofSpec = valueAt(pod, 'spec.terminationGracePeriodSeconds');
  return graceSeconds ?? (typeof ofSpec === 'number' ? ofSpec : 30);
}

function firstDelete(pod: KubeObject, options: DeleteOptions, now: number): Deletion {
  const grace = effectiveGrace(pod, options);
  const generation = (pod.metadata.generation ?? 0) > 0 ? { generation: (pod.metadata.generation ?? 0) + 1 } : {};
  const marked = withDeadline(pod, now + grace * 1000, grace, generation);
  return { pod: marked, effect: grace === 0 && !isHeld(pod) ? 'gone' : 'marked' };
}

function repeatDelete(pod: KubeObject, { graceSeconds }: DeleteOptions, now: number): Deletion {
  const { deletionGracePeriodSeconds: old = 0, deletionTimestamp = '' } = pod.metadata;
  if (old === 0) return { pod, effect: isHeld(pod) ? 'unchanged' : 'gone' };
  if (graceSeconds === undefined || graceSeconds >= old) return { pod, effect: 'unchanged' };
  const deadline = Date.parse(deletionTimestamp) - (old - graceSeconds) * 1000;
  if (graceSeconds === 0) return { pod: withDeadline(pod, now, 0), effect: isHeld(pod) ? 'shortened' : 'gone' };
  const isPast = deadline < now;
  return { pod: withDeadline(pod, isPast ? now : deadline, isPast ? 1 : graceSeconds), effect: 'shortened' };
}

function withDeadline(pod: KubeObject, at: number, grace: number, more: { generation?: number } = {}): KubeObject {
  const deletionTimestamp = formatStamp(fromMs(at), 0);
  return { ...pod, metadata: { ...pod.metadata, ...more, deletionTimestamp, deletionGracePeriodSeconds: grace } };
}

function isHeld(pod: KubeObject): boolean {
  return (pod.metadata.finalizers ?? []).length > 0;
}
