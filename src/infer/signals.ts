/**
 * The two signals that end a container (SIGNALS.md §2 S6 to S9, §5), which the API never reports. The stop signal comes
 * after hook and turn, and before the exit; SIGKILL, told by code and time (trap 28), with the grace's end.
 */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { parseTime } from '../model/stamps.ts';
import { atLeast, atMost, earlierOf, laterOf, second, type Span } from '../model/span.ts';
import { failedProbes, isRefused, type Fact } from '../model/trace.ts';
import { deliverableSince, hasLogGap } from './arrival.ts';
import { graceSpan, minimumGrace, stopTimeout, type HookFacts } from './context.ts';
import { wasLoweredLate } from './deletion.ts';
import { isBefore, moved, onBothClocks, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { deletedAtLatest, isStartUncertain, mayHaveRetried, sawRetry, sigkillCode, type Stop } from './stop.ts';

/**
 * Constrains the stop signal: after hook and turn, at most the runtime's lag later. Undefined if it has no upper bound.
 * `proved`: as in SignalFacts. `isDatedByAcknowledgement`: its time comes from the status that acknowledges the deletion.
 */
export function constrainSignal(stop: Stop, hook: HookFacts | undefined) {
  const { trace, network, kubelet, spec, ended, lag, turn, stopStart } = stop;
  if (turn && wasOverBeforeTurn(stop)) return undefined;
  const at = moment('stop-signal', spec.name);
  const ready = moment(hook ? 'hook-end' : 'stop-start', spec.name);
  const dueWithoutTurn = network.read(ready);
  const due = turn ? afterTurn(dueWithoutTurn, turn, stopStart, graceSpan(kubelet)) : dueWithoutTurn;
  const isDatedByAcknowledgement = !hook && !turn && isKilledAtOnce(stop) && !sawRetry(stop);
  const mayBeRetry = !isDatedByAcknowledgement && mayHaveRetried(stop);
  const wait = millisecondsOf(lag) + (isDatedByAcknowledgement ? millisecondsOf('kill-at-once') : 0);
  const line = signalLine(stop, hook, due);
  // Then the runtime may have stood still, which also keeps the application's lines back.
  const isLate = line !== undefined && line.value - millisecondsOf('log-stamp-lag') > due.node.hi + wait;
  const isOpen = mayBeRetry || turn || isLate;
  const max = isOpen ? Infinity : wait;
  network.follows(ready, at, { max }, { because: isOpen ? 'the signal follows the hook (§2 S8)' : lag });
  if (turn) {
    // While it waits, kubelet or runtime may stand still, and nothing shows it: in the end only its exit is an upper bound.
    const latest = ended || trace.gone || mayBeRetry ? Infinity : millisecondsOf(lag);
    const limits = moved(due, { lo: 0, hi: latest });
    network.within(at, limits, { because: 'a sidecar waits for its turn (§2 S7)', evidence: turn.evidence });
  }
  // If it ended before, it got no signal.
  if (ended && !isBefore(ended, network.read(at))) network.notAfter(at, ended);
  if (line) {
    const proof = { because: 'a log line names the signal (§5)', evidence: [line.seq] };
    network.within(at, { client: atMost(line.at + 1), node: atMost(line.value) }, proof);
  }
  const isBounded = Number.isFinite(network.read(at).client.hi);
  return isBounded ? { proved: line !== undefined, isDatedByAcknowledgement } : undefined;
}

/** Whether a sidecar ended before a container that it waits for: one clock orders exits better than their estimates do. */
function wasOverBeforeTurn({ trace, network, deletion, spec, ended }: Stop): boolean {
  const finishedAt = (name: string): number =>
    parseTime(trace.containers.get(name)?.terminated?.value.finishedAt) ?? NaN;
  const isEarlier = deletion.pod.spec.containers.some(({ name }) => finishedAt(spec.name) < finishedAt(name));
  return !!ended && isEarlier && isBefore(ended, network.read(moment('grace-end', spec.name)));
}

/** When a sidecar's signal is due: after its own hook and after its turn. The kubelet waits no longer than the grace. */
function afterTurn(dueWithoutTurn: Estimate, turn: Estimate, stopStart: Estimate, grace: Span): Estimate {
  const graceEnd = moved(stopStart, { lo: grace.lo, hi: grace.hi + second });
  const spans = onBothClocks((clock) => laterOf(dueWithoutTurn[clock], earlierOf(turn[clock], graceEnd[clock])));
  return { ...spans, basis: 'inferred', evidence: turn.evidence };
}

/**
 * The first log line that can be about the signal: an upper bound. Undefined if the hook may have sent one (`kill -TERM
 * 1`). A sidecar's may repeat another container's, so it counts only after its turn.
 */
function signalLine(stop: Stop, hook: HookFacts | undefined, since: Estimate): Fact<number> | undefined {
  const { network, facts, stopStart, turn } = stop;
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(since.node.lo, deletedAtLatest(stop), turn?.node.hi ?? -Infinity);
  // If the application wrote such lines before any signal can have come, they prove nothing.
  const from = Math.max(hook?.inert ? since.node.lo : stopStart.node.lo, network.read('accepted').node.lo);
  if (facts.log.signalLines.some((line) => line.value < from)) return undefined;
  return facts.log.signalLines.find(
    (line) => line.value >= earliest || (!hook && !turn && isAboutThisSignal(stop, line)),
  );
}

/**
 * Without Events: whether the stop signal came right after the acknowledging status (`kill-at-once`; SIGNALS.md §2 S3,
 * S5 to S8). Only if the container ended before a second attempt, or its grace, can have made a difference.
 */
function isKilledAtOnce({ trace, deletion, kubelet, facts, ended }: Stop): boolean {
  const { acknowledged } = trace;
  if (!isRefused(trace, 'events') || !acknowledged || !ended || !deletion.isWitnessed) return false;
  if (deliverableSince(trace, 'pod', acknowledged.at) !== acknowledged.at) return false;
  const grace = facts.terminated?.value.exitCode === sigkillCode ? stopTimeout(kubelet, 'min') : 0;
  const isAfterGrace = ended.client.hi >= deletion.accepted.client.lo + grace;
  // The kubelet retries a failed kill after 10 s at the earliest (SIGNALS.md §2 S11, backOffPeriod).
  return ended.client.hi < deletion.accepted.client.lo + 10_000 + (isAfterGrace ? grace : 0);
}

/** On a log that was already followed, a line that names the signal and arrives live after the deletion is about it. */
const isAboutThisSignal = ({ trace, deletion, facts: { log } }: Stop, line: Fact<number>): boolean =>
  deletion.isWitnessed &&
  log.opened !== undefined &&
  log.opened.at + millisecondsOf('log-end') <= deletion.facts.seenAt &&
  line.at >= deletion.facts.seenAt &&
  deliverableSince(trace, 'logs', line.at) === line.at;

/** SIGKILL comes the whole grace after K at the earliest, and 2 s after the signal (SIGNALS.md §2 S8, §5). */
function waitsOfKill({ kubelet, spec: { name } }: Stop, hasSignal: boolean) {
  const after = (from: 'stop-start' | 'stop-signal', ms: number, because: string) =>
    ({ from: moment(from, name), min: ms - driftOver(ms), because }) as const;
  const grace = after('stop-start', stopTimeout(kubelet, 'min'), 'SIGKILL comes with the end of the grace (§2 S9)');
  return hasSignal ? [grace, after('stop-signal', minimumGrace, 'the kubelet leaves at least 2 s (§2 S8)')] : [grace];
}

export function constrainKill(stop: Stop, hasSignal: boolean): Estimate {
  const at = moment('kill', stop.spec.name);
  for (const { from, min, because } of waitsOfKill(stop, hasSignal))
    stop.network.follows(from, at, { min }, { because });
  return stop.network.read(at);
}

/** Whether the exit came after the grace and 2 s after the signal, wherever in their intervals all of these lie. */
export const isAfterGrace = (stop: Stop, hasSignal: boolean): boolean =>
  waitsOfKill(stop, hasSignal).every(
    ({ from, min }) => stop.network.minBetween(from, moment('exit', stop.spec.name)) >= min,
  );

/** A 137 in the second in which the grace ends, without a sign of life during the grace (assumption `silent-kill`). */
export function isSilentKill({ trace, network, kubelet, spec: { name }, facts }: Stop): boolean {
  const { log, readyLost } = facts;
  const timeout = stopTimeout(kubelet, 'min');
  const graceStart = moment('grace-start', name);
  const minLifetime = timeout - driftOver(timeout) - millisecondsOf('silent-kill');
  // The second means nothing if the node's clock may have been set.
  if (network.unusable.node || network.minBetween(graceStart, moment('exit', name)) < minLifetime) return false;
  const from = network.read(moment('stop-start', name)).node.lo;
  const until = network.read(graceStart).node.hi + timeout;
  const hasLogged = log.lastLine !== undefined && log.lastLine.value.stamp > from && log.lastLine.value.stamp < until;
  const hasFailedProbe = failedProbes(trace, name).some(({ time }) => time.hi > from && time.lo < until);
  return !hasLogged && !hasFailedProbe && readyLost === undefined;
}

/** Whether the log was read from the stop to the exit. If not, the absence of lines makes a kill only probable. */
export function isLogRead({ trace, spec, facts: { log }, stopStart, ended }: Stop): boolean {
  const isBroken = log.ended && !log.ended.value.clean && log.ended.at < (ended?.client.lo ?? Infinity);
  const isOpened = log.opened !== undefined || log.lastLine !== undefined || log.ended !== undefined;
  return isOpened && !isBroken && !hasLogGap(trace, spec.name, atLeast(stopStart.client.lo));
}

/** Constrains the exit to follow the kill within `kill-lag`. */
export function constrainExitByKill({ network, spec: { name } }: Stop): void {
  const [kill, exit] = [moment('kill', name), moment('exit', name)];
  network.follows(kill, exit, {}, { because: 'SIGKILL ends it (§2 S9)' });
  network.follows(kill, exit, { max: millisecondsOf('kill-lag') }, { because: 'kill-lag' });
}

/** Whether 137 may have another cause than the kill at the end of the grace, although its time fits. */
export function isDoubtfulKill(stop: Stop, killSince: Estimate, isLate: boolean): boolean {
  const { trace, deletion, kubelet, network, stopStart, killings, ended } = stop;
  // If the grace is not certain, the exit must fit the one that was seen, or the longest one. A chance exit rarely does.
  const timeout = stopTimeout(kubelet, 'likely');
  const since = timeout - driftOver(timeout);
  const isEarly = isBefore(ended ?? stopStart, moved(stopStart, { lo: since, hi: since }));
  // A grace of 0 or 1 was written later (SIGNALS.md §1 "Repeat delete", trap 2), and shows no time.
  const isGraceKnown = deletion.isWitnessed
    ? !wasLoweredLate(trace, deletion)
    : deletion.grace > 1 && ended && isBefore(ended, moved(killSince, { lo: killedWithinMs, hi: killedWithinMs }));
  if (isEarly && !isGraceKnown) return true;
  return !isLate && (network.unusable.node !== undefined || (killings.length === 0 && isStartUncertain(stop)));
}

/** The whole second of finishedAt, and one more for the kill to take effect. */
const killedWithinMs = 2000;
