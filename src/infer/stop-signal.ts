/** The stop signal (SIGNALS.md §2 S6 to S8, §5): after hook and turn, before the exit, and never reported by the API. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { atMost, earlierOf, laterOf, second, type Span } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Trace } from '../model/trace.ts';
import { deliverableSince } from './arrival.ts';
import { graceSpan, shortestStop, type ContainerExit, type HookFacts, type InferContext } from './context.ts';
import { isWitnessed } from './deletion.ts';
import { isBefore, moved, notAfter, onBothClocks, type Estimate } from './estimate.ts';
import { moment } from './pod-network.ts';
import { isAcknowledgedByProbe, isInTime, killedCode, mayHaveRetried, sinceOf, type Stop } from './stop.ts';

/** What the signal's moment depends on. */
export interface SignalStop extends Stop {
  readonly turn: Estimate | undefined;
  /** The stop signal, where its status names one. */
  readonly named: string | undefined;
  /** How often it had ended before. */
  readonly restarts: number;
}

export interface SignalRows {
  /** A line of the application names it: it was sent, whatever becomes of the kill. */
  readonly proved: boolean;
  /** It can have been sent before the container ended. */
  readonly isPossible: boolean;
  /** It is dated by the kubelet's acknowledging status. */
  readonly leansOnAcknowledgement: boolean;
}

/** States the stop signal: after hook and turn, plus the runtime's lag; undefined where nothing bounds it. */
export function stateSignal(
  context: InferContext,
  spec: ContainerSpec,
  facts: ContainerFacts,
  stop: SignalStop,
  hook: HookFacts | undefined,
): SignalRows | undefined {
  const { network, kubelet } = context;
  const { ended, lag, turn, began, killings } = stop;
  const at = moment('stop-signal', spec.name);
  const ready = moment(hook ? 'hook-end' : 'began', spec.name);
  const own = network.read(ready);
  const grace = graceSpan(kubelet);
  const due = turn ? waited(own, turn, began, grace) : own;
  const isPrompt = !hook && !turn && isKilledAtOnce(context, facts, ended);
  const leansOnAcknowledgement = isPrompt && isInTime(context, stop);
  const isOpen = !leansOnAcknowledgement && mayHaveRetried(context, stop, due);
  const wait = millisecondsOf(lag) + (leansOnAcknowledgement ? millisecondsOf('kill-at-once') : 0);
  const max = isOpen || turn ? Infinity : wait;
  const isLaterAttempt = isOpen && hook?.failure !== undefined && killings.length !== 1;
  const from = isLaterAttempt ? moment('began', spec.name) : ready;
  network.follows(from, at, { max }, { because: isOpen || turn ? 'the signal follows the hook (§2 S8)' : lag });
  if (turn) {
    const latest = isOpen ? Infinity : millisecondsOf(lag);
    const limits = moved(isLaterAttempt ? notAfter(due) : due, { lo: 0, hi: latest });
    network.within(at, limits, { because: 'a sidecar waits for its turn (§2 S7)', evidence: turn.evidence });
  }
  const since = isLaterAttempt ? network.read(from) : turn ? due : own;
  const line = signalLine(context, facts, stop, { hook, since });
  const isPossible = ended ? network.notAfter(at, ended) : true;
  if (line)
    network.within(
      at,
      { client: atMost(line.at + 1), node: atMost(line.value) },
      { because: 'a log line names the signal (§5)', evidence: [line.seq] },
    );
  return Number.isFinite(network.read(at).client.hi)
    ? { proved: line !== undefined, isPossible, leansOnAcknowledgement }
    : undefined;
}

/** The later of the two, but the turn ends with the grace at the latest. */
function waited(own: Estimate, turn: Estimate, began: Estimate, grace: Span): Estimate {
  const graceEnd = moved(began, { lo: grace.lo, hi: grace.hi + second });
  const spans = onBothClocks((clock) => laterOf(own[clock], earlierOf(turn[clock], graceEnd[clock])));
  return { ...spans, basis: 'inferred', evidence: turn.evidence };
}

/**
 * The first line that names the signal, of those that cannot be older than the signal. It is an upper bound unless a
 * hook that still ran may have sent a signal of its own (`kill -TERM 1`). A sidecar's may repeat what another container
 * wrote (`tail -F app.log`), as long as one that it waits for may have been there (SIGNALS.md §2 S7).
 */
function signalLine(
  context: InferContext,
  facts: ContainerFacts,
  stop: SignalStop,
  { hook, since }: { hook: HookFacts | undefined; since: Estimate },
) {
  const { began, turn } = stop;
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(since.node.lo, sinceOf(context, stop), turn?.node.hi ?? -Infinity);
  // What an application writes of signals anyway, before one can have come, proves nothing when it writes it again.
  const possible = hook?.inert ? Math.max(since.node.lo, began.node.lo) : began.node.lo;
  const from = Math.max(possible, context.network.read('accepted').node.lo);
  if (facts.log.signalLines.some((line) => line.value < from)) return undefined;
  return facts.log.signalLines.find(
    (line) => line.value >= earliest || (!hook && !turn && namesOwnSignal(context, facts, line)),
  );
}

