/**
 * One container's exit: stopping, preStop, stop signal, kill, exit. The API says none of the signals; each rule cites
 * where it comes from (SIGNALS.md §2 S5–S9, §5). Order of the argument: what is known of the exit, when the kubelet
 * began (K), how long the hook took, then the signal between hook and exit, then the kill at the end of grace.
 */
import type { AssumptionName } from '../model/assumptions.ts';
import { signalLag } from '../model/assumptions.ts';
import type { ContainerSpec } from '../model/pod.ts';
import { isRunning, runtimeOf, statusesOf } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import type { ContainerFacts, Occurrence } from '../model/trace.ts';
import { beganAt, countedFrom, stoppingOf, wasStopped } from './began.ts';
import { outcomeOf, wasStoppedAsStatic } from './container-outcome.ts';
import { isDoubtfulKill } from './doubtful-kill.ts';
import type { Estimate } from './estimate.ts';
import { crossed, isBefore, moved, narrowed, notAfter, notBefore, unbounded } from './estimate.ts';
import type { ExitFacts } from './exit.ts';
import { endOf, exitOf } from './exit.ts';
import { mayHaveGone } from './gone-before.ts';
import { graceSpan } from './grace.ts';
import type { HookFacts } from './hook.ts';
import { hookFacts } from './hook.ts';
import { beforeKill, killOf, killSince, showedLife, surelyAfterGrace } from './kill.ts';
import { mayBeStopped } from './own-doing.ts';
import { ranUntilEnd, wasStartedLate } from './ran.ts';
import type { Rounds } from './rounds.ts';
import type { Scene } from './scene.ts';
import { factsOfLastRun, mayRunUntold } from './started-untold.ts';
import type { SignalFacts } from './stop-signal.ts';
import { signalOf, withName } from './stop-signal.ts';
import { isUntellable } from './tellable.ts';

export interface ContainerExit {
  readonly spec: ContainerSpec;
  readonly facts: ContainerFacts;
  /** It ran when the deletion came, or the kubelet stopped it; or may have, where nobody can tell. */
  readonly ran: boolean;
  /** It had ended when it was first looked at, and perhaps before the deletion. */
  readonly mayBeOlder?: true;
  readonly outcome: ContainerOutcome;
  /** The outcome is the likelier of two that the evidence allows. */
  readonly probable?: true;
  readonly killings: readonly Occurrence[];
  /** The kubelet began to stop it: K. Absent where no Killing told. */
  readonly stopping?: Estimate;
  readonly hook?: HookFacts;
  readonly signal?: SignalFacts;
  readonly kill?: Estimate;
  readonly exit?: ExitFacts;
  /** A status told its end: until then a kill may fail, or the kubelet start anew, and hook and signal come again. */
  readonly settled: boolean;
  /** From when the grace counted that was the last: the last K. */
  readonly counted?: Estimate;
  /** The end of the grace as the kubelet counts it: the last K + grace. */
  readonly graceEnd?: Estimate;
  /** Its hook may have eaten so much of the grace that it was still there when that ended, though nothing was killed. */
  readonly mayHaveOverrun?: true;
  /** Assumptions that an instant leans on. */
  readonly assumes: readonly AssumptionName[];
}

/**
 * `turn`: for a sidecar, when the containers it waits for had gone (SIGNALS.md §2 S7); `mainsOver`: none of the main ones
 * ran when the deletion came.
 */
