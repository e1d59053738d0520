/** When and how a preStop hook ended (SIGNALS.md §2 S6, §5). An Event reports a failure; nothing reports success. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import type { Handler, HookKind } from '../model/observe/container.ts';
import { hookOf } from '../model/pod.ts';
import { atLeast, atMost, earlierOf, second } from '../model/span.ts';
import { eventsAbout, lostSince, mayMiss, type Occurrence, type Trace } from '../model/trace.ts';
import { deliveryLagOf, killingsMissing, warningsMissing } from './arrival.ts';
import { graceSpan, type HookFacts } from './context.ts';
import { belongs } from './deletion.ts';
import { isBefore, moved, noLaterThan, onBothClocks } from './estimate.ts';
import { moment } from './pod-network.ts';
import { deletedAtLatest, outlivedDeadline, hasPaused, sawRetry, type Stop } from './stop.ts';

interface HookStop extends Stop {
  readonly kind: HookKind;
  readonly handler: Handler;
  /** The names of the moments in which the hook starts and ends. */
  readonly start: string;
  readonly end: string;
  /** The name of the moment in which the last attempt starts. */
  readonly lastStart: string;
  readonly failure: Occurrence | undefined;
}

/** Adds the constraints for the end of a container's hook, and returns what is known of the hook. */
export function hookFacts(stop: Stop): HookFacts | undefined {
  const { trace, kubelet, network, spec, killings, ended } = stop;
  const hook = hookOf(spec.container);
  if (!hook) return undefined;
  const { kind, handler } = hook;
  const [start, end] = [moment('stop-start', spec.name), moment('hook-end', spec.name)];
  const lastStart = killings.length < 2 ? start : moment('grace-start', spec.name);
  const failure = failureOf(stop);
  const { outcome, mayHaveDied } = constrainHookEnd({ ...stop, ...hook, failure, start, end, lastStart });
  // Only other containers have a Killing: this one may have ended before, so that its hook never ran (trap 7).
  const mayHaveBeenSkipped =
    killings.length === 0 &&
    !failure &&
    ((kubelet.killings.size > 0 && !killingsMissing(trace, ended)) || mayEventArrive(stop));
  return {
    kind,
    start: stop.stopStart,
    // Only the end of a failed hook is observed: by its Event.
    end: network.read(end, outcome === 'failed' ? 'observed' : 'inferred'),
    outcome: mayHaveBeenSkipped ? 'unknown' : outcome,
    inert: kind !== 'exec' || handler.exec?.inert === true,
    mayHaveDied,
    failure,
    mayStillFail: !failure && kind !== 'sleep' && mayEventArrive(stop),
    sleepSeconds: handler.sleep?.seconds,
  };
}

type Result = Pick<HookFacts, 'outcome' | 'mayHaveDied'>;

function constrainHookEnd(stop: HookStop): Result {
  const { network, kind, start, end, ended, failure } = stop;
  network.follows(start, end, {}, { because: 'the hook starts at once (§2 S6)' });
  // A sleep can fail too: an old kubelet does not support it.
  if (failure) return failedEnd(stop, failure);
  const isLate = outlivedDeadline(stop, stop.stopStart);
  // A sleep goes on after its container has ended.
  if (ended && (isLate || kind !== 'sleep')) network.notAfter(end, ended, 'the container had ended (§2 S12)');
  if (isLate) return { outcome: 'unknown' };
  return kind === 'sleep' ? sleepEnd(stop) : silentEnd(stop);
}

/** A sleep action takes the time in its spec, but no longer than the grace. For a command that only sleeps: silentEnd. */
function sleepEnd(stop: HookStop): Result {
  const { trace, network, kubelet, handler, start, end, killings, lag, stopStart } = stop;
  const grace = graceSpan(kubelet);
  const specMs = (handler.sleep?.seconds ?? 0) * second;
  const sleep = { lo: specMs - driftOver(specMs), hi: specMs + driftOver(specMs) };
  const isCutOff = killings.length < 2 && grace.hi < sleep.lo;
  const isComplete = sleep.hi < grace.lo;
  const { terminal } = trace;
  const min = Math.min(sleep.lo, grace.lo);
  if (terminal) {
    const status = 'the status of the end of all waits for every hook (§2 S10, S12)';
    network.within(end, { client: atMost(terminal.at + 1) }, { because: status, evidence: [terminal.seq] });
  }
  const max = Math.min(sleep.hi, killings.length < 2 ? grace.hi : Infinity) + millisecondsOf(lag);
  // A pause of the kubelet goes unseen if its Lease was not watched, or the container's log broke off.
  const isPauseSeen = lostSince(trace, 'lease') === Infinity && stop.facts.log.ended?.value.clean !== false;
  const isBounded = isPauseSeen && !hasPaused(stop, moved(stopStart, { lo: min, hi: max }));
  const because = 'a sleep takes what it says, within the grace (§2 S6)';
  const fits = network.follows(start, end, { min, max: isBounded ? max : Infinity }, { because });
  // An old kubelet without sleep actions skips it silently: the pod ends before the sleep can have ended.
  if (!fits) return { outcome: 'unknown' };
  return { outcome: isCutOff ? 'cut-off' : isComplete ? 'completed' : 'unknown' };
}

