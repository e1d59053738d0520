/** Whether a container that was killed showed that it had noticed its stop signal. Pure. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { Trace } from '../model/trace.ts';
import { deliveryLagOf } from './arrival.ts';
import type { ContainerExit } from './context.ts';

/** Undefined where its log was not followed throughout: then silence says nothing. */
export function reactionOf(trace: Trace, container: ContainerExit): 'none' | 'seen' | undefined {
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
