/**
 * One container's exit: stopping, preStop, stop signal, kill, exit. The API says none of the signals; each rule cites
 * where it comes from (SIGNALS.md §2 S5–S9, §5). Order of the argument: what is known of the exit, when the kubelet
 * began (K), how long the hook took, then the signal between hook and exit, then the kill at the end of grace.
 */
import type { AssumptionName } from '../assumptions.ts';
import { driftOver, logStampLagMs, millisecondsOf, signalLag } from '../assumptions.ts';
import type { ContainerSpec } from '../pod.ts';
import { isRunning, runtimeOf, statusesOf } from '../pod.ts';
import type { ContainerOutcome } from '../report.ts';
import type { Span } from '../span.ts';
import { atLeast, atMost } from '../span.ts';
import { parseFloor } from '../stamps.ts';
import type { ContainerFacts, Occurrence, Trace } from '../trace.ts';
import { noContainerFacts } from '../trace.ts';
import type { Deletion } from './deletion.ts';
import type { Estimate } from './estimate.ts';
import { cite, crossed, isBefore, moved, narrowed, notAfter, notBefore, onClient, onNode } from './estimate.ts';
import type { HookFacts } from './hook.ts';
import { hookFacts } from './hook.ts';
import type { Kubelet } from './kubelet.ts';
import { nameOfSignal, numberOfSignal } from './signals.ts';

const second = 1000;
/** SIGNALS.md §2 S8: minimumGracePeriodInSeconds. */
const minimumGrace = 2;

/** What a container's inference needs of its surroundings. */
export interface Scene {
  readonly trace: Trace;
  readonly deletion: Deletion;
  readonly kubelet: Kubelet;
}

export interface ContainerExit {
  readonly spec: ContainerSpec;
  readonly facts: ContainerFacts;
  /** It ran when the deletion came, or the kubelet stopped it. */
  readonly ran: boolean;
  readonly outcome: ContainerOutcome;
  readonly killings: readonly Occurrence[];
  /** The kubelet began to stop it: K. Absent where no Killing told. */
  readonly stopping?: Estimate;
  readonly hook?: HookFacts;
  readonly signal?: Estimate & { name?: string };
  readonly kill?: Estimate;
  readonly exit?: { at: Estimate; code?: number; reason?: string; provisional: boolean };
  /** The end of the grace as the kubelet counts it: K + grace. */
  readonly graceEnd?: Estimate;
  /** Assumptions that an instant leans on. */
  readonly assumes: readonly AssumptionName[];
}

