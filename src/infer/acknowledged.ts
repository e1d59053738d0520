/**
 * What the kubelet's acknowledging status shows where Events may not be read. It is written as the kubelet begins to
 * terminate the pod, in the goroutine that goes on to the hooks and signals (SIGNALS.md §2 S3, S5 to S8).
 */
import { millisecondsOf } from '../model/assumptions.ts';
import type { ContainerFacts, Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import { isWitnessed } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { shortestStop } from './grace.ts';
import type { InferContext } from './context.ts';

/** Events may not be read, so no Killing can be expected. */
const areEventsRefused = ({ refused }: Trace): boolean => refused.some(({ value }) => value.stream === 'events');

/** ms: a kill that failed is tried again after this long at the earliest (SIGNALS.md §2 S11, backOffPeriod). */
const backOff = 10_000;

/** 128 + SIGKILL. */
const killedCode = 137;

/**
 * The stop signal follows the acknowledgement at once (`kill-at-once`), where the container ended too soon for a kill that
 * failed and was tried again: before that can have been, or, by SIGKILL, before the grace of that was over.
 */
export function isKilledAtOnce(
  { trace, deletion, kubelet }: InferContext,
  facts: ContainerFacts,
  ended: Estimate | undefined,
): boolean {
  const { acknowledged } = trace;
  if (!areEventsRefused(trace) || !acknowledged || !ended || !isWitnessed(trace, deletion.facts)) return false;
  // A probe's status may acknowledge before the kubelet begins.
  const isProbes = [...trace.containers.values()].some(
    ({ readyLost }) => readyLost !== undefined && readyLost.seq <= acknowledged.seq,
  );
  if (isProbes || deliverableSince(trace, 'pod', acknowledged.at) !== acknowledged.at) return false;
  const grace = facts.terminated?.value.exitCode === killedCode ? shortestStop(kubelet) : 0;
  const isAfterGrace = ended.client.hi >= deletion.accepted.client.lo + grace;
  return ended.client.hi < deletion.accepted.client.lo + backOff + (isAfterGrace ? grace : 0);
}

/**
 * A line that arrived live, after the deletion was seen, on a log that was followed by then, was written because of it, if
 * it names the signal: without Events no clock shows that.
 */
export const namesOwnSignal = (
  { trace, deletion }: InferContext,
  { log }: Pick<ContainerFacts, 'log'>,
  line: ContainerFacts['log']['signalLines'][number],
): boolean =>
  areEventsRefused(trace) &&
  isWitnessed(trace, deletion.facts) &&
  log.opened !== undefined &&
  log.opened.at + millisecondsOf('log-end') <= deletion.facts.seenAt &&
  line.at >= deletion.facts.seenAt &&
  deliverableSince(trace, 'logs', line.at) === line.at;
