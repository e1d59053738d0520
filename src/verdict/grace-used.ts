/** How much of its grace period a container used, as every sentence and bar says it. Pure. */
import type { ContainerTimeline, Length } from '../infer/timeline.ts';

/** ms: so little between the kubelet's start and the stop signal that two lengths would only confuse. */
const sameLength = 500;

/**
 * ms; `grace`: ms. Without a preStop hook it is the drain, so that "3.1s after SIGTERM" and the bar are one number; with one, or
 * where the signal came late, it counts from when the kubelet started. Undefined where nothing was observed.
 */
export function graceUsedLength(
  { graceUsed, drain, preStop, kind }: ContainerTimeline,
  grace: number,
): Length | undefined {
  if (!graceUsed) return undefined;
  const counted = {
    min: graceUsed.min * grace,
    max: graceUsed.max * grace,
    shown: graceUsed.shown * grace,
    basis: 'inferred' as const,
  };
  const isDrain = drain && !preStop && kind === 'container' && Math.abs(counted.shown - drain.shown) < sameLength;
  return isDrain ? drain : counted;
}
