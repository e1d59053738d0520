/**
 * One container's exit: stopping, preStop, stop signal, kill, exit. The API says none of the signals; each row cites
 * where it comes from (SIGNALS.md §2 S5–S9, §5). Order of the argument: what is known of the exit, when the kubelet
 * began (K), how long the hook took, then the signal between hook and exit, then the kill at the end of grace.
 */
import { driftOver, signalLag } from '../model/assumptions.ts';
import { isRunning, runtimeOf, statusesOf, type ContainerSpec } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import type { ContainerFacts, Occurrence } from '../model/trace.ts';
import {
  shortestStop,
  type ContainerExit,
  type ExitFacts,
  type HookFacts,
  type InferContext,
  type SignalFacts,
} from './context.ts';
import { nameOfSignal, outcomeOf, wasStoppedAsStatic } from './container-outcome.ts';
import { isDoubtfulKill, isLogFollowed, isSilentKill, isSurelyAfterGrace, stateKill, stateKillSince } from './kill.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { exitOf } from './exit.ts';
import { mayHaveGone, stateSignal, type Call, type StopAsked } from './stop-signal.ts';
import { mayBeStopped } from './kubelets-own-stop.ts';
import { isMadeUp, servedOf } from './pod-network.ts';
import { factsOfLastRun, mayHaveRestarted, ranUntilEnd, wasStartedLate } from './was-running.ts';
import { killingsMissing } from './missing-events.ts';
import { hookFacts } from './hook.ts';
import { moment } from './stage.ts';
import { stateBegan, stateCounted, wasStopped, type Stop } from './stop.ts';

/**
 * `turn`: for a sidecar, when the containers it waits for had gone (SIGNALS.md §2 S7); `mainsOver`: none of the main ones
 * ran when the deletion came.
 */
