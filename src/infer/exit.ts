/** When a container ended: by its status, or, until one comes, by the end of its log. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { atLeast, atMost, second } from '../model/span.ts';
import type { ContainerFacts, LogFacts, Occurrence, Trace } from '../model/trace.ts';
import { deliverableSince, deliveryLagOf } from './arrival.ts';
import { longestStop, minimumGrace, type ExitFacts, type InferContext } from './context.ts';
import type { Estimate } from './estimate.ts';
import { isStart } from './stop-attempts.ts';
import { moment } from './stage.ts';
import type { Stop } from './stop.ts';

interface EndAsked extends Stop {
  /** A hook or a turn may have eaten the grace before the signal. */
  readonly hooked: boolean;
  /** The stop signal is stated. */
  readonly called: boolean;
}

/** When it ended: by its status, or, until one comes, by the end of its log. */
export function exitOf(
  context: InferContext,
  spec: ContainerSpec,
  facts: ContainerFacts,
  asked: EndAsked,
): ExitFacts | undefined {
  const { stage, trace } = context;
  const { terminated } = facts;
  const at = moment('exit', spec.name);
  if (asked.ended && terminated) {
    const { exitCode: code, reason } = terminated.value;
    return { at: stage.read(at), code, ...(reason === undefined ? {} : { reason }), provisional: false };
  }
  const end = exitLogEnd(trace, facts, asked.killings);
  const signal = asked.called ? stage.read(moment('stop-signal', spec.name)) : undefined;
  if (!end || !signal || end.at + 1 < signal.client.lo || terminated) return undefined;
  stateLogEnd(context, spec, facts, { ...asked, endAt: end.at, seq: end.seq, signal });
  const known = stage.read(at);
  return Number.isFinite(known.client.hi) ? { at: known, provisional: true } : undefined;
}

/**
 * The kubelet ends a log within about a second of the container's exit (SIGNALS.md §5), long before any status. Where no
 * status will ever confirm it, and the log ended for another reason, the kill at the end of grace did the rest.
 */
function stateLogEnd(
  context: InferContext,
  { name }: ContainerSpec,
  { log }: ContainerFacts,
  { endAt, seq, began, signal, hooked, lag }: EndAsked & { endAt: number; seq: number; signal: Estimate },
): void {
  const { stage, trace, kubelet } = context;
  const at = moment('exit', name);
  const proof = { because: 'log-end', evidence: [seq] };
  const wait = hooked ? kubelet.grace.max * second + minimumGrace : longestStop(kubelet);
  const latest = trace.gone ? wait + millisecondsOf(lag) : -Infinity;
  const limits = {
    client: atMost(Math.max(endAt + 1, began.client.hi + latest)),
    node: trace.gone ? atMost(began.node.hi + latest) : atMost(Infinity),
  };
  stage.within(at, { client: limits.client }, proof);
  const alone = endedSince(context, log.reopened, endAt) - millisecondsOf('log-end');
  if (!hooked || signal.client.lo <= alone)
    stage.follows(moment('stop-signal', name), at, {}, { because: 'it ended after its signal' });
  else stage.follows(moment('began', name), at, {}, { because: 'it ended after the kubelet began' });
  stage.within(at, { client: atLeast(alone - deliveryLagOf(trace)) }, proof);
  const line = log.lastLine;
  if (line)
    stage.stamp('node', at, atLeast(line.value - millisecondsOf('log-stamp-lag')), line.at + 1, {
      because: 'log-stamp-lag',
      evidence: [line.seq],
    });
}

/** The earliest (client ms) that a log which ended at `at` can have ended: its connection may have been away. */
function endedSince({ trace }: InferContext, reopened: { at: number } | undefined, at: number): number {
  if (reopened && at - reopened.at <= deliveryLagOf(trace)) return -Infinity;
  return deliverableSince(trace, 'logs', at);
}

/** The end of its log, where nothing speaks against it being that of the container. */
export function exitLogEnd(
  trace: Trace,
  { log: { ended: end } }: ContainerFacts,
  killings: readonly Occurrence[],
): LogFacts['ended'] {
  const doubted =
    !end?.value.clean ||
    killings.some((one) => one.at > end.at) ||
    trace.events.some((one) => isStart(one) && one.at > end.at) ||
    trace.nodeReady.some((one) => one.value !== 'True' && one.at >= end.at);
  return doubted ? undefined : end;
}
