/** One container of the timeline. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Span } from '../model/span.ts';
import { failedProbes, type Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import { isEndSettled, isSignalSettled, reportedExit, type ContainerExit, type PodExit } from './context.ts';
import { isBefore } from './estimate.ts';
import { hasLogGap } from './gaps.ts';
import { lengthBetween, type Intervals } from './schedule.ts';
import type { ContainerTimeline, Interval, Length, Phase, PreStopExit, StopSignal } from './timeline.ts';

interface Context {
  readonly exit: PodExit;
  readonly intervals: Intervals;
  readonly phases: readonly Phase[];
}

export function containerTimeline(context: Context, container: ContainerExit): ContainerTimeline {
  const { exit, intervals, phases } = context;
  const { trace } = exit;
  const { spec, ran, killings, outcome, probable, mayHaveOverrun, graceEnd, served } = container;
  const lengthOf = (phase: Phase['name']): Length | undefined =>
    phases.find(({ name, subject }) => name === phase && subject === spec.name)?.length;
  const exitAt = intervals.past(container.exit?.at);
  return {
    name: spec.name,
    kind: spec.kind,
    ran,
    killings,
    outcome,
    probable,
    mayHaveOverrun,
    stopping: intervals.past(container.stopping),
    bounds: { stopSignal: isSignalSettled(trace, container) ? container.signal : undefined, exit: container.exit?.at },
    preStop: preStopOf(context, container, lengthOf('prestop')),
    stopSignal: stopSignalOf(context, container),
    kill: intervals.past(container.kill),
    reaction: reactionOf(trace, container),
    exit: exitAt && { ...container.exit, at: exitAt },
    drain: drainOf(context, container, lengthOf('drain')),
    graceUsed: exitAt && graceUsedOf(intervals, container, exitAt),
    pastGrace: lengthOf('overtime'),
    graceEnd: graceEnd && intervals.of(graceEnd),
    servedUntil: served && intervals.of(served),
  };
}

function preStopOf(
  { exit: { trace }, intervals }: Context,
  container: ContainerExit,
  length: Length | undefined,
): PreStopExit | undefined {
  const { hook, ran, stopping } = container;
  const start = ran ? intervals.past(hook?.start, stopping) : undefined;
  if (!hook || !start) return undefined;
  const end = intervals.past(hook.end);
  const exit = reportedExit(container);
  const outlasted = exit !== undefined && isBefore(exit, hook.end);
  return {
    kind: hook.kind,
    outcome: hook.outcome,
    start,
    end,
    length: end && length,
    sleepSeconds: hook.sleepSeconds,
    mayHaveDied: hook.mayHaveDied && !outlasted,
    outlasted,
    provisional: !isEndSettled(trace, container),
  };
}

function stopSignalOf({ exit: { trace }, intervals }: Context, container: ContainerExit): StopSignal | undefined {
  const { name: signal } = container.signal ?? {};
  const at = intervals.past(container.signal);
  const isPerhapsOther = signal === undefined && isPerhapsOtherSignal(trace, container);
  return at && { ...at, signal, isPerhapsOther, provisional: !isSignalSettled(trace, container) };
}

/** The API shows no STOPSIGNAL of an image, and not whether the runtime heeds the spec's (SIGNALS.md §2 S8). */
function isPerhapsOtherSignal(trace: Trace, container: ContainerExit): boolean {
  const { spec, facts, signal, outcome } = container;
  const { lifecycle, handlesTerm, handlesOther } = spec.container;
  if (lifecycle?.stopSignal !== undefined || handlesOther) return true;
  if (handlesTerm && outcome === 'killed' && reactionOf(trace, container) !== 'seen') return true;
  return facts.log.signalLines.find(({ value }) => value >= (signal?.node.lo ?? Infinity))?.isOther === true;
}

/** The drain lasts until the exit. The phase of that name ends with the kill, if there was one. */
function drainOf({ intervals }: Context, { signal, kill, exit }: ContainerExit, phase: Length | undefined) {
  if (!phase || !kill || !signal || !exit) return phase;
  return lengthBetween(intervals.of(signal), intervals.of(exit.at));
}

/** The grace counts from the kubelet's last attempt to stop the container (SIGNALS.md §2 S1, trap 36). */
function graceUsedOf(
  intervals: Intervals,
  { graceStart, stopping, hook, signal }: ContainerExit,
  exitAt: Interval,
): Length | undefined {
  const isRestarted = graceStart !== undefined && graceStart !== stopping;
  const from = isRestarted ? graceStart : (stopping ?? hook?.start ?? signal);
  if (!from) return undefined;
  // A copy is no mark's moment: without a Killing, the mark of the signal must not place the start of the stop.
  return lengthBetween(intervals.of({ ...from }, isRestarted ? undefined : stopping), exitAt);
}

/** Undefined if silence means nothing: the log was not followed all the time, or its command handles the signal. */
function reactionOf(trace: Trace, container: ContainerExit): 'none' | 'seen' | undefined {
  const { outcome, signal, kill, facts, spec } = container;
  if (outcome !== 'killed' || spec.kind === 'ephemeral' || !signal) return undefined;
  const { log, readyLost } = facts;
  const hasLogged = log.lastLine !== undefined && log.lastLine.value.stamp > signal.node.lo;
  const failed = failedProbes(trace, spec.name).filter(({ time }) => time.lo > signal.node.hi);
  const isBeforeKill = ({ time }: { time: Span }): boolean => time.hi <= (kill?.node.lo ?? Infinity);
  const wasUnready = readyLost !== undefined && readyLost.at < (kill?.client.lo ?? Infinity);
  if (hasLogged || wasUnready || failed.some(isBeforeKill)) return 'seen';
  // What was perhaps before the kill may have been a reaction; the kill itself fails probes too.
  if (readyLost || failed.some(({ time }) => time.lo < (kill?.node.lo ?? Infinity))) return undefined;
  const mayReactSilently = spec.container.handlesTerm === true && [undefined, 'SIGTERM'].includes(signal.name);
  return wasLogFollowed(trace, container) && !mayReactSilently ? 'none' : undefined;
}

/** Whether the log was followed from before the signal until the kill without a gap. */
function wasLogFollowed(trace: Trace, { spec, facts: { log }, signal, kill }: ContainerExit): boolean {
  if (!log.opened || !signal || !kill || log.opened.at > signal.client.hi) return false;
  const endedBefore = log.ended !== undefined && log.ended.at < kill.client.lo;
  const missed = hasLogGap(trace, spec.name, { lo: signal.client.lo, hi: kill.client.hi });
  // A log line can be late by the delivery lag, and the Event of a failed probe a little more.
  const watchedFor = trace.gone ? Infinity : trace.lastReceivedAt - kill.client.hi;
  const isLogComplete = log.ended !== undefined || watchedFor >= deliveryLagOf(trace);
  const areProbesComplete = watchedFor >= deliveryLagOf(trace) + millisecondsOf('event-lag');
  return isLogComplete && areProbesComplete && !endedBefore && !missed;
}