export function containerExit(
  scene: Scene,
  spec: ContainerSpec,
  { turn, mainsOver }: { turn: Estimate | undefined; mainsOver: boolean },
): ContainerExit {
  const { deletion, kubelet } = scene;
  const facts = factsOfLastRun(scene, spec);
  const killings = kubelet.killings.get(spec.name) ?? [];
  const before = statusesOf(deletion.facts.first.value).find((status) => status.name === spec.name);
  // Whatever a status still says, nothing runs in a pod that has Succeeded.
  const over = deletion.facts.first.value.status.phase === 'Succeeded';
  const ended = endOf(scene, spec, facts);
  const startedLate = wasStartedLate(scene, spec, facts);
  const runs = (isRunning(before?.state) && !over) || killings.length > 0 || startedLate || mayRunUntold(scene, spec);
  const ran = runs || ranUntilEnd(scene, spec, { status: before, ended });
  const base = { spec, facts, ran: ran !== false, killings, settled: false, assumes: [] };
  const lag = signalLag(deletion.facts.first.value.spec.runtimeClassName, runtimeOf(deletion.facts.first.value));
  if (wasStoppedAsStatic(scene, spec)) {
    const rounds = { began: unbounded, killings: [], ended, lag };
    return { ...base, ran: true, ...stoppedBefore(scene, base, rounds) };
  }
  if (!ran) return { ...base, outcome: 'not-running' };

  const stopping = stoppingOf(scene, killings);
  // That the kubelet knew by then does not say that it began with what it was still about to start.
  const began = startedLate && !stopping ? notBefore(deletion.accepted) : beganAt(scene, stopping, killings);
  // The API had not heard yet that it was over.
  if (killings.length === 0 && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  const rounds = { began, killings, ended, lag };
  const known = { ...base, ...(stopping ? { stopping } : {}) };
  if (ran === 'perhaps')
    return { ...known, ...stoppedBefore(scene, base, rounds), outcome: 'unknown', mayBeOlder: true };
  if (mayBeStopped(scene, spec, mainsOver)) return { ...known, ...stoppedBefore(scene, base, rounds) };
  return {
    ...known,
    ...stopped(scene, known, { ...rounds, turn, named: before?.stopSignal, restarts: before?.restartCount ?? 0 }),
  };
}

type Known = Pick<ContainerExit, 'spec' | 'facts' | 'killings' | 'stopping'>;

interface Stop extends Rounds {
  readonly turn: Estimate | undefined;
  /** The stop signal, where its status names one. */
  readonly named: string | undefined;
  /** How often it had ended before. */
  readonly restarts: number;
}

/** It ran, and the kubelet began with it because of the deletion. */
function stopped(
  scene: Scene,
  { spec, facts, killings, stopping }: Known,
  stop: Stop,
): Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'> {
  const { kubelet } = scene;
  const { began, ended, lag, turn, named } = stop;
  const asked = endedUnawares(scene, facts, killings) ? undefined : hookFacts(scene, spec, stop);
  const called = signalOf(scene, { ...stop, hook: asked, facts });
  const counted = countedFrom(scene, stop, facts.terminated?.value.exitCode);
  const graceEnd = crossed(moved(counted, graceSpan(kubelet)), kubelet.clock);
  const since = killSince(scene, began, called);
  const isLate = ended !== undefined && surelyAfterGrace(scene, began, called, ended);
  const isDoubtful = isDoubtfulKill(scene, facts, { ...stop, since, isLate });
  const seeming = outcomeOf(scene, facts, spec, { killSince: since, ended, isDoubtful });
  const isTouched =
    called?.proved === true ||
    seeming === 'killed' ||
    wasStopped(scene, { killings, ended, failed: asked?.failure !== undefined });
  // Where no Killing can be heard of, the code is the best that is known; elsewhere its absence tells.
  const isPassedOver = !isTouched && !isUntellable(scene.trace, ended);
  const outcome = seeming === 'signalled' && isPassedOver ? 'unknown' : seeming;
  const first = isTouched ? called : undefined;
  const hook = asked && !isTouched ? { ...asked, outcome: 'unknown' as const, doubted: true as const } : asked;
  const kill = outcome === 'killed' && ended ? killOf(scene, since, ended) : undefined;
  // Where K is known to the second, no more than the second of finishedAt is left to doubt.
  const isTimed = began === stopping && killings.length === 1 && killings[0]?.count === 1;
  const hooked = hook !== undefined || spec.kind === 'sidecar';
  const isSilent = isTimed && !hooked && !showedLife(scene.trace, spec, facts, began);
  const sure = isLate || isSilent ? kill : undefined;
  const mustFollow = first && (sure ?? (outcome === 'signalled' && isAtOnce(spec, hook))) ? first : undefined;
  const after = [sure, mustFollow].flatMap((one) => one ?? []);
  const exit = exitOf(scene, { ended, after, signal: first, facts, killings, began, lag, hooked });
  const whole = sure && !hook && spec.kind !== 'sidecar' && killings.length === 1;
  const timed = first && kill && exit && whole ? { ...beforeKill(scene, first, exit.at), proved: first.proved } : first;
  const { restarts } = stop;
  const ending = { clock: kubelet.clock, facts, killings, hook, turn, exit, outcome, ended, graceEnd, restarts };
  const isSent = timed && !(exit && isBefore(exit.at, timed)) && (timed.proved || !mayHaveGone(ending));
  const signal = isSent ? withName(spec, named, timed, exit, kubelet) : undefined;
  return {
    outcome,
    ...(hook ? { hook: signal ? beforeSignal(hook, signal, mustFollow !== undefined) : hook } : {}),
    ...(signal ? { signal } : {}),
    ...(kill ? { kill } : {}),
    ...(exit ? { exit } : {}),
    settled: exit !== undefined && !exit.provisional,
    ...(stopping ? { counted, graceEnd } : {}),
    ...(mayHaveOverrun(scene, { hook, exit, graceEnd }) ? { mayHaveOverrun: true as const } : {}),
    assumes: [
      ...(signal ? [lag] : []),
      ...(facts.log.lastLine && exit ? (['log-stamp-lag'] as const) : []),
      ...(kill && sure && !isLate ? (['silent-kill'] as const) : []),
      ...(exit?.provisional && scene.trace.gone ? (['log-end'] as const) : []),
    ],
  };
}

