/** SIGKILL at the end of the grace (SIGNALS.md §2 S9, §5). No Event reports it (trap 28), only exit code and time. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import type { ContainerFacts } from '../model/trace.ts';
import { logEndAtLeast } from './clocks.ts';
import { minimumGrace, stopTimeout } from './context.ts';
import { isWitnessed, wasLoweredLate, type Deletion } from './deletion.ts';
import { isBefore, moved, noEarlierThan, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { isStartUncertain, type Stop } from './stop.ts';

/** SIGKILL comes the whole grace after K at the earliest, and 2 s after the signal (SIGNALS.md §2 S8, §5). */
export function constrainKill({ network, kubelet, spec: { name } }: Stop, hasSignal: boolean): Estimate {
  const at = moment('kill', name);
  const constrainAfter = (from: string, timeout: number, because: string) =>
    network.follows(from, at, { min: timeout - driftOver(timeout) }, { because });
  const timeout = stopTimeout(kubelet, 'min');
  constrainAfter(moment('stop-start', name), timeout, 'SIGKILL comes with the end of the grace (§2 S9)');
  if (hasSignal) constrainAfter(moment('stop-signal', name), minimumGrace, 'the kubelet leaves at least 2 s (§2 S8)');
  return network.read(at);
}

/** Whether the exit came after the grace and 2 s after the signal, wherever in their intervals all of these lie. */
export function isAfterGrace({ network, kubelet, spec: { name } }: Stop, hasSignal: boolean): boolean {
  const exit = moment('exit', name);
  const isPast = (from: string, timeout: number): boolean =>
    network.minBetween(from, exit) >= timeout - driftOver(timeout);
  return (
    isPast(moment('stop-start', name), stopTimeout(kubelet, 'min')) &&
    (!hasSignal || isPast(moment('stop-signal', name), minimumGrace))
  );
}

/**
 * Whether a 137 in the second in which the grace ends is taken for the kill. It could be the application's own exit code,
 * but one that showed no sign of life during the grace is unlikely to exit just then (assumption `silent-kill`).
 */
export function isSilentKill({ trace, network, kubelet, spec: { name }, facts }: Stop): boolean {
  const { log, readyLost } = facts;
  const timeout = stopTimeout(kubelet, 'min');
  const graceStart = moment('grace-start', name);
  const minLifetime = timeout - driftOver(timeout) - millisecondsOf('silent-kill');
  // The second means nothing if the node's clock may have been set.
  if (network.stepped.node || network.minBetween(graceStart, moment('exit', name)) < minLifetime) return false;
  const from = network.read(moment('stop-start', name)).node.lo;
  const until = network.read(graceStart).node.hi + timeout;
  const hasLogged = log.lastLine !== undefined && log.lastLine.value > from && log.lastLine.value < until;
  const hasFailedProbe = trace.events.some(
    ({ reason, about, time }) =>
      reason === 'Unhealthy' && about.container === name && time.hi > from && time.lo < until,
  );
  return !hasLogged && !hasFailedProbe && readyLost === undefined;
}

/** Whether the container's log was read. If not, the absence of log lines makes a kill only probable. */
export const isLogRead = ({ log }: Pick<ContainerFacts, 'log'>): boolean =>
  log.opened !== undefined || log.lastLine !== undefined || log.ended !== undefined;

/** Constrains the exit to follow the kill within `kill-lag`. */
export function constrainExitByKill({ network, spec: { name } }: Stop): void {
  const [kill, exit] = [moment('kill', name), moment('exit', name)];
  network.follows(kill, exit, {}, { because: 'SIGKILL ends it (§2 S9)' });
  network.follows(kill, exit, { max: millisecondsOf('kill-lag') }, { because: 'kill-lag' });
}

/** Whether 137 may have another cause than the kill at the end of the grace, although its time fits. */
export function isDoubtfulKill(stop: Stop, killSince: Estimate, isLate: boolean): boolean {
  const { trace, deletion, kubelet, network, facts, stopStart, killings, ended } = stop;
  // If the grace is not certain, the exit must fit the one that was seen, or the longest one. A chance exit rarely does.
  const isEarly = isBefore(ended ?? stopStart, timeoutEnd(stopStart, stopTimeout(kubelet, 'likely')));
  const isGraceKnown = isWitnessed(trace, deletion.facts)
    ? !wasLoweredLate(trace, deletion)
    : ended && endsRightAfterGrace(deletion, killSince, ended);
  if (isEarly && !isGraceKnown) return true;
  const isUntimed = network.stepped.node !== undefined && !logEndFitsKill(facts, killSince);
  return !isLate && (isUntimed || (killings.length === 0 && isStartUncertain(stop)));
}

/**
 * Whether the container ended just after the grace that was seen: a chance exit rarely hits that. A grace of 0 or 1 was
 * written later (SIGNALS.md §1 "Repeat delete", trap 2), and shows no time. `killSince`: the earliest time of the kill.
 */
const endsRightAfterGrace = ({ grace }: Deletion, killSince: Estimate, ended: Estimate): boolean =>
  grace > 1 && isBefore(ended, moved(killSince, { lo: killedWithinMs, hi: killedWithinMs }));

/** The whole second of finishedAt, and one more for the kill to take effect. */
const killedWithinMs = 2000;

/** Whether the log ended, by the client's clock, no earlier than a kill can have come. */
const logEndFitsKill = (facts: ContainerFacts, killSince: Estimate): boolean =>
  (logEndAtLeast(facts)?.at ?? -Infinity) + 1 >= killSince.client.lo;

/** No earlier than `timeout` ms after the stop start. */
const timeoutEnd = (stopStart: Estimate, timeout: number): Estimate =>
  noEarlierThan(moved(stopStart, { lo: timeout - driftOver(timeout), hi: 0 }));
