/** SIGKILL at the end of the grace (SIGNALS.md §2 S9, §5): no Event reports it (trap 28); exit code and time do. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import type { ContainerFacts } from '../model/trace.ts';
import { logEndAtLeast } from './clocks.ts';
import { likelyStop, minimumGrace, shortestStop, type InferContext } from './context.ts';
import { isWitnessed, wasLoweredLate } from './deletion.ts';
import { isBefore, moved, notBefore, type Estimate } from './estimate.ts';
import { moment, type PodNetwork } from './pod-network.ts';
import { isStartUncertain, type Stop } from './stop.ts';

/**
 * States the earliest that SIGKILL can have come: the whole grace after K, and never less than the minimum after the signal,
 * however much of the grace hook and turn ate (SIGNALS.md §2 S8, §5).
 */
export function stateKillSince(
  { network, kubelet }: InferContext,
  { name }: ContainerSpec,
  hasSignal: boolean,
): Estimate {
  const at = moment('kill', name);
  const timeout = shortestStop(kubelet);
  network.follows(
    moment('began', name),
    at,
    { min: timeout - driftOver(timeout) },
    { because: 'SIGKILL comes with the end of the grace (§2 S9)' },
  );
  if (hasSignal)
    network.follows(
      moment('stop-signal', name),
      at,
      { min: minimumGrace - driftOver(minimumGrace) },
      { because: 'the kubelet leaves at least 2 s (§2 S8)' },
    );
  return network.read(at);
}

/** Past the grace and past the minimum after the signal, wherever in their intervals K and the signal lie. */
export function isSurelyAfterGrace(
  { network, kubelet }: InferContext,
  { name }: ContainerSpec,
  hasSignal: boolean,
): boolean {
  const exit = moment('exit', name);
  const isPast = (from: string, timeout: number): boolean =>
    network.leastBetween(from, exit) >= timeout - driftOver(timeout);
  return (
    isPast(moment('began', name), shortestStop(kubelet)) &&
    (!hasSignal || isPast(moment('stop-signal', name), minimumGrace))
  );
}

/**
 * finishedAt is a whole second, and in the second in which the grace ends a 137 may still be the application's own. One that
 * gave no sign of life between its signal and the end of the grace did not exit by itself just then.
 */
export function isSilentKill(
  { trace, network, kubelet }: InferContext,
  { name }: ContainerSpec,
  { log, readyLost }: ContainerFacts,
): boolean {
  const timeout = shortestStop(kubelet);
  const counted = moment('counted', name);
  const least = timeout - driftOver(timeout) - millisecondsOf('silent-kill');
  // Of a clock that may have been set, a second says nothing.
  if (network.stepped.node || network.leastBetween(counted, moment('exit', name)) < least) return false;
  const from = network.read(moment('began', name)).node.lo;
  const until = network.read(counted).node.hi + timeout;
  const spoke = log.lastLine !== undefined && log.lastLine.value > from && log.lastLine.value < until;
  const failed = trace.events.some(
    ({ reason, about, time }) =>
      reason === 'Unhealthy' && about.container === name && time.hi > from && time.lo < until,
  );
  return !spoke && !failed && readyLost === undefined;
}

/** Whether its log could have shown that it still worked: without one, silence leaves the kill only probable. */
export const isLogFollowed = ({ log }: Pick<ContainerFacts, 'log'>): boolean =>
  log.opened !== undefined || log.lastLine !== undefined || log.ended !== undefined;

/** It ended by this kill, soon after it. */
export function stateKill(network: PodNetwork, { name }: ContainerSpec): void {
  const [kill, exit] = [moment('kill', name), moment('exit', name)];
  network.follows(kill, exit, {}, { because: 'SIGKILL ends it (§2 S9)' });
  network.follows(kill, exit, { max: millisecondsOf('kill-lag') }, { because: 'kill-lag' });
}

/** Whether 137 may be something else than the kill at the end of the grace, though its time fits that. */
export function isDoubtfulKill(
  context: InferContext,
  facts: ContainerFacts,
  { began, killings, ended, since, isLate }: Stop & { since: Estimate; isLate: boolean },
): boolean {
  const { trace, deletion, kubelet, network } = context;
  // Where the grace is not certain it must fit the one that was seen, or the longest: chance hits another moment more often.
  const isEarly = isBefore(ended ?? began, afterStop(began, likelyStop(kubelet)));
  const isReported = isWitnessed(trace, deletion.facts)
    ? !wasLoweredLate(trace, deletion)
    : ended && endsPromptly(context, since, ended);
  if (isEarly && !isReported) return true;
  const isUntimed = network.stepped.node !== undefined && !endsWithKill(facts, since);
  return !isLate && (isUntimed || (killings.length === 0 && isStartUncertain(context, began)));
}

/**
 * It ended with the grace that was seen, and not long after it: chance would have hit that moment. A grace of 0 or 1 is one
 * that was written since (SIGNALS.md §1 "Repeat delete", trap 2), and marks no moment.
 */
const endsPromptly = ({ deletion }: InferContext, since: Estimate, ended: Estimate): boolean =>
  deletion.grace > 1 && isBefore(ended, moved(since, { lo: promptly, hi: promptly }));

/** ms: the whole second of finishedAt, and as much for the kill to take effect. */
const promptly = 2000;

/** By our own clock its log ended when a kill can have come, and not before: that decides where the node's clock was set. */
const endsWithKill = (facts: ContainerFacts, since: Estimate): boolean =>
  (logEndAtLeast(facts)?.at ?? -Infinity) + 1 >= since.client.lo;

/** ms of `timeout` after the kubelet began. */
const afterStop = (began: Estimate, timeout: number): Estimate =>
  notBefore(moved(began, { lo: timeout - driftOver(timeout), hi: 0 }));