/**
 * Events may not be read, so no Killing can be expected: then the acknowledging status counts. It is written as the kubelet
 * begins to terminate the pod, in the goroutine that goes on to hooks and signals (SIGNALS.md §2 S3, S5 to S8).
 */
const areEventsRefused = ({ refused }: Trace): boolean => refused.some(({ value }) => value.stream === 'events');

/** ms: a kill that failed is tried again after this long at the earliest (SIGNALS.md §2 S11, backOffPeriod). */
const backOff = 10_000;

/**
 * The stop signal follows the acknowledgement at once (`kill-at-once`), where the container ended too soon for a kill that
 * failed and was tried again: before that can have been, or, by SIGKILL, before the grace of that was over.
 */
function isKilledAtOnce(
  { trace, deletion, kubelet }: InferContext,
  facts: ContainerFacts,
  ended: Estimate | undefined,
): boolean {
  const { acknowledged } = trace;
  if (!areEventsRefused(trace) || !acknowledged || !ended || !isWitnessed(trace, deletion.facts)) return false;
  if (isAcknowledgedByProbe(trace) || deliverableSince(trace, 'pod', acknowledged.at) !== acknowledged.at) return false;
  const grace = facts.terminated?.value.exitCode === killedCode ? shortestStop(kubelet) : 0;
  const isAfterGrace = ended.client.hi >= deletion.accepted.client.lo + grace;
  return ended.client.hi < deletion.accepted.client.lo + backOff + (isAfterGrace ? grace : 0);
}

/**
 * A line that arrived live, after the deletion was seen, on a log that was followed by then, was written because of it, if
 * it names the signal: without Events no clock shows that.
 */
const namesOwnSignal = (
  { trace, deletion }: InferContext,
  { log }: Pick<ContainerFacts, 'log'>,
  line: ContainerFacts['log']['signalLines'][number],
): boolean =>
  areEventsRefused(trace) &&
  isWitnessed(trace, deletion.facts) &&
  log.opened !== undefined &&
  log.opened.at + millisecondsOf('log-end') <= deletion.facts.seenAt &&
  line.at >= deletion.facts.seenAt &&
  deliverableSince(trace, 'logs', line.at) === line.at;

interface Ending extends SignalStop, Pick<ContainerExit, 'facts' | 'hook' | 'exit' | 'outcome'> {
  /** The clock of its node certainly was set. */
  readonly wasSet: boolean;
  readonly graceEnd: Estimate;
}

/** It may have ended before its signal was due, so that none was sent. Counts only against one that no line of the log proves. */
export const mayHaveEndedUnsignalled = (ending: Ending): boolean =>
  mayHaveCrashed(ending) || ending.hook?.mayHaveDied === true || mayHaveEndedWaiting(ending) || endedBeforeDue(ending);

/**
 * By the clock of its node the second of its end was over before the kubelet began with it, or before its turn: the kubelet had
 * not noticed yet (trap 7). Where that clock is doubted something came late, and a late log is more likely than a clock
 * that was set; of one that certainly was, stamps show no order.
 */
function endedBeforeDue({ wasSet, facts: { terminated }, killings, hook, turn, graceEnd }: Ending): boolean {
  const ended = parseFloor(terminated?.value.finishedAt);
  if (!ended || wasSet) return false;
  const dues = [
    killings[0]?.time.lo ?? -Infinity,
    hook?.kind === 'sleep' ? hook.end.node.lo : -Infinity,
    turn ? Math.min(turn.node.lo, graceEnd.node.lo) : -Infinity,
  ];
  return dues.some((due) => ended.lo < due && ended.hi <= due);
}

/** A sidecar that died of a signal which is no stop signal, perhaps while it waited for its turn: then none came. */
function mayHaveCrashed({ facts: { terminated }, turn, outcome, ended, graceEnd }: Ending): boolean {
  if (!turn || outcome !== 'failed') return false;
  const bySignal = terminated !== undefined && terminated.value.exitCode > 128;
  return bySignal && ended !== undefined && !isBefore(turn, ended) && !isBefore(graceEnd, ended);
}

/**
 * A sleep, and the wait for a turn, go on when their container has ended by itself: then no signal came (SIGNALS.md §2 S6,
 * S7). Few end just then, and most that are asked to end do so at once: so it is doubted only where nearly all of the time
 * that the exit may have been at lies before; of one that has ended by itself before, where any of it does. A code of a signal
 * shows that one came.
 */
function mayHaveEndedWaiting({ hook, turn, exit, outcome, graceEnd, restarts }: Ending): boolean {
  if (!exit || outcome === 'killed' || outcome === 'signalled') return false;
  // A turn comes with the end of the grace at the latest (stop-signal.ts).
  const due = turn && earlierOf(turn.client, graceEnd.client);
  const waits = [...(hook?.kind === 'sleep' ? [hook.end.client] : []), ...(due ? [due] : [])];
  const { lo, hi } = exit.at.client;
  return waits.some((end) => (restarts > 0 ? lo < end.hi : end.lo - lo > mostBefore * (hi - lo)));
}

/** Of the width of an exit. */
const mostBefore = 0.75;
