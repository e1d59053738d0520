/** What speaks against a kill at the end of the grace where the exit code is that of one. */
import { driftOver } from '../model/assumptions.ts';
import type { ContainerFacts } from '../model/trace.ts';
import { isVague } from './stop.ts';
import { logEndAtLeast } from './clock-doubts.ts';
import { isWitnessed } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { isBefore, moved, notBefore } from './estimate.ts';
import { likelyStop } from './grace.ts';
import { wasLoweredLate } from './kubelet.ts';
import type { StopAttempts } from './stop-attempts.ts';
import type { InferContext } from './context.ts';

/** Whether 137 may be something else than the kill at the end of the grace, though its time fits that. */
export function isDoubtfulKill(
  context: InferContext,
  facts: ContainerFacts,
  { began, killings, ended, since, isLate }: StopAttempts & { since: Estimate; isLate: boolean },
): boolean {
  const { trace, deletion, kubelet, stage } = context;
  // Where the grace is not certain it must fit the one that was seen, or the longest: chance hits another moment more often.
  const isEarly = isBefore(ended ?? began, afterStop(began, likelyStop(kubelet)));
  const isReported = isWitnessed(trace, deletion.facts)
    ? !wasLoweredLate(trace, deletion)
    : ended && isPrompt(context, since, ended);
  if (isEarly && !isReported) return true;
  const isUntimed = stage.stepped.node !== undefined && !endsWithKill(facts, since);
  return !isLate && (isUntimed || (killings.length === 0 && isVague(context, began)));
}

/**
 * It ended with the grace that was seen, and not long after it: chance would have hit that moment. A grace of 0 or 1 is one
 * that was written since (SIGNALS.md §1 "Repeat delete", trap 2), and marks no moment.
 */
function isPrompt({ deletion }: InferContext, since: Estimate, ended: Estimate): boolean {
  const soon = moved(since, { lo: promptly, hi: promptly });
  return deletion.grace > 1 && isBefore(ended, soon);
}

/** ms: the whole second of finishedAt, and as much for the kill to take effect. */
const promptly = 2000;

/** By our own clock its log ended when a kill can have come, and not before: that decides where the node's clock was set. */
const endsWithKill = (facts: ContainerFacts, since: Estimate): boolean =>
  (logEndAtLeast(facts)?.at ?? -Infinity) + 1 >= since.client.lo;

/** ms of `timeout` after the kubelet began. */
const afterStop = (began: Estimate, timeout: number): Estimate =>
  notBefore(moved(began, { lo: timeout - driftOver(timeout), hi: 0 }));