/** `turn`: for a sidecar, when the containers it waits for had gone (SIGNALS.md §2 S7). */
export function containerExit(scene: Scene, spec: ContainerSpec, turn?: Estimate): ContainerExit {
  const { trace, deletion, kubelet } = scene;
  const facts = trace.containers.get(spec.name) ?? noContainerFacts;
  const killings = kubelet.killings.get(spec.name) ?? [];
  const before = statusesOf(deletion.facts.first.value).find((status) => status.name === spec.name);
  // Whatever a status still says, nothing runs in a pod that has Succeeded.
  const over = deletion.facts.first.value.status.phase === 'Succeeded';
  const ran = (isRunning(before?.state) && !over) || killings.length > 0;
  const base = { spec, facts, ran, killings, assumes: [] };
  if (!ran) return { ...base, outcome: 'not-running' };

  const stopping = stoppingOf(scene, killings);
  const began = beganAt(scene, stopping, killings);
  const ended = endOf(scene, spec, facts);
  // The API had not heard yet that it was over.
  if (killings.length === 0 && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  const lag = signalLag(deletion.facts.first.value.spec.runtimeClassName, runtimeOf(deletion.facts.first.value));
  const hook = hookFacts(scene, spec, { began, killings, ended, lag });
  const first = signalOf(scene, spec, { began, killings, hook, turn, ended, facts, lag });
  const graceEnd = crossed(moved(began, graceSpan(kubelet)), kubelet.clock);
  const outcome = outcomeOf(scene, facts, spec, { began, ended });
  const kill = outcome === 'killed' && ended ? killOf(scene, began, ended) : undefined;
  const sure = kill && ended && (surelyAfter(ended, kill) || !showedLife(trace, spec, facts, began)) ? kill : undefined;
  const hooked = hook !== undefined || spec.kind === 'sidecar';
  const exit = exitOf(scene, { ended, signal: first, kill: sure, facts, outcome, killings, began, lag, hooked });
  const whole = sure && !hook && spec.kind !== 'sidecar' && killings.length === 1;
  const timed = first && kill && exit && whole ? beforeKill(scene, first, exit.at) : first;
  const signal =
    timed && !(exit && isBefore(exit.at, timed))
      ? withName(spec, before?.stopSignal, timed, exit?.at, kubelet)
      : undefined;
  return {
    ...base,
    outcome,
    ...(stopping ? { stopping } : {}),
    ...(hook ? { hook: signal ? beforeSignal(hook, signal) : hook } : {}),
    ...(signal ? { signal } : {}),
    ...(kill ? { kill } : {}),
    ...(exit ? { exit } : {}),
    ...(stopping ? { graceEnd } : {}),
    assumes: [...(signal ? [lag] : []), ...(facts.log.lastLine && exit ? ['log-stamp-lag' as const] : [])],
  };
}

/**
 * When the kubelet began with it: K, unless the kubelet had started anew by then and took the Events of a first round
 * with it. Without any Killing, when the kubelet was first seen to know.
 */
function beganAt(
  { trace, deletion, kubelet }: Scene,
  stopping: Estimate | undefined,
  killings: readonly Occurrence[],
): Estimate {
  const [first] = killings;
  const began = stopping ?? kubelet.noticed ?? notBefore(deletion.accepted);
  const anew = trace.events.some(
    (event) => isStart(event) && !event.isOld && (!first || event.time.lo <= first.time.hi),
  );
  if (!anew) return began;
  return {
    ...began,
    client: { lo: deletion.accepted.client.lo, hi: began.client.hi },
    node: { lo: -Infinity, hi: began.node.hi },
  };
}

/** The signal follows the hook (SIGNALS.md §2 S6, S8). */
function beforeSignal(hook: HookFacts, signal: Estimate): HookFacts {
  return isBefore(signal, hook.end) ? hook : { ...hook, end: narrowed(hook.end, notAfter(signal)) };
}

/** K: the Event's own nanoseconds; a repeated Event only tells the second of its last occurrence (trap 19). */
function stoppingOf({ deletion, kubelet }: Scene, killings: readonly Occurrence[]): Estimate | undefined {
  const [first] = killings;
  if (!first) return undefined;
  const stamp = onNode(first.time, [first.seq], first.time.lo === first.time.hi ? 'observed' : 'inferred');
  const told = onClient({ lo: deletion.accepted.client.lo, hi: first.at + 1 }, deletion.accepted.evidence);
  return crossed(narrowed(stamp, told), kubelet.clock);
}

/** The status that ends it: [finishedAt, + 1 s) on the node's clock, and it had arrived. */
function endOf({ kubelet }: Scene, spec: ContainerSpec, facts: ContainerFacts): Estimate | undefined {
  const fact = facts.terminated;
  const finished = parseFloor(fact?.value.finishedAt);
  if (!fact || !finished || isMadeUp(fact.value.reason, fact.value.exitCode)) return undefined;
  const stamped = narrowed(onNode(finished, [fact.seq]), onClient(atMost(fact.at + 1), [fact.seq]));
  return crossed(withLastLine(stamped, facts), kubelet.clock);
}

/** It still ran when it wrote its last line; the stamp may be a little late. Only lines of the same run count. */
function withLastLine(ended: Estimate, facts: ContainerFacts): Estimate {
  const line = facts.log.lastLine;
  if (!line || line.value - logStampLagMs > ended.node.hi) return ended;
  return narrowed(ended, onNode(atLeast(line.value - logStampLagMs), [line.seq]));
}

/** 137 ContainerStatusUnknown is made up by the kubelet (trap 24); 255 Unknown is a runtime that lost the status (§5). */
const isMadeUp = (reason: string | undefined, code: number): boolean =>
  reason === 'ContainerStatusUnknown' || (reason === 'Unknown' && code === 255);

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
function signalOf(scene: Scene, spec: ContainerSpec, inputs: SignalInputs): Estimate | undefined {
  const { began, hook, turn, ended, lag } = inputs;
  const { kubelet } = scene;
  const ready = turn ? waited(hook?.end ?? began, turn, moved(began, graceSpan(kubelet))) : (hook?.end ?? began);
  const call = isRoundOpen(scene, inputs, ready) ? notBefore(firstRound(ready, inputs)) : ready;
  const sent = { ...moved(call, { lo: 0, hi: millisecondsOf(lag) }), basis: 'inferred' as const };
  const bounded = ended ? narrowed(sent, notAfter(ended)) : sent;
  const line = signalLine(inputs, call);
  const told = line ? narrowed(bounded, onNode(atMost(line.value), [line.seq])) : bounded;
  const known = crossed(told, kubelet.clock);
  return Number.isFinite(known.client.hi) ? known : undefined;
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
  hook?.failure && (killings.length !== 1 || hook.failure.time.lo > (killings[1]?.time.lo ?? Infinity)) ? began : ready;

/**
 * The kubelet did not keep time: a kill failed, the kubelet started anew, or the container outlived every deadline.
 * Everything begins again then, with a signal only if none was sent before (trap 36), and nothing but the exit or a
 * line that names the signal bounds it from above.
 */
function isRoundOpen(
  { trace, kubelet }: Scene,
  { killings, ended, began, lag }: SignalInputs,
  ready: Estimate,
): boolean {
  const last = killings.at(-1);
  const since = killings[0]?.time.lo ?? began.node.lo;
  const again =
    killings.length > 1 ||
    trace.events.some((event) => isNewRound(event) && event.time.hi >= since) ||
    trace.nodeReady.some(
      (ready, index) => index > 0 && ready.value !== 'True' && ready.at >= (killings[0]?.at ?? -Infinity),
    );
  const late = killings.length < 2 && ended !== undefined && outlived(kubelet, began, ended, lag);
  // Without any Killing seen, rounds that failed would not have been seen either.
  // Of an Event that was repeated before, only its last time is known.
  const repeated = (killings[0]?.count ?? 1) > 2;
  return again || late || repeated || last === undefined || !Number.isFinite(ready.client.hi);
}

/** It lived past hook, minimum grace and kill: whoever had to keep the time did not. */
export function outlived(kubelet: Kubelet, began: Estimate, ended: Estimate, lag: AssumptionName): boolean {
  const deadline = (Math.max(minimumGrace, kubelet.grace.max) + minimumGrace + 1) * second + millisecondsOf(lag);
  return isBefore(moved(began, { lo: 0, hi: deadline }), ended);
}

const isStart = (event: Occurrence): boolean =>
  event.reason === 'Starting' && event.about.kind === 'Node' && event.component === 'kubelet';

const isNewRound = (event: Occurrence): boolean => event.reason === 'FailedKillPod' || isStart(event);

/**
 * The first line that names the signal, of those that cannot be older than the call. It is an upper bound unless a
 * hook that still ran may have sent a signal of its own (`kill -TERM 1`).
 */
function signalLine({ facts, hook, killings }: SignalInputs, call: Estimate) {
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(call.node.lo, killings[0]?.time.lo ?? -Infinity);
  return facts.log.signalLines.find((line) => line.value >= earliest);
}

/** The runtime waits its timeout after the signal; K + max(2, grace) is never late for it (SIGNALS.md §2 S8, §5). */
function killOf({ kubelet }: Scene, began: Estimate, ended: Estimate): Estimate {
  const timeout = Math.max(minimumGrace, kubelet.grace.min) * second;
  const earliest = notBefore(moved(began, { lo: timeout - driftOver(timeout), hi: timeout }));
  const { evidence, ...rest } = earliest;
  return crossed({ ...narrowed({ ...rest, evidence }, notAfter(ended)), basis: 'inferred' }, kubelet.clock);
}

/**
 * finishedAt is a whole second, and in the second in which the grace ends a 137 may still be the application's own. One
 * that gave no sign of life after its signal did not exit by itself just then.
 */
function showedLife(trace: Trace, spec: ContainerSpec, facts: ContainerFacts, began: Estimate): boolean {
  const spoke = facts.log.lastLine !== undefined && facts.log.lastLine.value > began.node.lo;
  const failed = trace.events.some(
    (event) => event.reason === 'Unhealthy' && event.about.container === spec.name && event.time.hi > began.node.hi,
  );
  return spoke || failed || facts.readyLost !== undefined;
}

const surelyAfter = (ended: Estimate, kill: Estimate): boolean =>
  ended.node.lo >= kill.node.lo || ended.client.lo >= kill.client.lo;

/**
 * Without a hook or a turn the kill came the whole grace after the signal, so the signal was no later than that before
 * the exit. With one, a late 137 may also be the application's own, and proves nothing of the signal.
 */
function beforeKill({ kubelet }: Scene, signal: Estimate, exit: Estimate): Estimate {
  const timeout = Math.max(minimumGrace, kubelet.grace.min) * second;
  const latest = moved(exit, { lo: -timeout, hi: driftOver(timeout) - timeout });
  return crossed(narrowed(signal, notAfter(latest)), kubelet.clock);
}

interface ExitInputs {
  ended: Estimate | undefined;
  signal: Estimate | undefined;
  /** The kill, where it certainly was one. */
  kill: Estimate | undefined;
  facts: ContainerFacts;
  outcome: ContainerOutcome;
  killings: readonly Occurrence[];
  began: Estimate;
  lag: AssumptionName;
  /** A hook or a turn may have eaten the grace before the signal. */
  hooked: boolean;
}

function exitOf({ kubelet, trace }: Scene, inputs: ExitInputs): ContainerExit['exit'] {
  const { ended, signal, kill, facts, outcome } = inputs;
  if (ended && facts.terminated) {
    const bySignal = signal && (outcome === 'signalled' || outcome === 'killed');
    const after = [...(kill ? [kill] : []), ...(bySignal ? [signal] : [])];
    const at = after.reduce((next, one) => narrowed(next, notBefore(one)), ended);
    const { exitCode: code, reason } = facts.terminated.value;
    return { at: crossed(at, kubelet.clock), code, ...(reason === undefined ? {} : { reason }), provisional: false };
  }
  const provisional = logEndOf(inputs, kubelet, trace);
  return provisional && { at: provisional, provisional: true };
}

/**
 * The kubelet ends a log within about a second of the container's exit (SIGNALS.md §5), long before any status. It may
 * also be a broken connection or the kubelet's own end, so it counts only until something speaks against it.
 */
function logEndOf(
  { facts, signal, killings, began, lag, hooked }: ExitInputs,
  kubelet: Kubelet,
  trace: Trace,
): Estimate | undefined {
  const end = facts.log.ended;
  if (!end?.value.clean || !signal || end.at + 1 < signal.client.lo || facts.terminated) return undefined;
  const doubted =
    killings.some((one) => one.at > end.at) ||
    trace.events.some((one) => isStart(one) && one.at > end.at) ||
    trace.nodeReady.some((one) => one.value !== 'True' && one.at >= end.at);
  if (doubted) return undefined;
  const told = crossed(
    narrowed(withLastLine(onClient(atMost(end.at + 1), [end.seq]), facts), notBefore(signal)),
    kubelet.clock,
  );
  const known = trace.gone ? orKilled(told, began, kubelet, lag, hooked) : told;
  return Number.isFinite(known.client.hi) ? known : undefined;
}

/** No status will ever confirm it: if the log ended for another reason, the kill at the end of grace did the rest. */
function orKilled(told: Estimate, began: Estimate, kubelet: Kubelet, lag: AssumptionName, hooked: boolean): Estimate {
  const wait = hooked ? kubelet.grace.max + minimumGrace : Math.max(minimumGrace, kubelet.grace.max);
  const longest = wait * second + millisecondsOf(lag);
  const latest = moved(began, { lo: 0, hi: longest });
  return {
    ...told,
    client: { lo: told.client.lo, hi: Math.max(told.client.hi, latest.client.hi) },
    node: { lo: told.node.lo, hi: Math.max(told.node.hi, latest.node.hi) },
  };
}

function outcomeOf(
  { trace, deletion, kubelet }: Scene,
  facts: ContainerFacts,
  spec: ContainerSpec,
  { began, ended }: { began: Estimate; ended: Estimate | undefined },
): ContainerOutcome {
  const { value: end } = facts.terminated ?? {};
  if (!end || !ended)
    return !end && trace.gone?.value === 'deleted' && lastSeenRunning(trace, spec) ? 'abandoned' : 'unknown';
  if (end.exitCode === 0) return 'completed';
  if (end.reason === 'OOMKilled' && end.exitCode === 137) return 'oom';
  const own = numberOfSignal(stopSignalOf(trace, spec));
  if (
    own !== undefined ? end.exitCode === 128 + own : end.exitCode >= 129 && end.exitCode <= 143 && end.exitCode !== 137
  )
    return 'signalled';
  if (end.exitCode === 137 && fitsOlderKill(trace, deletion, spec, ended)) return 'unknown';
  return end.exitCode === 137 && outlivedGrace(began, ended, kubelet) ? 'killed' : 'failed';
}

/** A kill for another reason (a liveness probe) was under way when the deletion came, and its grace ended then. */
function fitsOlderKill(trace: Trace, deletion: Deletion, spec: ContainerSpec, ended: Estimate): boolean {
  const grace = deletion.facts.first.value.spec.terminationGracePeriodSeconds ?? deletion.grace;
  const timeout = Math.max(minimumGrace, grace) * second;
  return trace.events.some(
    ({ reason, about, message, time, at }) =>
      reason === 'Killing' &&
      about.kind === 'Pod' &&
      about.container === spec.name &&
      !message.startsWith('Stopping container ') &&
      at <= deletion.facts.seenAt + millisecondsOf('delivery-lag') &&
      ended.node.hi >= time.lo + timeout - driftOver(timeout) &&
      ended.node.lo <= time.hi + timeout + minimumGrace * second,
  );
}

const lastSeenRunning = (trace: Trace, spec: ContainerSpec): boolean =>
  trace.pod !== undefined &&
  statusesOf(trace.pod.value).some((status) => status.name === spec.name && isRunning(status.state));

/** 137 before K + max(2, grace) is the application's own, or somebody else's SIGKILL (SIGNALS.md §5 "Exit codes"). */
function outlivedGrace(began: Estimate, ended: Estimate, kubelet: Kubelet): boolean {
  const timeout = Math.max(minimumGrace, kubelet.grace.min) * second;
  const earliest = timeout - driftOver(timeout);
  return ended.node.hi >= began.node.lo + earliest && ended.client.hi >= began.client.lo + earliest;
}

const graceSpan = (kubelet: Kubelet): Span => ({
  lo: kubelet.grace.min * second - driftOver(kubelet.grace.min * second),
  hi: kubelet.grace.max * second + driftOver(kubelet.grace.max * second),
});

function stopSignalOf(trace: Trace, spec: ContainerSpec): string | undefined {
  const status = statusesOf(
    trace.pod?.value ?? { kind: 'Pod', metadata: { name: '', uid: '' }, spec: { containers: [] }, status: {} },
  );
  return status.find((one) => one.name === spec.name)?.stopSignal ?? spec.container.lifecycle?.stopSignal;
}

function withName(
  spec: ContainerSpec,
  told: string | undefined,
  signal: Estimate,
  exit: Estimate | undefined,
  kubelet: Kubelet,
) {
  const name = nameOfSignal(told ?? spec.container.lifecycle?.stopSignal);
  const bounded = exit ? crossed(narrowed(signal, notAfter(exit)), kubelet.clock) : signal;
  return { ...bounded, ...(name === undefined ? {} : { name }) };
}
