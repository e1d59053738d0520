/**
 * One container's exit: stopping, preStop, stop signal, kill, exit. The API says none of the signals; each row cites
 * where it comes from (SIGNALS.md §2 S5–S9, §5). Order of the argument: what is known of the exit, when the kubelet
 * began (K), how long the hook took, then the signal between hook and exit, then the kill at the end of grace.
 */
import { driftOver, millisecondsOf, signalLag } from '../../model/assumptions.ts';
import type { ContainerSpec } from '../../model/pod.ts';
import { isRunning, runtimeOf, statusesOf } from '../../model/pod.ts';
import { atLeast, atMost, second } from '../../model/span.ts';
import type { ContainerFacts, Occurrence } from '../../model/trace.ts';
import { heardSince } from '../arrival.ts';
import type { ContainerExit } from '../container.ts';
import { outcomeOf, wasStoppedAsStatic } from '../container-outcome.ts';
import { isDoubtfulKill } from '../doubtful-kill.ts';
import type { Estimate } from '../estimate.ts';
import { isBefore } from '../estimate.ts';
import type { ExitFacts } from '../exit.ts';
import { logEndThatTells } from '../exit.ts';
import { mayHaveGone } from '../gone-before.ts';
import { graceSpan, longestStop, minimumGrace, shortestStop } from '../grace.ts';
import type { HookFacts } from '../hook.ts';
import { mayBeStopped } from '../own-doing.ts';
import { ranUntilEnd, wasStartedLate } from '../ran.ts';
import { isRoundOpen } from '../rounds.ts';
import { nameOfSignal } from '../signals.ts';
import { factsOfLastRun, mayRunUntold } from '../started-untold.ts';
import { isUntellable } from '../tellable.ts';
import { hookFacts } from './hook.ts';
import type { NetScene } from './kubelet.ts';
import { isMadeUp } from './kubelet.ts';
import { moment } from './stage.ts';
import type { Stop } from './stop.ts';
import { sinceOf, stateBegan, stateCounted, wasStopped } from './stop.ts';

/**
 * `turn`: for a sidecar, when the containers it waits for had gone (SIGNALS.md §2 S7); `mainsOver`: none of the main ones
 * ran when the deletion came.
 */