export function containerExit(
  context: InferContext,
  spec: ContainerSpec,
  { turn, mainsOver }: { turn: Estimate | undefined; mainsOver: boolean },
): ContainerExit {
  const { deletion, kubelet, stage } = context;
  const { name } = spec;
  const facts = factsOfLastRun(context, name);
  const killings = kubelet.killings.get(name) ?? [];
  const pod = deletion.facts.first.value;
  const before = statusesOf(pod).find((status) => status.name === name);
  // Whatever a status still says, nothing runs in a pod that has Succeeded.
  const over = pod.status.phase === 'Succeeded';
  const { terminated } = facts;
  const isReported =
    terminated?.value.finishedAt !== undefined && !isMadeUp(terminated.value.reason, terminated.value.exitCode);
  const ended = isReported && stage.net.has(moment('exit', name)) ? stage.read(moment('exit', name)) : undefined;
  const startedLate = wasStartedLate(context, spec, facts);
  const runs =
    (isRunning(before?.state) && !over) || killings.length > 0 || startedLate || mayHaveRestarted(context, spec);
  const ran = runs || ranUntilEnd(context, spec, { status: before, ended });
  const base = { spec, facts, ran: ran !== false, killings, settled: false, assumes: [] };
  const lag = signalLag(pod.spec.runtimeClassName, runtimeOf(pod));
  const isStatic = wasStoppedAsStatic(context, spec);
  if (!ran && !isStatic) return { ...base, outcome: 'not-running' };
  const isKnown = killings.length > 0;
  // Its end had not been reported to the API yet.
  if (!isKnown && !isStatic && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  // That the kubelet knew by then does not say that it began with what it was still about to start.
  const start = stateBegan(context, name, killings, !startedLate);
  const stop: Stop = { ...start, killings, ended, lag };
  const stopping = isKnown ? stoppingOf(context, spec, killings) : undefined;
  const known = { ...base, ...(stopping ? { stopping } : {}) };
  if (isStatic) return { ...base, ran: true, ...stoppedBefore(context, base, stop) };
  if (ran === 'perhaps')
    return { ...known, ...stoppedBefore(context, base, stop), outcome: 'unknown', mayBeOlder: true };
  if (mayBeStopped(context, spec, mainsOver)) return { ...known, ...stoppedBefore(context, base, stop) };
  const asked = { ...stop, turn, named: before?.stopSignal, restarts: before?.restartCount ?? 0 };
  // That it had a signal at all is often only likely: what follows of that must not date anything else.
  const { exit } = stage.suppose(() => stopped(context, known, asked));
  return { ...known, ...exit, served: servedOf(context, name) };
}

/** Its basis: the Event's own nanoseconds were seen, of a repeated one only the second. */
const stoppingOf = ({ stage }: InferContext, { name }: ContainerSpec, [first]: readonly Occurrence[]): Estimate =>
  stage.read(moment('stopping', name), first && first.time.lo === first.time.hi ? 'observed' : 'inferred');

type Known = Pick<ContainerExit, 'spec' | 'facts' | 'killings' | 'stopping'>;

/** What became of it, before its moments are read. */
interface Judged {
  readonly graceEnd: Estimate;
  readonly counted: Estimate;
  readonly outcome: ContainerOutcome;
  readonly hook: HookFacts | undefined;
  /** Its stop signal, where one was due. */
  readonly call: Call | undefined;
  /** It ended by SIGKILL at the end of its grace; `late`: certainly after it, whatever it did itself. */
  readonly kill: 'none' | 'probable' | 'silent' | 'late';
  /** It ended because of its signal, or of the kill that followed. */
  readonly isEffect: boolean;
}

/** It ran, and the kubelet began with it because of the deletion. */
function stopped(
  context: InferContext,
  known: Known,
  stop: StopAsked,
): { exit: Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'>; stays: boolean } {
  const judged = judge(context, known, stop);
  stateEffects(context, known, judged);
  return { exit: read(context, known, stop, judged), stays: judged.isEffect };
}

function judge(context: InferContext, { spec, facts, killings }: Known, stop: StopAsked): Judged {
  const { ended } = stop;
  const counted = stateCounted(context, spec.name, stop, facts.terminated?.value.exitCode);
  const asked = endedUnawares(context, facts, killings) ? undefined : hookFacts(context, spec, stop);
  const call = stateSignal(context, spec, facts, stop, asked);
  const since = stateKillSince(context, spec, call !== undefined);
  const isLate = ended !== undefined && isSurelyAfterGrace(context, spec, call !== undefined);
  const isDoubtful = isDoubtfulKill(context, facts, { ...stop, since, isLate });
  const seeming = outcomeOf(context, facts, spec, { killSince: since, ended, isDoubtful });
  const isTouched =
    call?.proved === true ||
    seeming === 'killed' ||
    wasStopped(context, { killings, ended, failed: asked?.failure !== undefined });
  // Where Killings may be missing, the code is the best that is known; elsewhere their absence is evidence.
  const isPassedOver = !isTouched && !killingsMissing(context.trace, ended);
  const outcome = seeming === 'signalled' && isPassedOver ? 'unknown' : seeming;
  const hook = asked && !isTouched ? { ...asked, outcome: 'unknown' as const, doubted: true as const } : asked;
  const kill = outcome === 'killed' && ended ? killWith(context, spec, facts, isLate) : 'none';
  const isSure = kill === 'late' || kill === 'silent';
  return {
    counted,
    graceEnd: context.stage.read(`grace-end/${spec.name}`),
    outcome,
    hook,
    call: isTouched ? call : undefined,
    kill,
    isEffect: isTouched && call !== undefined && (isSure || (outcome === 'signalled' && isAtOnce(spec, hook))),
  };
}

const killWith = (
  context: InferContext,
  spec: ContainerSpec,
  facts: ContainerFacts,
  isLate: boolean,
): Judged['kill'] => {
  if (isLate) return 'late';
  return isSilentKill(context, spec, facts) ? 'silent' : 'probable';
};

/** States what its signal and its kill brought about. */
function stateEffects(context: InferContext, { spec, killings }: Known, { kill, call, hook, isEffect }: Judged): void {
  const { stage, kubelet } = context;
  const isSure = kill === 'late' || kill === 'silent';
  if (isSure) stateKill(context, spec);
  if (!isEffect) return;
  const [signal, exit] = [moment('stop-signal', spec.name), moment('exit', spec.name)];
  stage.follows(signal, exit, {}, { because: 'it ended by its signal or its kill (§5)' });
  const timeout = shortestStop(kubelet);
  const because = 'the kill came the grace after the signal (§2 S9)';
  if (call && isSure && isAtOnce(spec, hook) && killings.length === 1)
    stage.follows(signal, exit, { min: timeout - driftOver(timeout) }, { because });
}

/** Its moments, as far as they are claimed. */
function read(
  context: InferContext,
  known: Known,
  stop: StopAsked,
  judged: Judged,
): Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'> {
  const { stage, trace } = context;
  const { spec, facts, stopping } = known;
  const { outcome, hook, counted, graceEnd, kill } = judged;
  const hooked = hook !== undefined || spec.kind === 'sidecar';
  const exit = exitOf(context, spec, facts, { ...stop, hooked, called: judged.call !== undefined });
  const signal = signalOf(context, known, stop, { ...judged, exit });
  const hookEnd = moment('hook-end', spec.name);
  // A sleep goes on when its container has ended by itself: then no signal shows when it was over.
  const isBounded = hook?.kind !== 'sleep' || judged.isEffect || signal?.proved === true;
  if (hook && signal && isBounded && !isBefore(signal, hook.end)) stage.notAfter(hookEnd, signal);
  const isSure = kill === 'late' || kill === 'silent';
  return {
    outcome,
    hook: hook && { ...hook, end: isBounded ? stage.read(hookEnd, hook.end.basis) : hook.end },
    signal,
    kill: isSure ? stage.read(moment('kill', spec.name)) : undefined,
    probable: kill === 'probable' || (kill === 'silent' && !isLogFollowed(facts)) ? true : undefined,
    exit,
    settled: exit !== undefined && !exit.provisional,
    ...(stopping ? { counted: counted.basis === 'observed' ? stopping : counted, graceEnd } : {}),
    mayHaveOverrun: mayHaveOverrun(context, { hook, exit, graceEnd }) ? true : undefined,
    assumes: [
      ...(signal ? [stop.lag] : []),
      ...(signal && judged.call?.leansOnAcknowledgement ? (['kill-at-once'] as const) : []),
      ...(facts.log.lastLine && exit ? (['log-stamp-lag'] as const) : []),
      ...(isSure ? (['kill-lag'] as const) : []),
      ...(kill === 'silent' ? (['silent-kill'] as const) : []),
      ...(exit?.provisional && trace.gone ? (['log-end'] as const) : []),
    ],
  };
}

