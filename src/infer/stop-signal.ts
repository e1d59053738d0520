/** The stop signal (SIGNALS.md §2 S6 to S8, §5): after hook and turn, before the exit, and never told by the API. */
import type { AssumptionName } from '../model/assumptions.ts';
import { millisecondsOf } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import type { Span } from '../model/span.ts';
import { atMost, second } from '../model/span.ts';
import type { ContainerFacts, Occurrence } from '../model/trace.ts';
import { sinceOf } from './began.ts';
import type { Estimate } from './estimate.ts';
import { cite, crossed, moved, narrowed, notAfter, notBefore, onNode } from './estimate.ts';
import { graceSpan } from './grace.ts';
import type { ExitFacts } from './exit.ts';
import type { HookFacts } from './hook.ts';
import type { Kubelet } from './kubelet.ts';
import { isRoundOpen } from './rounds.ts';
import type { Scene } from './scene.ts';
import { nameOfSignal } from './signals.ts';

export interface SignalFacts extends Estimate {
  readonly name?: string;
  /** A line of the application names it: it was sent, whatever becomes of the kill. */
  readonly proved: boolean;
}

type Unnamed = Estimate & { readonly proved: boolean };

interface SignalInputs {
  began: Estimate;
  killings: readonly Occurrence[];
  hook: HookFacts | undefined;
  turn: Estimate | undefined;
  ended: Estimate | undefined;
  facts: ContainerFacts;
  lag: AssumptionName;
}

/** Between the end of hook and turn, plus the runtime's lag, and the exit. */
export function signalOf(scene: Scene, inputs: SignalInputs): Unnamed | undefined {
  const { began, hook, turn, ended, lag } = inputs;
  const { kubelet } = scene;
  const ready = turn ? waited(hook?.end ?? began, turn, moved(began, graceSpan(kubelet))) : (hook?.end ?? began);
  const call = isRoundOpen(scene, inputs, ready) ? notBefore(firstRound(ready, inputs)) : ready;
  const sent = { ...moved(call, { lo: 0, hi: millisecondsOf(lag) }), basis: 'inferred' as const };
  const bounded = ended ? narrowed(sent, notAfter(ended)) : sent;
  const line = signalLine(scene, inputs, call);
  const told = line
    ? narrowed(bounded, { ...onNode(atMost(line.value), [line.seq]), client: atMost(line.at + 1) })
    : bounded;
  const known = crossed(told, kubelet.clock);
  return Number.isFinite(known.client.hi) ? { ...known, proved: line !== undefined } : undefined;
}

/** The later of the two, but the turn ends with the grace at the latest. */
function waited(own: Estimate, turn: Estimate, graceEnd: Estimate): Estimate {
  const later = (a: Span, b: Span, end: Span): Span => ({
    lo: Math.max(a.lo, Math.min(b.lo, end.lo)),
    hi: Math.max(a.hi, Math.min(b.hi, end.hi + second)),
  });
  return {
    client: later(own.client, turn.client, graceEnd.client),
    node: later(own.node, turn.node, graceEnd.node),
    basis: 'inferred',
    evidence: cite(own.evidence, turn.evidence),
  };
}

/** A hook that failed in a later round says nothing of the signal, which may have been sent in the first. */
const firstRound = (ready: Estimate, { began, hook, killings }: SignalInputs): Estimate =>
  hook?.failure && killings.length !== 1 ? began : ready;

/**
 * The first line that names the signal, of those that cannot be older than the call. It is an upper bound unless a
 * hook that still ran may have sent a signal of its own (`kill -TERM 1`). A sidecar's may repeat what another container
 * wrote (`tail -F app.log`), as long as one that it waits for may have been there (SIGNALS.md §2 S7).
 */
function signalLine(scene: Scene, { began, facts, hook, killings, turn }: SignalInputs, call: Estimate) {
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(call.node.lo, sinceOf(scene, began, killings), turn?.node.hi ?? -Infinity);
  // What an application writes of signals anyway, before one can have come, proves nothing when it writes it again.
  const possible = hook?.inert ? Math.max(call.node.lo, began.node.lo) : began.node.lo;
  const since = Math.max(possible, crossed(scene.deletion.accepted, scene.kubelet.clock).node.lo);
  if (facts.log.signalLines.some((line) => line.value < since)) return undefined;
  return facts.log.signalLines.find((line) => line.value >= earliest);
}

export function withName(
  spec: ContainerSpec,
  told: string | undefined,
  signal: Unnamed,
  exit: ExitFacts | undefined,
  kubelet: Kubelet,
): SignalFacts {
  const name = nameOfSignal(told ?? spec.container.lifecycle?.stopSignal);
  // What is proved needs no end that may yet be taken back.
  const counts = exit !== undefined && !(exit.provisional && signal.proved);
  const bounded = counts ? crossed(narrowed(signal, notAfter(exit.at)), kubelet.clock) : signal;
  return { ...bounded, proved: signal.proved, ...(name === undefined ? {} : { name }) };
}
