/** When a preStop hook was over, and how (SIGNALS.md §2 S6, §5): its failure is reported, its success never. */
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
import { beginsNewAttempt, outlived, pauseEndOf, sinceOf, type Stop } from './stop.ts';

interface HookContext extends Stop {
  readonly context: InferContext;
  readonly spec: ContainerSpec;
  readonly failure: Occurrence | undefined;
  /** A failure was reported that may be of an older story, of a liveness probe's for instance. */
  readonly doubted: boolean;
}

/** The hook of a container, whose end is stated in the network. */
export function hookFacts(context: InferContext, spec: ContainerSpec, stop: Stop): HookFacts | undefined {
  const hook = hookOf(spec.container);
  if (!hook) return undefined;
  const { trace, kubelet, network } = context;
  const found = failureOf(context, spec, stop);
  const hookContext = { ...stop, ...found, context, spec };
  const { outcome, mayHaveDied } = stateHookEnd(hookContext);
  const isComing = !found.failure && hook.kind !== 'sleep' && mayBeComing(context, stop.ended);
  // Others of the pod had their Killing, and it had none: perhaps it was not there any more, and its hook never ran (trap 7).
  const mayNotHaveRun =
    stop.killings.length === 0 &&
    !found.failure &&
    ((kubelet.killings.size > 0 && !killingsMissing(trace, stop.ended)) || mayBeComing(context, stop.ended));
  return {
    kind: hook.kind,
    start: stop.began,
    end: network.read(moment('hook-end', spec.name), basisOf(outcome)),
    outcome: mayNotHaveRun ? 'unknown' : outcome,
    inert: hook.kind === 'sleep' || hook.kind === 'tcpSocket' || hook.handler.exec?.inert === true,
    mayHaveDied,
    failure: found.failure,
    mayFail: isComing,
    sleepSeconds: hook.handler.sleep?.seconds,
  };
}

/** Its failure was seen itself. */
const basisOf = (outcome: HookEnd['outcome']): Estimate['basis'] => (outcome === 'failed' ? 'observed' : 'inferred');

type Result = Pick<HookEnd, 'outcome' | 'mayHaveDied'>;

function stateHookEnd(hookContext: HookContext): Result {
  const { context, spec, began, failure, ended, lag } = hookContext;
  const hook = hookOf(spec.container);
  const [start, end] = [moment('began', spec.name), moment('hook-end', spec.name)];
  context.network.follows(start, end, {}, { because: 'the hook starts at once (§2 S6)' });
  // It is no valid handler: it fails at once (trap 11).
  if (hook?.kind === 'tcpSocket')
    return stated('failed', context.network.follows(start, end, { max: millisecondsOf(lag) }, { because: lag }));
  const isLate = ended !== undefined && outlived(context.kubelet, began, ended, lag);
  if (isLate && ended && !failure) return stated('unknown', notAfterEnd(hookContext, ended));
  // Also a sleep fails, under a kubelet that does not know of it.
  if (failure) return failedEnd(hookContext, failure, isLate);
  return hook?.kind === 'sleep'
    ? sleepEnd(hookContext, (hook.handler.sleep?.seconds ?? 0) * second)
    : silentEnd(hookContext);
}

const stated = (outcome: Result['outcome'], _done: boolean): Result => ({ outcome });

/** Nothing but the exit bounds it. */
const notAfterEnd = ({ context, spec }: HookContext, ended: Estimate): boolean =>
  context.network.notAfter(moment('hook-end', spec.name), ended, 'the container had ended (§2 S12)');

/** The longest that it can take: the grace, which restarts with each attempt. */
function stateGrace(hookContext: HookContext, lag: number): void {
  const { context, spec, killings } = hookContext;
  const { hi } = graceSpan(context.kubelet);
  const end = moment('hook-end', spec.name);
  const because = 'the kubelet waits for a hook as long as the grace (§2 S6)';
  if (killings.length < 2) context.network.follows(moment('began', spec.name), end, { max: hi + lag }, { because });
  else context.network.follows(moment('counted', spec.name), end, { min: -Infinity, max: hi + lag }, { because });
}

