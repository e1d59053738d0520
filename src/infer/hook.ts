/** When and how a preStop hook ended (SIGNALS.md §2 S6, §5). An Event reports a failure; nothing reports success. */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { hookOf, type ContainerSpec } from '../model/pod.ts';
import { atMost, earlierOf, second } from '../model/span.ts';
import type { Occurrence, Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import { graceSpan, type HookEnd, type HookFacts, type InferContext } from './context.ts';
import { belongs } from './deletion.ts';
import { isBefore, notAfter, onBothClocks, type Estimate } from './estimate.ts';
import { killingsMissing, warningsMissing } from './gaps.ts';
import { moment } from './pod-network.ts';
import { surelyDeletedAt, outlivedDeadline, pauseEndOf, startsNewAttempt, type Stop } from './stop.ts';

interface HookContext extends Stop {
  readonly context: InferContext;
  readonly spec: ContainerSpec;
  readonly failure: Occurrence | undefined;
  /** A failure was reported, but perhaps not of this stop: the kill of a liveness probe runs the hook too. */
  readonly hasUnclearFailure: boolean;
}

/** Adds the constraints for the end of a container's hook, and returns what is known of the hook. */
export function hookFacts(context: InferContext, spec: ContainerSpec, stop: Stop): HookFacts | undefined {
  const hook = hookOf(spec.container);
  if (!hook) return undefined;
  const { trace, kubelet, network } = context;
  const found = failureOf(context, spec, stop);
  const hookContext = { ...stop, ...found, context, spec };
  const { outcome, mayHaveDied } = constrainHookEnd(hookContext);
  // Only other containers have a Killing: this one may have ended before, so that its hook never ran (trap 7).
  const mayHaveBeenSkipped =
    stop.killings.length === 0 &&
    !found.failure &&
    ((kubelet.killings.size > 0 && !killingsMissing(trace, stop.ended)) || mayEventArrive(context, stop.ended));
  return {
    kind: hook.kind,
    start: stop.stopStart,
    end: network.read(moment('hook-end', spec.name), basisOf(outcome)),
    outcome: mayHaveBeenSkipped ? 'unknown' : outcome,
    inert: hook.kind === 'sleep' || hook.kind === 'tcpSocket' || hook.handler.exec?.inert === true,
    mayHaveDied,
    failure: found.failure,
    mayStillFail: !found.failure && hook.kind !== 'sleep' && mayEventArrive(context, stop.ended),
    sleepSeconds: hook.handler.sleep?.seconds,
  };
}

/** Only the end of a failed hook is observed: by its Event. */
const basisOf = (outcome: HookEnd['outcome']): Estimate['basis'] => (outcome === 'failed' ? 'observed' : 'inferred');

type Result = Pick<HookEnd, 'outcome' | 'mayHaveDied'>;

function constrainHookEnd(hookContext: HookContext): Result {
  const { context, spec, stopStart, failure, ended, lag } = hookContext;
  const hook = hookOf(spec.container);
  const [start, end] = [moment('stop-start', spec.name), moment('hook-end', spec.name)];
  context.network.follows(start, end, {}, { because: 'the hook starts at once (§2 S6)' });
  // tcpSocket is not a valid preStop handler: it fails at once (trap 11).
  if (hook?.kind === 'tcpSocket')
    return constrained('failed', context.network.follows(start, end, { max: millisecondsOf(lag) }, { because: lag }));
  const isLate = ended !== undefined && outlivedDeadline(context.kubelet, stopStart, ended, lag);
  if (isLate && ended && !failure) return constrained('unknown', notAfterExit(hookContext, ended));
  // A sleep can fail too: an old kubelet does not support it.
  if (failure) return failedEnd(hookContext, failure, isLate);
  return hook?.kind === 'sleep'
    ? sleepEnd(hookContext, (hook.handler.sleep?.seconds ?? 0) * second)
    : silentEnd(hookContext);
}

/** The outcome, after a constraint was added. */
const constrained = (outcome: Result['outcome'], _isAdded: boolean): Result => ({ outcome });

const notAfterExit = ({ context, spec }: HookContext, ended: Estimate): boolean =>
  context.network.notAfter(moment('hook-end', spec.name), ended, 'the container had ended (§2 S12)');

/** The kubelet waits for a hook until the grace ends. The grace restarts with each attempt. */
function constrainByGrace(hookContext: HookContext, lagMs: number): void {
  const { context, spec, killings } = hookContext;
  const { hi } = graceSpan(context.kubelet);
  const end = moment('hook-end', spec.name);
  const because = 'the kubelet waits for a hook as long as the grace (§2 S6)';
  if (killings.length < 2)
    context.network.follows(moment('stop-start', spec.name), end, { max: hi + lagMs }, { because });
  else context.network.follows(moment('grace-start', spec.name), end, { min: -Infinity, max: hi + lagMs }, { because });
}

/** A sleep action takes the time in its spec, but no longer than the grace. For a command that only sleeps: silentEnd. */
function sleepEnd(hookContext: HookContext, specMs: number): Result {
  const { context, spec, killings, lag, stopStart } = hookContext;
  const grace = graceSpan(context.kubelet);
  const [start, end] = [moment('stop-start', spec.name), moment('hook-end', spec.name)];
  const lagMs = millisecondsOf(lag);
  const sleep = { lo: specMs - driftOver(specMs), hi: specMs + driftOver(specMs) };
  const isCutOff = killings.length < 2 && grace.hi < sleep.lo;
  const isComplete = sleep.hi < grace.lo;
  const { terminal } = context.trace;
  const min = Math.min(sleep.lo, grace.lo);
  const because = 'a sleep takes what it says, within the grace (§2 S6)';
  // The pod ended before the sleep can have ended: an old kubelet without sleep actions skipped it silently.
  if (terminal && context.network.read(start).client.lo + min > terminal.at + 1)
    return constrained('unknown', notAfterTerminal(hookContext, terminal));
  const max = Math.min(sleep.hi, killings.length < 2 ? grace.hi : Infinity) + lagMs;
  const resumed = pauseEndOf(context, spec, { from: stopStart.node.lo + min, to: stopStart.node.hi + max });
  const isBounded = !resumed && !isPauseHidden(context, spec);
  context.network.follows(start, end, { min, max: isBounded ? max : Infinity }, { because });
  if (terminal) notAfterTerminal(hookContext, terminal);
  if (resumed)
    context.network.within(
      end,
      { node: atMost(resumed.at + lagMs) },
      { because: 'the kubelet stood still', evidence: resumed.evidence },
    );
  return { outcome: isCutOff ? 'cut-off' : isComplete ? 'completed' : 'unknown' };
}

/** Whether a pause of the kubelet would go unseen: its Lease was not watched, or the container's log broke off. */
const isPauseHidden = ({ trace }: InferContext, { name }: ContainerSpec): boolean =>
  trace.gaps.some(({ value }) => value.stream === 'lease' && value.to === undefined) ||
  trace.containers.get(name)?.log.ended?.value.clean === false;

/** The status with the terminal phase waits for every hook, even for a sleep that outlives its container. */
const notAfterTerminal = ({ context, spec }: HookContext, { at, seq }: { at: number; seq: number }): boolean =>
  context.network.within(
    moment('hook-end', spec.name),
    { client: atMost(at + 1) },
    { because: 'the status of the end of all waits for every hook (§2 S10, S12)', evidence: [seq] },
  );

/** A failure before the end of the grace is the hook's own; after it, the hook was cut off (trap 11). */
function failedEnd(hookContext: HookContext, failure: Occurrence, isLate: boolean): Result {
  const { context, spec, killings, ended, lag, stopStart } = hookContext;
  const { network, kubelet } = context;
  const end = moment('hook-end', spec.name);
  const failedAt = failureMoment(hookContext, failure);
  const graceEnd = graceEndOf(hookContext);
  const isLaterAttempt = isOfLaterAttempt(context, failure, stopStart, killings);
  const lagMs = isLate ? Infinity : millisecondsOf(lag);
  const proof = { because: 'FailedPreStopHook (§2 S6)', evidence: [failure.seq] };
  // A hook that fails after its container has ended died with it: its connection broke, or its exec lost the process.
  const failedAfterExit = ended !== undefined && isBefore(ended, failedAt);
  if (failedAfterExit && (isBefore(ended, graceEnd) || !isBefore(graceEnd, failedAt))) {
    if (isLaterAttempt) notAfterExit(hookContext, ended);
    else {
      const limits = onBothClocks((clock) => ({
        ...failedAt[clock],
        lo: earlierOf(failedAt[clock], graceEnd[clock]).lo,
      }));
      network.within(end, limits, proof);
      constrainByGrace(hookContext, lagMs);
    }
    return { outcome: 'unknown', mayHaveDied: true };
  }
  // If the node's clock was set, we may not know whether the container ended first.
  if (network.stepped.node && ended && !isBefore(graceEnd, ended))
    return constrained('unknown', notAfterExit(hookContext, ended));
  // If this is the failure of a second attempt, the first hook may have ended at any time before.
  const until = notAfter(failedAt);
  if (isLaterAttempt)
    return constrained(isBefore(failedAt, graceEnd) ? 'failed' : 'unknown', network.within(end, until, proof));
  if (isBefore(graceEnd, failedAt)) {
    network.follows(
      moment('grace-start', spec.name),
      end,
      { min: graceSpan(kubelet).lo, max: graceSpan(kubelet).hi + lagMs },
      { because: 'cut off by the grace (§2 S6)', evidence: [failure.seq] },
    );
    network.within(end, until, proof);
    return { outcome: 'cut-off' };
  }
  if (!isBefore(failedAt, graceEnd)) return constrained('unknown', network.within(end, until, proof));
  network.within(end, until, proof);
  network.stamp('node', end, failure.time, failure.at + 1, proof, stopStart.client.lo);
  return ended === undefined || isBefore(failedAt, ended)
    ? { outcome: 'failed' }
    : { outcome: 'unknown', mayHaveDied: true };
}

/** When the failure happened: a moment apart from the end of the hook, as the two are not always the same. */
function failureMoment({ context, spec, stopStart }: HookContext, { time, at, seq }: Occurrence): Estimate {
  const name = `hook-failure/${spec.name}`;
  const proof = { because: 'FailedPreStopHook (§2 S6)', evidence: [seq] };
  context.network.within(name, { client: { lo: stopStart.client.lo, hi: at + 1 } }, proof);
  context.network.stamp('node', name, time, at + 1, proof, stopStart.client.lo);
  return context.network.read(name, 'observed');
}

/** The end of the grace, of whichever attempt: a moment of its own, only for comparisons. */
function graceEndOf({ context, spec, killings }: HookContext): Estimate {
  const name = `hook-grace/${spec.name}`;
  const { lo, hi } = graceSpan(context.kubelet);
  const because = 'the grace (§2 S1)';
  context.network.follows(
    moment('stop-start', spec.name),
    name,
    { min: lo, max: killings.length > 1 ? Infinity : hi },
    { because },
  );
  if (killings.length > 1)
    context.network.follows(moment('grace-start', spec.name), name, { min: -Infinity, max: hi }, { because });
  return context.network.read(name);
}

/** Whether a new attempt may have started before the hook failed, so that the failure may belong to that attempt. */
function isOfLaterAttempt(
  { trace }: InferContext,
  failure: Occurrence,
  stopStart: Estimate,
  [, ...others]: readonly Occurrence[],
): boolean {
  const since = stopStart.node.lo;
  const retries = trace.events.filter((event) => startsNewAttempt(event) && !event.isOld && event.time.hi >= since);
  return [...others, ...retries].some(({ named, time }) => Math.min(named ?? Infinity, time.lo) <= failure.time.hi);
}

/** A hook without a reported failure. If the container ended within its grace, the hook was not cut off either. */
function silentEnd(hookContext: HookContext): Result {
  const { context, spec, ended, hasUnclearFailure, killings, lag } = hookContext;
  const { network, trace } = context;
  const [start, end] = [moment('stop-start', spec.name), moment('hook-end', spec.name)];
  constrainByGrace(hookContext, millisecondsOf(lag));
  if (ended) notAfterExit(hookContext, ended);
  const graceEnd = graceEndOf(hookContext);
  const sleepMs = (hookOf(spec.container)?.handler.exec?.seconds ?? 0) * second;
  const didNotFail = !hasUnclearFailure && killings.length > 0 && wouldFailureBeKnown(context, network.read(end));
  const isComplete =
    didNotFail && killings.length === 1 && sleepMs - driftOver(sleepMs) <= graceSpan(context.kubelet).hi;
  if (isComplete && sleepMs > 0)
    network.follows(
      start,
      end,
      { min: sleepMs - driftOver(sleepMs) },
      { because: 'its command only sleeps, and did not fail (§2 S6)' },
    );
  const inTime = ended !== undefined && isBefore(ended, graceEnd);
  return {
    outcome:
      inTime && didNotFail && !trace.refused.some(({ value }) => value.stream === 'events') ? 'completed' : 'unknown',
  };
}

/** Whether a failure of the hook would have arrived by now: no Events are missing, and there was time enough. */
function wouldFailureBeKnown({ trace }: InferContext, end: Estimate): boolean {
  const isDue = trace.gone !== undefined || trace.lastReceivedAt >= end.client.hi + eventDelayOf(trace);
  return !areEventsMissing(trace) && !warningsMissing(trace) && isDue;
}

/** Whether Events that the kubelet posted may never have arrived. */
const areEventsMissing = (trace: Trace): boolean =>
  [...trace.gaps, ...trace.refused].some(({ value }) => value.stream === 'events');

/** The longest that an Event takes to arrive, ms. */
const eventDelayOf = (trace: Trace): number => millisecondsOf('event-lag') + deliveryLagOf(trace);

/** Whether an Event from before the exit may still arrive: it can be later than the status of the exit. */
function mayEventArrive({ trace }: InferContext, ended: Estimate | undefined): boolean {
  const isOver = trace.gone !== undefined || areEventsMissing(trace);
  return !isOver && trace.lastReceivedAt < (ended?.client.hi ?? Infinity) + eventDelayOf(trace);
}

/**
 * The failure of this stop's hook, not of an earlier one. If only the acceptance bounds the stop's start, and clocks
 * cannot decide: a failure that arrived live after the deletion counts if no other kill can have run the hook.
 */
function failureOf(
  context: InferContext,
  spec: ContainerSpec,
  stop: Stop,
): Pick<HookContext, 'failure' | 'hasUnclearFailure'> {
  const { trace, deletion, network } = context;
  const { stopStart, killings } = stop;
  const about = (reason: string): Occurrence[] =>
    trace.events.filter((event) => event.reason === reason && event.about.container === spec.name);
  const all = about('FailedPreStopHook');
  if (!stop.isStartOpen)
    return { failure: all.find(({ time }) => time.hi >= stopStart.node.lo), hasUnclearFailure: false };
  const since = surelyDeletedAt(context, stop);
  const hasNoOtherKill = about('Killing').every((killing) => killings.includes(killing));
  const possible = all.filter((event) => belongs(deletion, event, network.toClient('node', event.time, event.at + 1)));
  const failure = possible.find(
    ({ time, isOld, count, seq }) =>
      time.lo >= since || (hasNoOtherKill && !isOld && count === 1 && seq > deletion.facts.seenSeq),
  );
  return { failure, hasUnclearFailure: !failure && possible.length > 0 };
}