/** Of a hook that perhaps never ran it counts only where no Event could have told of it. */
const mayHaveOverrun = (
  { trace }: Scene,
  { hook, exit, graceEnd }: Pick<ContainerExit, 'hook' | 'exit'> & { graceEnd: Estimate },
): boolean =>
  hook?.outcome === 'unknown' &&
  !(hook.doubted && !isUntellable(trace, exit?.at)) &&
  !isBefore(hook.end, graceEnd) &&
  exit !== undefined &&
  !exit.provisional &&
  !isBefore(exit.at, graceEnd);

/** Its end was told by a kubelet that did not know of the deletion yet: no hook runs in what has ended. */
const endedUnawares = ({ trace }: Scene, { terminated }: ContainerFacts, killings: readonly Occurrence[]): boolean =>
  killings.length === 0 &&
  terminated !== undefined &&
  trace.acknowledged !== undefined &&
  terminated.seq < trace.acknowledged.seq;

/**
 * The kubelet may have begun with it before the deletion: hook and signal came at any time, the grace was another one, and
 * what ended it with 137 was the end of that grace, or something else.
 */
function stoppedBefore(
  scene: Scene,
  { spec, facts }: Pick<ContainerExit, 'spec' | 'facts'>,
  rounds: Rounds,
): Pick<ContainerExit, 'outcome' | 'exit' | 'settled'> {
  const { began, ended } = rounds;
  const seeming = outcomeOf(scene, facts, spec, { killSince: began, ended, isDoubtful: true });
  const isKilled = facts.terminated?.value.exitCode === 137;
  const exit = exitOf(scene, { ...rounds, after: [], signal: undefined, facts, hooked: false });
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

/**
 * The signal follows the hook (SIGNALS.md §2 S6, S8). But a sleep goes on when its container has ended by itself: then
 * no signal came at all.
 */
function beforeSignal(hook: HookFacts, signal: SignalFacts, wasSent: boolean): HookFacts {
  const tells = hook.kind !== 'sleep' || wasSent || signal.proved;
  return !tells || isBefore(signal, hook.end) ? hook : { ...hook, end: narrowed(hook.end, notAfter(signal)) };
}
