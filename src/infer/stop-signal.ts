/** The stop signal (SIGNALS.md §2 S6 to S8, §5): after hook and turn, before the exit, and never reported by the API. */
import { millisecondsOf } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { atMost, second } from '../model/span.ts';
import type { ContainerFacts } from '../model/trace.ts';
import { isKilledAtOnce, namesOwnSignal } from './acknowledged.ts';
import type { HookFacts } from './container.ts';
import type { Estimate } from './estimate.ts';
import { graceSpan } from './grace.ts';
import type { InferContext } from './context.ts';
import { isInTime, mayHaveRetried } from './stop-attempts.ts';
import { moment } from './stage.ts';
import type { Stop } from './stop.ts';
import { sinceOf } from './stop.ts';

/** What the signal's moment depends on. */
export interface StopAsked extends Stop {
  readonly turn: Estimate | undefined;
  /** The stop signal, where its status names one. */
  readonly named: string | undefined;
  /** How often it had ended before. */
  readonly restarts: number;
}

export interface Call {
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
  stop: StopAsked,
  hook: HookFacts | undefined,
): Call | undefined {
  const { stage, kubelet } = context;
  const { ended, lag, turn, began, killings } = stop;
  const at = moment('stop-signal', spec.name);
  const ready = moment(hook ? 'hook-end' : 'began', spec.name);
  const own = stage.read(ready);
  const grace = graceSpan(kubelet);
  const due = turn ? waited(own, turn, began, grace) : own;
  const isPrompt = !hook && !turn && isKilledAtOnce(context, facts, ended);
  const leansOnAcknowledgement = isPrompt && isInTime(context, stop);
  const isOpen = !leansOnAcknowledgement && mayHaveRetried(context, stop, due);
  const wait = millisecondsOf(lag) + (leansOnAcknowledgement ? millisecondsOf('kill-at-once') : 0);
  const max = isOpen || turn ? Infinity : wait;
  const isLaterAttempt = isOpen && hook?.failure !== undefined && killings.length !== 1;
  const callAt = isLaterAttempt ? moment('began', spec.name) : ready;
  stage.follows(callAt, at, { max }, { because: isOpen || turn ? 'the signal follows the hook (§2 S8)' : lag });
  if (turn) {
    const latest = isOpen ? Infinity : millisecondsOf(lag);
    const lo = isLaterAttempt ? { client: -Infinity, node: -Infinity } : { client: due.client.lo, node: due.node.lo };
    const limits = {
      client: { lo: lo.client, hi: due.client.hi + latest },
      node: { lo: lo.node, hi: due.node.hi + latest },
    };
    stage.within(at, limits, { because: 'a sidecar waits for its turn (§2 S7)', evidence: turn.evidence });
  }
  const since = isLaterAttempt ? stage.read(callAt) : turn ? due : own;
  const line = signalLine(context, facts, stop, { hook, since });
  const isPossible = ended ? context.stage.notAfter(at, ended) : true;
  if (line)
    stage.within(
      at,
      { client: atMost(line.at + 1), node: atMost(line.value) },
      { because: 'a log line names the signal (§5)', evidence: [line.seq] },
    );
  return Number.isFinite(stage.read(at).client.hi)
    ? { proved: line !== undefined, isPossible, leansOnAcknowledgement }
    : undefined;
}

/** The later of the two, but the turn ends with the grace at the latest. */
function waited(own: Estimate, turn: Estimate, began: Estimate, grace: { lo: number; hi: number }): Estimate {
  const later = (axis: 'client' | 'node') => ({
    lo: Math.max(own[axis].lo, Math.min(turn[axis].lo, began[axis].lo + grace.lo)),
    hi: Math.max(own[axis].hi, Math.min(turn[axis].hi, began[axis].hi + grace.hi + second)),
  });
  return { client: later('client'), node: later('node'), basis: 'inferred', evidence: turn.evidence };
}

/**
 * The first line that names the signal, of those that cannot be older than the call. It is an upper bound unless a
 * hook that still ran may have sent a signal of its own (`kill -TERM 1`). A sidecar's may repeat what another container
 * wrote (`tail -F app.log`), as long as one that it waits for may have been there (SIGNALS.md §2 S7).
 */
function signalLine(
  context: InferContext,
  facts: ContainerFacts,
  stop: StopAsked,
  { hook, since }: { hook: HookFacts | undefined; since: Estimate },
) {
  const { began, turn } = stop;
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(since.node.lo, sinceOf(context, stop), turn?.node.hi ?? -Infinity);
  // What an application writes of signals anyway, before one can have come, proves nothing when it writes it again.
  const possible = hook?.inert ? Math.max(since.node.lo, began.node.lo) : began.node.lo;
  const from = Math.max(possible, context.stage.read('accepted').node.lo);
  if (facts.log.signalLines.some((line) => line.value < from)) return undefined;
  return facts.log.signalLines.find(
    (line) => line.value >= earliest || (!hook && !turn && namesOwnSignal(context, facts, line)),
  );
}