/** A sleep action lasts as long as it says, and no longer than the grace. A command that only sleeps: silentEnd. */
function sleepEnd(hookContext: HookContext, length: number): Result {
  const { context, spec, killings, lag, began } = hookContext;
  const grace = graceSpan(context.kubelet);
  const [start, end] = [moment('began', spec.name), moment('hook-end', spec.name)];
  const soon = millisecondsOf(lag);
  const own = { lo: length - driftOver(length), hi: length + driftOver(length) };
  const isCut = killings.length < 2 && grace.hi < own.lo;
  const isWhole = own.hi < grace.lo;
  const over = context.trace.terminal;
  const least = Math.min(own.lo, grace.lo);
  const because = 'a sleep takes what it says, within the grace (§2 S6)';
  // Earlier than any sleep can be over, the status shows a kubelet without sleep actions, which skips them silently.
  if (over && context.network.read(start).client.lo + least > over.at + 1)
    return stated('unknown', notAfterStatus(hookContext, over));
  const max = Math.min(own.hi, killings.length < 2 ? grace.hi : Infinity) + soon;
  const resumed = pauseEndOf(context, spec, { from: began.node.lo + least, to: began.node.hi + max });
  const isBounded = !resumed && !isPauseHidden(context, spec);
  context.network.follows(start, end, { min: least, max: isBounded ? max : Infinity }, { because });
  if (over) notAfterStatus(hookContext, over);
  if (resumed)
    context.network.within(
      end,
      { node: atMost(resumed.at + soon) },
      { because: 'the kubelet stood still', evidence: resumed.evidence },
    );
  return { outcome: isCut ? 'cut-off' : isWhole ? 'completed' : 'unknown' };
}

/**
 * What would show a kubelet that paused is missing: the node's Lease was not watched, or the log broke off that might have
 * named the signal late.
 */
const isPauseHidden = ({ trace }: InferContext, { name }: ContainerSpec): boolean =>
  trace.gaps.some(({ value }) => value.stream === 'lease' && value.to === undefined) ||
  trace.containers.get(name)?.log.ended?.value.clean === false;

/** The status that reports the end of all waits for every hook, also for a sleep that outlives its container. */
const notAfterStatus = ({ context, spec }: HookContext, { at, seq }: { at: number; seq: number }): boolean =>
  context.network.within(
    moment('hook-end', spec.name),
    { client: atMost(at + 1) },
    { because: 'the status of the end of all waits for every hook (§2 S10, S12)', evidence: [seq] },
  );

/** Before the grace ended the hook failed by itself; after it, it was cut off and died with the container (trap 11). */
function failedEnd(hookContext: HookContext, failure: Occurrence, isLate: boolean): Result {
  const { context, spec, killings, ended, lag, began } = hookContext;
  const { network, kubelet } = context;
  const end = moment('hook-end', spec.name);
  const failedAt = failureMoment(hookContext, failure);
  const graceEnd = graceEndOf(hookContext);
  const again = isOfLaterAttempt(context, failure, began, killings);
  const soon = isLate ? Infinity : millisecondsOf(lag);
  const proof = { because: 'FailedPreStopHook (§2 S6)', evidence: [failure.seq] };
  // What fails after the container has ended died with it: a connection that broke, an exec that lost its process.
  const outlivedIt = ended !== undefined && isBefore(ended, failedAt);
  if (outlivedIt && (isBefore(ended, graceEnd) || !isBefore(graceEnd, failedAt))) {
    if (again) notAfterEnd(hookContext, ended);
    else {
      const limits = onBothClocks((clock) => ({
        ...failedAt[clock],
        lo: earlierOf(failedAt[clock], graceEnd[clock]).lo,
      }));
      network.within(end, limits, proof);
      stateGrace(hookContext, soon);
    }
    return { outcome: 'unknown', mayHaveDied: true };
  }
  // Where its clock was set, nothing may show whether the container ended first.
  if (network.stepped.node && ended && !isBefore(graceEnd, ended))
    return stated('unknown', notAfterEnd(hookContext, ended));
  // In a second attempt the failure is that attempt's, and the first hook may have ended at any time before.
  const until = notAfter(failedAt);
  if (again) return stated(isBefore(failedAt, graceEnd) ? 'failed' : 'unknown', network.within(end, until, proof));
  if (isBefore(graceEnd, failedAt)) {
    network.follows(
      moment('counted', spec.name),
      end,
      { min: graceSpan(kubelet).lo, max: graceSpan(kubelet).hi + soon },
      { because: 'cut off by the grace (§2 S6)', evidence: [failure.seq] },
    );
    network.within(end, until, proof);
    return { outcome: 'cut-off' };
  }
  if (!isBefore(failedAt, graceEnd)) return stated('unknown', network.within(end, until, proof));
  network.within(end, until, proof);
  network.stamp('node', end, failure.time, failure.at + 1, proof, began.client.lo);
  return ended === undefined || isBefore(failedAt, ended)
    ? { outcome: 'failed' }
    : { outcome: 'unknown', mayHaveDied: true };
}

/** When the failure happened, in a moment of its own: what follows of it is decided by that. */
function failureMoment({ context, spec, began }: HookContext, { time, at, seq }: Occurrence): Estimate {
  const name = `hook-failure/${spec.name}`;
  const proof = { because: 'FailedPreStopHook (§2 S6)', evidence: [seq] };
  context.network.within(name, { client: { lo: began.client.lo, hi: at + 1 } }, proof);
  context.network.stamp('node', name, time, at + 1, proof, began.client.lo);
  return context.network.read(name, 'observed');
}

