/** Whether a pod of the same owner came for the one that is traced, or had been there before. Pure. */
import { requestTime } from './infer/deletion.ts';
import { isOlder } from './pod.ts';
import { parseFloor } from './stamps.ts';
import type { SiblingFacts, Trace } from './trace.ts';

/** `unknown`: created in the second of the deletion, or nothing tells; it is neither said to be old nor a replacement. */
export type Age = 'old' | 'new' | 'unknown';

/**
 * Who came up while we watched is new, and who was there before anything was asked is old. What a list first told after
 * that is judged by the API server's own clock: its creation against the second in which it took the deletion.
 */
export function ageOf(trace: Trace, { pod, old, listedFirst }: SiblingFacts): Age {
  if (old) return 'old';
  if (!listedFirst) return 'new';
  const first = trace.deletion?.first.value;
  if (!first || !trace.deletion) return 'unknown';
  if (isOlder(pod.metadata.resourceVersion, first.metadata.resourceVersion)) return 'old';
  const created = parseFloor(pod.metadata.creationTimestamp);
  const asked = requestTime(trace, trace.deletion);
  if (!created || !asked) return 'unknown';
  if (created.hi <= asked.lo) return 'old';
  return created.lo >= asked.hi ? 'new' : 'unknown';
}