export function containerExit(
  scene: NetScene,
  spec: ContainerSpec,
  { turn, mainsOver }: { turn: Estimate | undefined; mainsOver: boolean },
): ContainerExit {
  const { deletion, kubelet, stage } = scene;
  const { name } = spec;
  const facts = factsOfLastRun(scene, spec);
  const killings = kubelet.killings.get(name) ?? [];
  const pod = deletion.facts.first.value;
  const before = statusesOf(pod).find((status) => status.name === name);
  // Whatever a status still says, nothing runs in a pod that has Succeeded.
  const over = pod.status.phase === 'Succeeded';
  const { terminated } = facts;
  const isTold = terminated?.value.finishedAt !== undefined && !isMadeUp(terminated.value.reason, terminated.value.exitCode);
  const ended = isTold && stage.net.has(moment('exit', name)) ? stage.read(moment('exit', name)) : undefined;
  const startedLate = wasStartedLate(scene, spec, facts);
  const runs = (isRunning(before?.state) && !over) || killings.length > 0 || startedLate || mayRunUntold(scene, spec);
  const ran = runs || ranUntilEnd(scene, spec, { status: before, ended });
  const base = { spec, facts, ran: ran !== false, killings, settled: false, assumes: [] };
  const lag = signalLag(pod.spec.runtimeClassName, runtimeOf(pod));
  const isStatic = wasStoppedAsStatic(scene, spec);
  if (!ran && !isStatic) return { ...base, outcome: 'not-running' };
  const isKnown = killings.length > 0;
  // The API had not heard yet that it was over.
  if (!isKnown && !isStatic && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  // That the kubelet knew by then does not say that it began with what it was still about to start.
  const start = stateBegan(scene, name, killings, !startedLate);
  const stop: Stop = { ...start, killings, ended, lag };
  const stopping = isKnown ? stoppingOf(scene, spec, killings) : undefined;
  const known = { ...base, ...(stopping ? { stopping } : {}) };
  if (isStatic) return { ...base, ran: true, ...stoppedBefore(scene, base, stop) };
  if (ran === 'perhaps') return { ...known, ...stoppedBefore(scene, base, stop), outcome: 'unknown', mayBeOlder: true };
  if (mayBeStopped(scene, spec, mainsOver)) return { ...known, ...stoppedBefore(scene, base, stop) };
  const asked = { ...stop, turn, named: before?.stopSignal, restarts: before?.restartCount ?? 0 };
  // That it had a signal at all is often only likely: what follows of that must not date anything else.
  const { exit } = stage.suppose(() => stopped(scene, known, asked));
  return { ...known, ...exit };
}

/** Its basis: the Event's own nanoseconds were seen, of a repeated one only the second. */
const stoppingOf = ({ stage }: NetScene, { name }: ContainerSpec, [first]: readonly Occurrence[]): Estimate =>
  stage.read(moment('stopping', name), first && first.time.lo === first.time.hi ? 'observed' : 'inferred');

type Known = Pick<ContainerExit, 'spec' | 'facts' | 'killings' | 'stopping'>;

interface StopAsked extends Stop {
  readonly turn: Estimate | undefined;
  /** The stop signal, where its status names one. */
  readonly named: string | undefined;
  /** How often it had ended before. */
  readonly restarts: number;
}

/** It ran, and the kubelet began with it because of the deletion. */
function stopped(
  scene: NetScene,
  { spec, facts, killings, stopping }: Known,
  stop: StopAsked,
): { exit: Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'>; stays: boolean } {
  const { kubelet, stage } = scene;
  const { name } = spec;
  const { ended, lag, turn, named, restarts } = stop;
  const counted = stateCounted(scene, name, stop, facts.terminated?.value.exitCode);
  const graceEnd = stage.read(`grace-end/${name}`);
  const asked = endedUnawares(scene, facts, killings) ? undefined : hookFacts(scene, spec, stop);
  const call = stateSignal(scene, spec, facts, stop, asked);
  const since = stateKillSince(scene, spec, call !== undefined);
  const isLate = ended !== undefined && isSurelyAfterGrace(scene, spec, call !== undefined);
  const isDoubtful = isDoubtfulKill(scene, facts, { ...stop, since, isLate });
  const seeming = outcomeOf(scene, facts, spec, { killSince: since, ended, isDoubtful });
  const isTouched =
    call?.proved === true ||
    seeming === 'killed' ||
    wasStopped(scene, { killings, ended, failed: asked?.failure !== undefined });
  // Where no Killing can be heard of, the code is the best that is known; elsewhere its absence tells.
  const isPassedOver = !isTouched && !isUntellable(scene.trace, ended);
  const outcome = seeming === 'signalled' && isPassedOver ? 'unknown' : seeming;
  const first = isTouched ? call : undefined;
  const hook = asked && !isTouched ? { ...asked, outcome: 'unknown' as const, doubted: true as const } : asked;
  const hooked = hook !== undefined || spec.kind === 'sidecar';
  const isKilled = outcome === 'killed' && ended !== undefined;
  const sure = isKilled && (isLate || isSilentKill(scene, spec, facts));
  if (sure) stateKill(scene, spec);
  const follows = first && (sure || (outcome === 'signalled' && isAtOnce(spec, hook)));
  const [signalAt, exitAt, killAt] = [moment('stop-signal', name), moment('exit', name), moment('kill', name)];
  if (follows) stage.follows(signalAt, exitAt, {}, { because: 'it ended by its signal or its kill (§5)' });
  if (first && sure && !hook && spec.kind !== 'sidecar' && killings.length === 1)
    stage.follows(signalAt, exitAt, { min: shortestStop(kubelet) - driftOver(shortestStop(kubelet)) }, { because: 'the kill came the grace after the signal (§2 S9)' });
  const exit = exitOf(scene, spec, facts, { ...stop, hooked, called: first !== undefined });
  const timed = first && { ...stage.read(signalAt), proved: first.proved };
  const ending = { clock: kubelet.clock, facts, killings, hook: hook && { ...hook, end: stage.read(moment('hook-end', name)) }, turn, exit, outcome, ended, graceEnd, restarts };
  const isSent = timed && first.isPossible && !(exit && isBefore(exit.at, timed)) && (timed.proved || !mayHaveGone(ending));
  if (isSent && exit && !(exit.provisional && timed.proved)) stateNotAfter(scene, signalAt, exit.at);
  const label = nameOfSignal(named ?? spec.container.lifecycle?.stopSignal);
  const signal = isSent ? { ...stage.read(signalAt), proved: timed.proved, ...(label === undefined ? {} : { name: label }) } : undefined;
  if (hook && signal && (hook.kind !== 'sleep' || follows === true || signal.proved) && !isBefore(signal, hook.end))
    stateNotAfter(scene, moment('hook-end', name), signal);
  const ending_ = {
    outcome,
    ...(hook ? { hook: { ...hook, end: stage.read(moment('hook-end', name), hook.end.basis) } } : {}),
    ...(signal ? { signal } : {}),
    ...(sure ? { kill: stage.read(killAt) } : {}),
    ...(isKilled && !sure ? { probable: true as const } : {}),
    ...(exit ? { exit } : {}),
    settled: exit !== undefined && !exit.provisional,
    ...(stopping ? { counted, graceEnd } : {}),
    ...(mayHaveOverrun(scene, { hook, exit, graceEnd }) ? { mayHaveOverrun: true as const } : {}),
    assumes: [
      ...(signal ? [lag] : []),
      ...(facts.log.lastLine && exit ? (['log-stamp-lag'] as const) : []),
      ...(sure && !isLate ? (['silent-kill'] as const) : []),
      ...(exit?.provisional && scene.trace.gone ? (['log-end'] as const) : []),
    ],
  };
  return { exit: ending_, stays: follows === true };
}

/** By either clock no later than what is known of another moment, which need not be its effect. */
const stateNotAfter = ({ stage }: NetScene, at: string, { client, node, evidence }: Estimate): boolean =>
  stage.within(at, { client: atMost(client.hi), node: atMost(node.hi) }, { because: 'no later than what followed', evidence });

/** Of a hook that perhaps never ran it counts only where no Event could have told of it. */
const mayHaveOverrun = (
  { trace }: NetScene,
  { hook, exit, graceEnd }: Pick<ContainerExit, 'hook' | 'exit'> & { graceEnd: Estimate },
): boolean =>
  hook?.outcome === 'unknown' &&
  !(hook.doubted && !isUntellable(trace, exit?.at)) &&
  !isBefore(hook.end, graceEnd) &&
  exit !== undefined &&
  !exit.provisional &&
  !isBefore(exit.at, graceEnd);

/** Its end was reported by a kubelet that did not know of the deletion yet: no hook runs in what has ended. */
const endedUnawares = ({ trace }: NetScene, { terminated }: ContainerFacts, killings: readonly Occurrence[]): boolean =>
  killings.length === 0 &&
  terminated !== undefined &&
  trace.acknowledged !== undefined &&
  terminated.seq < trace.acknowledged.seq;

/**
 * The kubelet may have begun with it before the deletion: hook and signal came at any time, the grace was another one, and
 * what ended it with 137 was the end of that grace, or something else.
 */
function stoppedBefore(
  scene: NetScene,
  { spec, facts }: Pick<ContainerExit, 'spec' | 'facts'>,
  stop: Stop,
): Pick<ContainerExit, 'outcome' | 'exit' | 'settled'> {
  const seeming = outcomeOf(scene, facts, spec, { killSince: stop.began, ended: stop.ended, isDoubtful: true });
  const isKilled = facts.terminated?.value.exitCode === 137;
  const exit = exitOf(scene, spec, facts, { ...stop, hooked: false, called: false });
  return {
    outcome: isKilled ? 'unknown' : seeming,
    ...(exit ? { exit } : {}),
    settled: exit !== undefined && !exit.provisional,
  };
}

/**
 * Nothing lies between K and its signal in which it may have ended by itself, with whatever code: no turn to wait for
 * (SIGNALS.md §2 S7), and no hook, which may itself have made it end (`kill -TERM 1`) or just go on without it.
 */
const isAtOnce = (spec: ContainerSpec, hook: HookFacts | undefined): boolean =>
  spec.kind !== 'sidecar' && hook === undefined;

interface Call {
  /** A line of the application names it: it was sent, whatever becomes of the kill. */
  readonly proved: boolean;
  /** It can have been sent before the container ended. */
  readonly isPossible: boolean;
}

/** States the stop signal: after hook and turn, plus the runtime's lag; undefined where nothing bounds it. */
function stateSignal(
  scene: NetScene,
  spec: ContainerSpec,
  facts: ContainerFacts,
  stop: StopAsked,
  hook: HookFacts | undefined,
): Call | undefined {
  const { stage, kubelet } = scene;
  const { ended, lag, turn, began, killings } = stop;
  const at = moment('stop-signal', spec.name);
  const ready = moment(hook ? 'hook-end' : 'began', spec.name);
  const own = stage.read(ready);
  const grace = graceSpan(kubelet);
  const due = turn ? waited(own, turn, began, grace) : own;
  const isOpen = isRoundOpen(scene, stop, due);
  const max = isOpen || turn ? Infinity : millisecondsOf(lag);
  const isLaterRound = isOpen && hook?.failure !== undefined && killings.length !== 1;
  const callAt = isLaterRound ? moment('began', spec.name) : ready;
  stage.follows(callAt, at, { max }, { because: isOpen || turn ? 'the signal follows the hook (§2 S8)' : lag });
  if (turn) {
    const latest = isOpen ? Infinity : millisecondsOf(lag);
    const lo = isLaterRound ? { client: -Infinity, node: -Infinity } : { client: due.client.lo, node: due.node.lo };
    const limits = {
      client: { lo: lo.client, hi: due.client.hi + latest },
      node: { lo: lo.node, hi: due.node.hi + latest },
    };
    stage.within(at, limits, { because: 'a sidecar waits for its turn (§2 S7)', evidence: turn.evidence });
  }
  const since = isLaterRound ? stage.read(callAt) : turn ? due : own;
  const line = signalLine(scene, facts, stop, { hook, since });
  const isPossible = ended ? stateNotAfter(scene, at, ended) : true;
  if (line)
    stage.within(at, { client: atMost(line.at + 1), node: atMost(line.value) }, { because: 'a log line names the signal (§5)', evidence: [line.seq] });
  return Number.isFinite(stage.read(at).client.hi) ? { proved: line !== undefined, isPossible } : undefined;
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
  scene: NetScene,
  facts: ContainerFacts,
  stop: StopAsked,
  { hook, since }: { hook: HookFacts | undefined; since: Estimate },
) {
  const { began, turn } = stop;
  if (hook && !hook.inert && hook.outcome !== 'failed') return undefined;
  const earliest = Math.max(since.node.lo, sinceOf(scene, stop), turn?.node.hi ?? -Infinity);
  // What an application writes of signals anyway, before one can have come, proves nothing when it writes it again.
  const possible = hook?.inert ? Math.max(since.node.lo, began.node.lo) : began.node.lo;
  const from = Math.max(possible, scene.stage.read('accepted').node.lo);
  if (facts.log.signalLines.some((line) => line.value < from)) return undefined;
  return facts.log.signalLines.find((line) => line.value >= earliest);
}

/**
 * States the earliest that SIGKILL can have come: the whole grace after K, and never less than the minimum after the signal,
 * however much of the grace hook and turn ate (SIGNALS.md §2 S8, §5).
 */
function stateKillSince({ stage, kubelet }: NetScene, { name }: ContainerSpec, isCalled: boolean): Estimate {
  const at = moment('kill', name);
  const timeout = shortestStop(kubelet);
  stage.follows(moment('began', name), at, { min: timeout - driftOver(timeout) }, { because: 'SIGKILL comes with the end of the grace (§2 S9)' });
  if (isCalled)
    stage.follows(moment('stop-signal', name), at, { min: minimumGrace - driftOver(minimumGrace) }, { because: 'the kubelet leaves at least 2 s (§2 S8)' });
  return stage.read(at);
}

/** Past the grace and past the minimum after the signal, wherever in their intervals K and the signal lie. */
function isSurelyAfterGrace({ stage, kubelet }: NetScene, { name }: ContainerSpec, isCalled: boolean): boolean {
  const exit = moment('exit', name);
  const isPast = (from: string, timeout: number): boolean => stage.net.lengthOf(from, exit).lo >= timeout - driftOver(timeout);
  return (
    isPast(moment('began', name), shortestStop(kubelet)) &&
    (!isCalled || isPast(moment('stop-signal', name), minimumGrace))
  );
}

/**
 * finishedAt is a whole second, and in the second in which the grace ends a 137 may still be the application's own. One that
 * gave no sign of life between its signal and the end of the grace did not exit by itself just then.
 */
function isSilentKill({ trace, stage, kubelet }: NetScene, { name }: ContainerSpec, { log, readyLost }: ContainerFacts): boolean {
  const timeout = shortestStop(kubelet);
  const counted = moment('counted', name);
  const { lo } = stage.net.lengthOf(counted, moment('exit', name));
  if (lo < timeout - driftOver(timeout) - millisecondsOf('silent-kill')) return false;
  const from = stage.read(moment('began', name)).node.lo;
  const until = stage.read(counted).node.hi + timeout;
  const spoke = log.lastLine !== undefined && log.lastLine.value > from && log.lastLine.value < until;
  const failed = trace.events.some(
    ({ reason, about, time }) =>
      reason === 'Unhealthy' && about.container === name && time.hi > from && time.lo < until,
  );
  return !spoke && !failed && readyLost === undefined;
}

/** It ended by this kill, soon after it. */
function stateKill({ stage }: NetScene, { name }: ContainerSpec): void {
  const [kill, exit] = [moment('kill', name), moment('exit', name)];
  stage.follows(kill, exit, {}, { because: 'SIGKILL ends it (§2 S9)' });
  stage.follows(kill, exit, { max: millisecondsOf('kill-lag') }, { because: 'kill-lag' });
}

interface EndAsked extends Stop {
  /** A hook or a turn may have eaten the grace before the signal. */
  readonly hooked: boolean;
  /** The stop signal is stated. */
  readonly called: boolean;
}

/** When it ended: by its status, or, until one comes, by the end of its log. */
function exitOf(scene: NetScene, spec: ContainerSpec, facts: ContainerFacts, asked: EndAsked): ExitFacts | undefined {
  const { stage, trace } = scene;
  const { terminated } = facts;
  const at = moment('exit', spec.name);
  if (asked.ended && terminated) {
    const { exitCode: code, reason } = terminated.value;
    return { at: stage.read(at), code, ...(reason === undefined ? {} : { reason }), provisional: false };
  }
  const end = logEndThatTells(trace, facts, asked.killings);
  const signal = asked.called ? stage.read(moment('stop-signal', spec.name)) : undefined;
  if (!end || !signal || end.at + 1 < signal.client.lo || terminated) return undefined;
  stateLogEnd(scene, spec, facts, { ...asked, endAt: end.at, seq: end.seq, signal });
  const known = stage.read(at);
  return Number.isFinite(known.client.hi) ? { at: known, provisional: true } : undefined;
}

/**
 * The kubelet ends a log within about a second of the container's exit (SIGNALS.md §5), long before any status. Where no
 * status will ever confirm it, and the log ended for another reason, the kill at the end of grace did the rest.
 */
function stateLogEnd(
  scene: NetScene,
  { name }: ContainerSpec,
  { log }: ContainerFacts,
  { endAt, seq, began, signal, hooked, lag }: EndAsked & { endAt: number; seq: number; signal: Estimate },
): void {
  const { stage, trace, kubelet } = scene;
  const at = moment('exit', name);
  const proof = { because: 'log-end', evidence: [seq] };
  const wait = hooked ? kubelet.grace.max * second + minimumGrace : longestStop(kubelet);
  const latest = trace.gone ? wait + millisecondsOf(lag) : -Infinity;
  const limits = {
    client: atMost(Math.max(endAt + 1, began.client.hi + latest)),
    node: trace.gone ? atMost(began.node.hi + latest) : atMost(Infinity),
  };
  stage.within(at, { client: limits.client }, proof);
  const alone = endedSince(scene, log.reopened, endAt) - millisecondsOf('log-end');
  if (!hooked || signal.client.lo <= alone) stage.follows(moment('stop-signal', name), at, {}, { because: 'it ended after its signal' });
  else stage.follows(moment('began', name), at, {}, { because: 'it ended after the kubelet began' });
  stage.within(at, { client: atLeast(alone - millisecondsOf('delivery-lag')) }, proof);
  const line = log.lastLine;
  if (line) stage.stamp('node', at, atLeast(line.value - 100), line.at + 1, { because: 'log-stamp-lag', evidence: [line.seq] });
}

/** The earliest (client ms) that a log which ended at `at` can have ended: its connection may have been away. */
function endedSince({ trace }: NetScene, reopened: { at: number } | undefined, at: number): number {
  if (reopened && at - reopened.at <= millisecondsOf('delivery-lag')) return -Infinity;
  return heardSince(trace, 'logs', at);
}