/** The end of the grace that counted, for comparing. */
function graceEndOf({ context, spec, killings }: HookContext): Estimate {
  const name = `hook-grace/${spec.name}`;
  const { lo, hi } = graceSpan(context.kubelet);
  const because = 'the grace (§2 S1)';
  context.network.follows(
    moment('began', spec.name),
    name,
    { min: lo, max: killings.length > 1 ? Infinity : hi },
    { because },
  );
  if (killings.length > 1)
    context.network.follows(moment('counted', spec.name), name, { min: -Infinity, max: hi }, { because });
  return context.network.read(name);
}

/** What begins a new attempt before the hook failed; what comes after it took nothing of it back. */
function isOfLaterAttempt(
  { trace }: InferContext,
  failure: Occurrence,
  began: Estimate,
  [, ...others]: readonly Occurrence[],
): boolean {
  const retries = trace.events.filter((one) => beginsNewAttempt(one) && !one.isOld && one.time.hi >= began.node.lo);
  return [...others, ...retries].some(({ named, time }) => Math.min(named ?? Infinity, time.lo) <= failure.time.hi);
}

/** Success is silent. A container that ended well inside its grace leaves no room for a hook that overran it. */
function silentEnd(hookContext: HookContext): Result {
  const { context, spec, ended, doubted, killings, lag } = hookContext;
  const { network, trace } = context;
  const [start, end] = [moment('began', spec.name), moment('hook-end', spec.name)];
  stateGrace(hookContext, millisecondsOf(lag));
  if (ended) notAfterEnd(hookContext, ended);
  const graceEnd = graceEndOf(hookContext);
  const least = (hookOf(spec.container)?.handler.exec?.seconds ?? 0) * second;
  const isSilent = !doubted && killings.length > 0 && isSilence(context, network.read(end));
  const isWhole = isSilent && killings.length === 1 && least - driftOver(least) <= graceSpan(context.kubelet).hi;
  if (isWhole && least > 0)
    network.follows(
      start,
      end,
      { min: least - driftOver(least) },
      { because: 'its command only sleeps, and did not fail (§2 S6)' },
    );
  const inTime = ended !== undefined && isBefore(ended, graceEnd);
  return {
    outcome:
      inTime && isSilent && !trace.refused.some(({ value }) => value.stream === 'events') ? 'completed' : 'unknown',
  };
}

/** No failure was reported, by a stream that would have brought it, and it has had the time to come. */
function isSilence({ trace }: InferContext, end: Estimate): boolean {
  const isDue = trace.gone !== undefined || trace.lastReceivedAt >= end.client.hi + eventPatienceOf(trace);
  return !areEventsMissing(trace) && !warningsMissing(trace) && isDue;
}

/** What the kubelet posted may never have come. */
const areEventsMissing = (trace: Trace): boolean =>
  trace.gaps.some((gap) => gap.value.stream === 'events') || trace.refused.some((one) => one.value.stream === 'events');

/** ms: an Event has come by then. */
const eventPatienceOf = (trace: Trace): number => millisecondsOf('event-lag') + deliveryLagOf(trace);

/** An Event of it may be on its way: the status of its end overtook it. */
function mayBeComing({ trace }: InferContext, ended: Estimate | undefined): boolean {
  const isOver = trace.gone !== undefined || areEventsMissing(trace);
  return !isOver && trace.lastReceivedAt < (ended?.client.hi ?? Infinity) + eventPatienceOf(trace);
}

/**
 * A failure that is older than the deletion is not this exit's. Where only the acceptance bounds it, and the clocks do not
 * decide, it counts if it came live after the deletion, and no kill for another reason can have run that hook.
 */
function failureOf(context: InferContext, spec: ContainerSpec, stop: Stop): Pick<HookContext, 'failure' | 'doubted'> {
  const { trace, deletion, network } = context;
  const { began, killings } = stop;
  const about = (reason: string): Occurrence[] =>
    trace.events.filter((one) => one.reason === reason && one.about.container === spec.name);
  const all = about('FailedPreStopHook');
  if (!stop.isOpen) return { failure: all.find(({ time }) => time.hi >= began.node.lo), doubted: false };
  const since = sinceOf(context, stop);
  const isAlone = about('Killing').every((one) => killings.includes(one));
  const possible = all.filter((one) => belongs(deletion, one, network.toClient('node', one.time, one.at + 1)));
  const failure = possible.find(
    ({ time, isOld, count, seq }) =>
      time.lo >= since || (isAlone && !isOld && count === 1 && seq > deletion.facts.seenSeq),
  );
  return { failure, doubted: !failure && possible.length > 0 };
}