/** A failure before the end of the grace is the hook's own; after it, the hook was cut off (trap 11). */
function failedEnd(stop: HookStop, failure: Occurrence): Result {
  const { network, kubelet, spec, end, ended, lag, stopStart } = stop;
  const proof = { because: 'FailedPreStopHook (§2 S6)', evidence: [failure.seq] };
  // A moment apart from the end of the hook, as the two are not always the same.
  const failed = moment('hook-failure', spec.name);
  network.within(failed, { client: { lo: stopStart.client.lo, hi: failure.at + 1 } }, proof);
  network.stamp('node', failed, failure.time, proof);
  const failedAt = network.read(failed, 'observed');
  const graceEnd = network.read(moment('grace-end', spec.name));
  network.within(end, noLaterThan(failedAt), proof);
  // It may be the failure of another attempt: then the first hook may have ended at any time before.
  if (sawRetry(stop)) return { outcome: 'unknown', mayHaveDied: ended && isBefore(ended, failedAt) };
  const isInGrace = isBefore(failedAt, graceEnd);
  const isAfterGrace = isBefore(graceEnd, failedAt);
  // A hook that fails after its container has ended died with it: its connection broke, or its exec lost the process.
  const isAfterExit = ended !== undefined && isBefore(ended, failedAt);
  if (isAfterExit && (isBefore(ended, graceEnd) || !isAfterGrace)) {
    network.within(
      end,
      onBothClocks((clock) => atLeast(earlierOf(failedAt[clock], graceEnd[clock]).lo)),
      proof,
    );
    return { outcome: 'unknown', mayHaveDied: true };
  }
  if (isAfterGrace) {
    const { lo, hi } = graceSpan(kubelet);
    const lagMs = outlivedDeadline(stop, stopStart) ? Infinity : millisecondsOf(lag);
    const cutOff = { ...proof, because: 'cut off by the grace (§2 S6)' };
    network.follows(moment('grace-start', spec.name), end, { min: lo, max: hi + lagMs }, cutOff);
  }
  if (!isInGrace) return { outcome: isAfterGrace ? 'cut-off' : 'unknown' };
  network.stamp('node', end, failure.time, proof);
  return ended === undefined || isBefore(failedAt, ended)
    ? { outcome: 'failed' }
    : { outcome: 'unknown', mayHaveDied: true };
}

/** A hook without a reported failure. If the container ended within its grace, the hook was not cut off either. */
function silentEnd(stop: HookStop): Result {
  const { network, kubelet, spec, handler, start, end, ended, killings, lag, isStartOpen, lastStart } = stop;
  const longest = graceSpan(kubelet).hi + millisecondsOf(lag);
  const because = 'the kubelet waits for a hook as long as the grace, which restarts with each attempt (§2 S6)';
  network.follows(lastStart, end, { min: -Infinity, max: longest }, { because });
  const graceEnd = network.read(moment('grace-end', spec.name));
  const sleepMs = (handler.exec?.seconds ?? 0) * second;
  const min = sleepMs - driftOver(sleepMs);
  const didNotFail = !isStartOpen && wouldFailureBeKnown(stop);
  if (sleepMs > 0 && didNotFail && killings.length === 1 && min <= graceSpan(kubelet).hi)
    network.follows(start, end, { min }, { because: 'its command only sleeps, and did not fail (§2 S6)' });
  const isInTime = ended !== undefined && isBefore(ended, graceEnd);
  return { outcome: isInTime && didNotFail ? 'completed' : 'unknown' };
}

function wouldFailureBeKnown({ trace, network, end }: HookStop): boolean {
  const isDue = trace.gone !== undefined || trace.lastReceivedAt >= network.read(end).client.hi + eventDelayOf(trace);
  return !mayMiss(trace, 'events') && !warningsMissing(trace) && isDue;
}

const eventDelayOf = (trace: Trace): number => millisecondsOf('event-lag') + deliveryLagOf(trace);

/** Whether an Event from before the exit may still arrive: it can be later than the status of the exit. */
const mayEventArrive = ({ trace, ended }: Stop): boolean =>
  trace.gone === undefined &&
  !mayMiss(trace, 'events') &&
  trace.lastReceivedAt < (ended?.client.hi ?? Infinity) + eventDelayOf(trace);

/** The failure of this stop's hook, not of an earlier one: the kill of a liveness probe runs the hook too. */
function failureOf(stop: Stop): Occurrence | undefined {
  const { trace, deletion, network, spec, stopStart } = stop;
  return eventsAbout(trace, 'FailedPreStopHook', spec.name).find((event) =>
    stop.isStartOpen
      ? event.time.lo >= deletedAtLatest(stop) && belongs(deletion, event, network.toClient('node', event.time))
      : event.time.hi >= stopStart.node.lo,
  );
}
