/** How long the kubelet and the runtime wait (SIGNALS.md §2 S1, S8). Milliseconds. */
import { driftOver } from '../model/assumptions.ts';
import type { Span } from '../model/span.ts';
import { second } from '../model/span.ts';
import type { Kubelet } from './context.ts';

/** SIGNALS.md §2 S8: minimumGracePeriodInSeconds. */
export const minimumGrace = 2 * second;

export const graceSpan = (kubelet: Kubelet): Span => ({
  lo: kubelet.grace.min * second - driftOver(kubelet.grace.min * second),
  hi: kubelet.grace.max * second + driftOver(kubelet.grace.max * second),
});

/** The timeout that the runtime is given where no hook and no turn ate of it: the shortest that it can have been. */
export const shortestStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.min * second);

/** The longest. */
export const longestStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.max * second);

/** The longest that something speaks for: a 137 that fits it is taken for the end of the grace. */
export const likelyStop = ({ grace }: Kubelet): number => Math.max(minimumGrace, grace.likely * second);
