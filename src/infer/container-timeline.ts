/** One container of the timeline. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import { isEndSettled, isSignalSettled, type ContainerExit, type PodExit } from './context.ts';
import { between, capAtNow, isBefore, type Estimate } from './estimate.ts';
import { shownLength, type TimelineScale } from './schedule.ts';
import type { ContainerTimeline, Interval, Length, Phase, PreStopExit, StopSignal } from './timeline.ts';

interface Context {
  readonly exit: PodExit;
  readonly scale: TimelineScale;
  readonly phases: readonly Phase[];
}

export function containerTimeline(context: Context, container: ContainerExit): ContainerTimeline {
  const { exit, scale, phases } = context;
  const { trace } = exit;
  const { spec, outcome, ran, graceEnd, served } = container;
  const lengthOf = (phase: Phase['name']): Length | undefined =>
    phases.find(({ name, subject }) => name === phase && subject === spec.name)?.length;
  const kill = capAtNow(trace, container.kill);
  const ended = capAtNow(trace, container.exit?.at);
  const exitAt = ended && scale.interval(ended, `exited/${spec.name}`);
  return {
    name: spec.name,
    kind: spec.kind,
    ran,
    outcome,
    probable: container.probable ?? false,
    preStop: preStopOf(context, container, lengthOf('prestop')),
    stopSignal: stopSignalOf(context, container),
    kill: kill && scale.interval(kill, `kill/${spec.name}`),
    reaction: reactionOf(trace, container),
    exit: exitAt && { at: exitAt, code: container.exit?.code, reason: container.exit?.reason },
    drain: drainOf(context, container, lengthOf('drain')),
    graceUsed: exitAt && graceUsedOf(context, container, exitAt),
    pastGrace: lengthOf('overtime'),
    graceEnd: graceEnd && scale.interval(graceEnd),
    servedUntil: served && scale.interval(served),
  };
}

function preStopOf(
  { exit: { trace }, scale }: Context,
  container: ContainerExit,
  length: Length | undefined,
): PreStopExit | undefined {
  const { hook, ran, spec } = container;
  const start = ran ? capAtNow(trace, hook?.start) : undefined;
  if (!hook || !start) return undefined;
  const end = capAtNow(trace, hook.end);
  return {
    kind: hook.kind,
    outcome: hook.outcome,
    start: scale.interval(start, `stopping/${spec.name}`),
    end: end && scale.interval(end, `prestop-ended/${spec.name}`),
    length: end && length,
    sleepSeconds: hook.sleepSeconds,
    mayHaveDied: hook.mayHaveDied && !isOver(container, hook.end),
    outlasted: isOver(container, hook.end),
    provisional: !isEndSettled(trace, container),
  };
}

const isOver = ({ exit }: ContainerExit, at: Estimate): boolean =>
  exit !== undefined && !exit.provisional && isBefore(exit.at, at);

function stopSignalOf({ exit: { trace }, scale }: Context, container: ContainerExit): StopSignal | undefined {
  const signal = capAtNow(trace, container.signal);
  if (!signal) return undefined;
  return {
    ...scale.interval(signal, `stop-signal/${container.spec.name}`),
    signal: container.signal?.name,
    provisional: !isSignalSettled(trace, container),
  };
}

/** The phase of that name ends with the kill, where there was one; the exit follows at once. */
function drainOf({ scale }: Context, { signal, kill, exit, spec }: ContainerExit, phase: Length | undefined) {
  if (!phase || !kill || !signal || !exit) return phase;
  return lengthBetween(scale, [signal, `stop-signal/${spec.name}`], [exit.at, `exited/${spec.name}`]);
}

function lengthBetween(scale: TimelineScale, from: [Estimate, string], to: [Estimate, string]): Length {
  return shownLength(between(from[0], to[0]), scale.interval(...from), scale.interval(...to));
}

/** Counted from the kubelet's last start with it, since its grace counts from there (SIGNALS.md §2 S1, trap 36). */
function graceUsedOf(
  { exit, scale }: Context,
  container: ContainerExit,
  exitAt: Interval,
): ContainerTimeline['graceUsed'] {
  const { counted, stopping, hook, signal, spec } = container;
  const countsAgain = counted !== undefined && counted !== stopping;
  const from = countsAgain ? counted : (stopping ?? hook?.start ?? signal);
  if (!from || !container.exit) return undefined;
  const start = scale.interval(from, countsAgain ? undefined : `stopping/${spec.name}`);
  const { min, max, shown } = shownLength(between(from, container.exit.at), start, exitAt);
  const { grace } = exit.kubelet;
  const seconds = Math.min(exit.deletion.grace || 1, Number.isFinite(grace.max) ? grace.max : Infinity);
  return { min: min / (grace.max * 1000), max: max / (grace.min * 1000), shown: shown / (seconds * 1000) };
}

/** Undefined where its log was not followed throughout: then silence says nothing. */
function reactionOf(trace: Trace, container: ContainerExit): 'none' | 'seen' | undefined {
  const { outcome, signal, facts, spec } = container;
  if (outcome !== 'killed' || spec.kind === 'ephemeral' || !signal) return undefined;
  const spoke = facts.log.lastLine !== undefined && facts.log.lastLine.value > signal.node.lo;
  if (spoke || facts.readyLost !== undefined || probesFailed(trace, container)) return 'seen';
  return wasLogFollowed(trace, container) ? 'none' : undefined;
}

/** Its log was followed from before the signal until the kill, with nothing missing in between. */
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
  // A line may be on its way for as long as a stream may be late, and the Event of a failed probe a little longer.
  const watchedFor = trace.gone ? Infinity : trace.lastReceivedAt - kill.client.hi;
  const isLogComplete = log.ended !== undefined || watchedFor >= deliveryLagOf(trace);
  const areProbesComplete = watchedFor >= deliveryLagOf(trace) + millisecondsOf('event-lag');
  return isLogComplete && areProbesComplete && !endedBefore && !missed;
}

function probesFailed(trace: Trace, { spec, signal, kill }: ContainerExit): boolean {
  const from = signal?.node.hi ?? Infinity;
  // A probe that may have failed before the kill is a change: only what certainly showed nothing is reported.
  const to = kill?.node.hi ?? -Infinity;
  return trace.events.some(
    (event) =>
      event.reason === 'Unhealthy' && event.about.container === spec.name && event.time.lo > from && event.time.lo < to,
  );
}