/** Its stop signal, where one was sent: nothing speaks for its having ended before. */
function signalOf(
  context: InferContext,
  { spec, facts, killings }: Known,
  { turn, ended, named, restarts }: StopAsked,
  { call, exit, hook, outcome, graceEnd }: Judged & { exit: ExitFacts | undefined },
): SignalFacts | undefined {
  const { stage } = context;
  if (!call?.isPossible) return undefined;
  const at = moment('stop-signal', spec.name);
  if (exit && isBefore(exit.at, stage.read(at))) return undefined;
  const hooked = hook && { ...hook, end: stage.read(moment('hook-end', spec.name)) };
  const ending = {
    wasSet: stage.stepsOf('node').length > 0,
    facts,
    killings,
    hook: hooked,
    turn,
    exit,
    outcome,
    ended,
    graceEnd,
    restarts,
  };
  if (!call.proved && mayHaveGone(ending)) return undefined;
  if (exit && !(exit.provisional && call.proved)) stage.notAfter(at, exit.at);
  return { ...stage.read(at), proved: call.proved, name: nameOfSignal(named ?? spec.container.lifecycle?.stopSignal) };
}

/** Of a hook that perhaps never ran it counts only where its Events may be missing. */
const mayHaveOverrun = (
  { trace }: InferContext,
  { hook, exit, graceEnd }: Pick<ContainerExit, 'hook' | 'exit'> & { graceEnd: Estimate },
): boolean =>
  hook?.outcome === 'unknown' &&
  !(hook.doubted && !killingsMissing(trace, exit?.at)) &&
  !isBefore(hook.end, graceEnd) &&
  exit !== undefined &&
  !exit.provisional &&
  !isBefore(exit.at, graceEnd);

/** Its end was reported by a kubelet that did not know of the deletion yet: no hook runs in what has ended. */
const endedUnawares = (
  { trace }: InferContext,
  { terminated }: ContainerFacts,
  killings: readonly Occurrence[],
): boolean =>
  killings.length === 0 &&
  terminated !== undefined &&
  trace.acknowledged !== undefined &&
  terminated.seq < trace.acknowledged.seq;

/**
 * The kubelet may have begun with it before the deletion: hook and signal came at any time, the grace was another one, and
 * what ended it with 137 was the end of that grace, or something else.
 */
function stoppedBefore(
  context: InferContext,
  { spec, facts }: Pick<ContainerExit, 'spec' | 'facts'>,
  stop: Stop,
): Pick<ContainerExit, 'outcome' | 'exit' | 'settled'> {
  const seeming = outcomeOf(context, facts, spec, { killSince: stop.began, ended: stop.ended, isDoubtful: true });
  const isKilled = facts.terminated?.value.exitCode === 137;
  const exit = exitOf(context, spec, facts, { ...stop, hooked: false, called: false });
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
