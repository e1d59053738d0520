/** One container of the timeline. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import { isEndSettled, isSignalSettled, reportedExit, type ContainerExit, type PodExit } from './context.ts';
import { between, capAtNow, isBefore, type Estimate } from './estimate.ts';
import { shownLength, type IntervalOf } from './schedule.ts';
import type { ContainerTimeline, Interval, Length, Phase, PreStopExit, StopSignal } from './timeline.ts';

interface Context {
  readonly exit: PodExit;
  readonly intervalOf: IntervalOf;
  readonly phases: readonly Phase[];
}

export function containerTimeline(context: Context, container: ContainerExit): ContainerTimeline {
  const { exit, intervalOf, phases } = context;
  const { trace } = exit;
  const { spec, outcome, ran, graceEnd, served } = container;
  const lengthOf = (phase: Phase['name']): Length | undefined =>
    phases.find(({ name, subject }) => name === phase && subject === spec.name)?.length;
  const kill = capAtNow(trace, container.kill);
  const ended = capAtNow(trace, container.exit?.at);
  const exitAt = ended && intervalOf(ended, `exited/${spec.name}`);
  return {
    name: spec.name,
    kind: spec.kind,
    ran,
    outcome,
    probable: container.probable ?? false,
    preStop: preStopOf(context, container, lengthOf('prestop')),
    stopSignal: stopSignalOf(context, container),
    kill: kill && intervalOf(kill, `kill/${spec.name}`),
    reaction: reactionOf(trace, container),
    exit: exitAt && { at: exitAt, code: container.exit?.code, reason: container.exit?.reason },
    drain: drainOf(context, container, lengthOf('drain')),
    graceUsed: exitAt && graceUsedOf(context, container, exitAt),
    pastGrace: lengthOf('overtime'),
    graceEnd: graceEnd && intervalOf(graceEnd),
    servedUntil: served && intervalOf(served),
  };
}

function preStopOf(
  { exit: { trace }, intervalOf }: Context,
  container: ContainerExit,
  length: Length | undefined,
): PreStopExit | undefined {
  const { hook, ran, spec } = container;
  const start = ran ? capAtNow(trace, hook?.start) : undefined;
  if (!hook || !start) return undefined;
  const end = capAtNow(trace, hook.end);
  const exit = reportedExit(container);
  const outlasted = exit !== undefined && isBefore(exit, hook.end);
  return {
    kind: hook.kind,
    outcome: hook.outcome,
    start: intervalOf(start, `stopping/${spec.name}`),
    end: end && intervalOf(end, `prestop-ended/${spec.name}`),
    length: end && length,
    sleepSeconds: hook.sleepSeconds,
    mayHaveDied: hook.mayHaveDied && !outlasted,
    outlasted,
    provisional: !isEndSettled(trace, container),
  };
}

function stopSignalOf({ exit: { trace }, intervalOf }: Context, container: ContainerExit): StopSignal | undefined {
  const signal = capAtNow(trace, container.signal);
  if (!signal) return undefined;
  return {
    ...intervalOf(signal, `stop-signal/${container.spec.name}`),
    signal: container.signal?.name,
    provisional: !isSignalSettled(trace, container),
  };
}

/** The drain lasts until the exit. The phase of that name ends with the kill, if there was one. */
function drainOf({ intervalOf }: Context, { signal, kill, exit, spec }: ContainerExit, phase: Length | undefined) {
  if (!phase || !kill || !signal || !exit) return phase;
  return lengthBetween(intervalOf, [signal, `stop-signal/${spec.name}`], [exit.at, `exited/${spec.name}`]);
}

function lengthBetween(intervalOf: IntervalOf, from: [Estimate, string], to: [Estimate, string]): Length {
  return shownLength(between(from[0], to[0]), intervalOf(...from), intervalOf(...to));
}

/** The grace counts from the kubelet's last attempt to stop the container (SIGNALS.md §2 S1, trap 36). */
function graceUsedOf(
  { exit, intervalOf }: Context,
  container: ContainerExit,
  exitAt: Interval,
): ContainerTimeline['graceUsed'] {
  const { graceStart, stopping, hook, signal, spec } = container;
  const isRestarted = graceStart !== undefined && graceStart !== stopping;
  const from = isRestarted ? graceStart : (stopping ?? hook?.start ?? signal);
  if (!from || !container.exit) return undefined;
  const start = intervalOf(from, isRestarted ? undefined : `stopping/${spec.name}`);
  const { min, max, shown } = shownLength(between(from, container.exit.at), start, exitAt);
  const { grace } = exit.kubelet;
  const seconds = Math.min(exit.deletion.grace || 1, Number.isFinite(grace.max) ? grace.max : Infinity);
  return { min: min / (grace.max * 1000), max: max / (grace.min * 1000), shown: shown / (seconds * 1000) };
}

/** Undefined if the log was not followed all the time, so that silence means nothing. */
function reactionOf(trace: Trace, container: ContainerExit): 'none' | 'seen' | undefined {
  const { outcome, signal, facts, spec } = container;
  if (outcome !== 'killed' || spec.kind === 'ephemeral' || !signal) return undefined;
  const hasLogged = facts.log.lastLine !== undefined && facts.log.lastLine.value > signal.node.lo;
  if (hasLogged || facts.readyLost !== undefined || probesFailed(trace, container)) return 'seen';
  return wasLogFollowed(trace, container) ? 'none' : undefined;
}

/** Whether the log was followed from before the signal until the kill without a gap. */
function wasLogFollowed(trace: Trace, { spec, facts: { log }, signal, kill }: ContainerExit): boolean {
  if (!log.opened || !signal || !kill || log.opened.at > signal.client.hi) return false;
  const endedBefore = log.ended !== undefined && log.ended.at < kill.client.lo;
  const missed = trace.gaps.some(
    ({ value }) =>
      value.stream === 'logs' &&
      (value.container === undefined || value.container === spec.name) &&
      (value.to ?? Infinity) > signal.client.lo &&
      value.from < kill.client.hi,
  );
  // A log line can be late by the delivery lag, and the Event of a failed probe a little more.
  const watchedFor = trace.gone ? Infinity : trace.lastReceivedAt - kill.client.hi;
  const isLogComplete = log.ended !== undefined || watchedFor >= deliveryLagOf(trace);
  const areProbesComplete = watchedFor >= deliveryLagOf(trace) + millisecondsOf('event-lag');
  return isLogComplete && areProbesComplete && !endedBefore && !missed;
}

function probesFailed(trace: Trace, { spec, signal, kill }: ContainerExit): boolean {
  const from = signal?.node.hi ?? Infinity;
  // A probe that may have failed before the kill counts: 'none' is reported only if there was certainly no reaction.
  const to = kill?.node.hi ?? -Infinity;
  return trace.events.some(
    (event) =>
      event.reason === 'Unhealthy' && event.about.container === spec.name && event.time.lo > from && event.time.lo < to,
  );
}
