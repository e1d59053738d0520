/**
 * One container's exit: stopping, preStop, stop signal, kill, exit. The API says none of the signals; each row cites
 * where it comes from (SIGNALS.md §2 S5–S9, §5). Order of the argument: what is known of the exit, when the kubelet
 * began (K), how long the hook took, then the signal between hook and exit, then the kill at the end of grace.
 */
import { driftOver, signalLag } from '../model/assumptions.ts';
import { isRunning, runtimeOf, statusesOf, type ContainerSpec } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import type { ContainerFacts, Occurrence } from '../model/trace.ts';
import { factsOfLastRun, mayBeStopped, mayHaveRestarted, ranUntilEnd, wasStartedLate } from './before-deletion.ts';
import { exitOf, isMadeUp, nameOfSignal, outcomeOf, wasStoppedAsStatic } from './container-end.ts';
import {
  shortestStop,
  type ContainerExit,
  type ExitFacts,
  type HookFacts,
  type InferContext,
  type SignalFacts,
} from './context.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { killingsMissing } from './gaps.ts';
import { hookFacts } from './hook.ts';
import { isDoubtfulKill, isLogFollowed, isSilentKill, isSurelyAfterGrace, stateKill, stateKillSince } from './kill.ts';
import { moment } from './pod-network.ts';
import { mayHaveEndedUnsignalled, stateSignal, type SignalRows, type SignalStop } from './stop-signal.ts';
import { stateBegan, stateCounted, wasSurelyStopped, type Stop } from './stop.ts';

interface SidecarTurn {
  /** When the containers that it waits for had gone (SIGNALS.md §2 S7). */
  readonly turn?: Estimate;
  /** None of the main ones ran when the deletion came. */
  readonly mainsOver: boolean;
}

export function containerExit(
  context: InferContext,
  spec: ContainerSpec,
  { turn, mainsOver }: SidecarTurn = { mainsOver: false },
): ContainerExit {
  const { deletion, kubelet, network } = context;
  const { name } = spec;
  const facts = factsOfLastRun(context, name);
  const killings = kubelet.killings.get(name) ?? [];
  const pod = deletion.facts.first.value;
  const status = statusesOf(pod).find((one) => one.name === name);
  // Whatever a status still says, nothing runs in a pod that has Succeeded.
  const isOver = pod.status.phase === 'Succeeded';
  const end = facts.terminated?.value;
  const isReported = end?.finishedAt !== undefined && !isMadeUp(end.reason, end.exitCode);
  const at = moment('exit', name);
  const ended = isReported && network.has(at) ? network.read(at) : undefined;
  const startedLate = wasStartedLate(context, spec, facts);
  const isStatic = wasStoppedAsStatic(context, spec);
  const ran =
    (isRunning(status?.state) && !isOver) ||
    killings.length > 0 ||
    startedLate ||
    mayHaveRestarted(context, spec) ||
    ranUntilEnd(context, spec, { status, ended });
  const base = { spec, facts, ran: ran !== false || isStatic, killings, settled: false, assumes: [] };
  if (!base.ran) return { ...base, outcome: 'not-running' };
  // Its end had not been reported to the API yet.
  if (killings.length === 0 && !isStatic && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  // That the kubelet knew by then does not say that it began with what it was still about to start.
  const start = stateBegan(context, name, killings, !startedLate);
  const stop: Stop = { ...start, killings, ended, lag: signalLag(pod.spec.runtimeClassName, runtimeOf(pod)) };
  const known = { ...base, stopping: isStatic ? undefined : stoppingOf(context, spec, killings) };
  if (isStatic) return { ...known, ...exitOfEarlierStop(context, base, stop) };
  if (ran === 'perhaps')
    return { ...known, ...exitOfEarlierStop(context, base, stop), outcome: 'unknown', mayBeOlder: true };
  if (mayBeStopped(context, spec, mainsOver)) return { ...known, ...exitOfEarlierStop(context, base, stop) };
  const signalStop = { ...stop, turn, named: status?.stopSignal, restarts: status?.restartCount ?? 0 };
  // That it had a signal at all is often only likely, and a kill that nothing but silence shows is assumed: what follows
  // of that must not date anything else.
  const { exit } = network.withRollback(
    () => {
      const decision = decide(context, known, signalStop);
      stateEffects(context, known, decision);
      return {
        exit: readExit(context, known, signalStop, decision),
        isCertain: decision.isEffect && decision.kill !== 'silent',
      };
    },
    ({ isCertain }) => isCertain,
  );
  return { ...known, ...exit, served: servedOf(context, name) };
}

/** Undefined without a Killing. Its basis: the Event's own nanoseconds were seen, of a repeated one only the second. */
const stoppingOf = (
  { network }: InferContext,
  { name }: ContainerSpec,
  [first]: readonly Occurrence[],
): Estimate | undefined =>
  first && network.read(moment('stopping', name), first.time.lo === first.time.hi ? 'observed' : 'inferred');

type Known = Pick<ContainerExit, 'spec' | 'facts' | 'killings' | 'stopping'>;

/** What became of a container that the kubelet stopped because of the deletion, before its moments are read. */
interface Decision {
  readonly graceEnd: Estimate;
  readonly counted: Estimate;
  readonly outcome: ContainerOutcome;
  readonly hook: HookFacts | undefined;
  /** Its stop signal, where one was due. */
  readonly signalRows: SignalRows | undefined;
  /** It ended by SIGKILL at the end of its grace; `late`: certainly after it, whatever it did itself. */
  readonly kill: 'none' | 'probable' | 'silent' | 'late';
  /** `silent` or `late`. */
  readonly isSureKill: boolean;
  /** It ended because of its signal, or of the kill that followed. */
  readonly isEffect: boolean;
}

function decide(context: InferContext, { spec, facts, killings }: Known, stop: SignalStop): Decision {
  const { ended } = stop;
  const counted = stateCounted(context, spec.name, stop, facts.terminated?.value.exitCode);
  const found = endedBeforeNotice(context, facts, killings) ? undefined : hookFacts(context, spec, stop);
  const signalRows = stateSignal(context, spec, facts, stop, found);
  const hasSignal = signalRows !== undefined;
  const since = stateKillSince(context, spec, hasSignal);
  const isLate = ended !== undefined && isSurelyAfterGrace(context, spec, hasSignal);
  const isDoubtful = isDoubtfulKill(context, facts, { ...stop, since, isLate });
  const seeming = outcomeOf(context, facts, spec, { killSince: since, ended, isDoubtful });
  const wasStopped =
    signalRows?.proved === true ||
    seeming === 'killed' ||
    wasSurelyStopped(context, { killings, ended, failed: found?.failure !== undefined });
  // Where Killings may be missing, the code is the best that is known; elsewhere their absence is evidence.
  const mayHaveEndedBefore = !wasStopped && !killingsMissing(context.trace, ended);
  const outcome = seeming === 'signalled' && mayHaveEndedBefore ? 'unknown' : seeming;
  const hook = found && !wasStopped ? { ...found, outcome: 'unknown' as const, doubted: true as const } : found;
  const wasKilled = outcome === 'killed' && ended !== undefined;
  const kill = wasKilled ? killWith(context, spec, facts, isLate) : 'none';
  const isSureKill = kill === 'late' || kill === 'silent';
  return {
    counted,
    graceEnd: context.network.read(`grace-end/${spec.name}`),
    outcome,
    hook,
    signalRows: wasStopped ? signalRows : undefined,
    kill,
    isSureKill,
    isEffect: wasStopped && hasSignal && (isSureKill || (outcome === 'signalled' && isAtOnce(spec, hook))),
  };
}

function killWith(
  context: InferContext,
  spec: ContainerSpec,
  facts: ContainerFacts,
  isLate: boolean,
): Decision['kill'] {
  if (isLate) return 'late';
  return isSilentKill(context, spec, facts) ? 'silent' : 'probable';
}

/** States what its signal and its kill brought about. */
function stateEffects({ network, kubelet }: InferContext, { spec, killings }: Known, decision: Decision): void {
  const { isSureKill, hook, isEffect } = decision;
  if (isSureKill) stateKill(network, spec);
  if (!isEffect) return;
  const [signal, exit] = [moment('stop-signal', spec.name), moment('exit', spec.name)];
  network.follows(signal, exit, {}, { because: 'it ended by its signal or its kill (§5)' });
  const timeout = shortestStop(kubelet);
  const because = 'the kill came the grace after the signal (§2 S9)';
  if (isSureKill && isAtOnce(spec, hook) && killings.length === 1)
    network.follows(signal, exit, { min: timeout - driftOver(timeout) }, { because });
}

/** Its moments, as far as they are claimed. */
function readExit(
  context: InferContext,
  known: Known,
  stop: SignalStop,
  decision: Decision,
): Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'> {
  const { network, trace } = context;
  const { spec, facts, stopping } = known;
  const { outcome, hook, counted, graceEnd, kill, isSureKill, signalRows } = decision;
  const mayHaveWaited = hook !== undefined || spec.kind === 'sidecar';
  const exit = exitOf(context, spec, facts, { ...stop, mayHaveWaited, hasSignal: signalRows !== undefined });
  const signal = signalOf(context, known, stop, { ...decision, exit });
  const hookEnd = moment('hook-end', spec.name);
  // A sleep goes on when its container has ended by itself: then no signal shows when it was over.
  const isBounded = hook?.kind !== 'sleep' || decision.isEffect || signal?.proved === true;
  if (hook && signal && isBounded && !isBefore(signal, hook.end)) network.notAfter(hookEnd, signal);
  return {
    outcome,
    hook: hook && { ...hook, end: isBounded ? network.read(hookEnd, hook.end.basis) : hook.end },
    signal,
    kill: isSureKill ? network.read(moment('kill', spec.name)) : undefined,
    probable: kill === 'probable' || (kill === 'silent' && !isLogFollowed(facts)),
    exit,
    settled: exit !== undefined && !exit.provisional,
    counted: stopping && (counted.basis === 'observed' ? stopping : counted),
    graceEnd: stopping && graceEnd,
    mayHaveOverrun: mayHaveOverrun(context, { hook, exit, graceEnd }),
    assumes: [
      ...(signal ? [stop.lag] : []),
      ...(signal && signalRows?.leansOnAcknowledgement ? (['kill-at-once'] as const) : []),
      ...(facts.log.lastLine && exit ? (['log-stamp-lag'] as const) : []),
      ...(isSureKill ? (['kill-lag'] as const) : []),
      ...(kill === 'silent' ? (['silent-kill'] as const) : []),
      ...(exit?.provisional && trace.gone ? (['log-end'] as const) : []),
    ],
  };
}

/** Its stop signal, where one was sent: nothing shows that it may have ended before. */
function signalOf(
  { network }: InferContext,
  { spec, facts, killings }: Known,
  stop: SignalStop,
  { signalRows, exit, hook, outcome, graceEnd }: Decision & { exit: ExitFacts | undefined },
): SignalFacts | undefined {
  if (!signalRows?.isPossible) return undefined;
  const { proved } = signalRows;
  const at = moment('stop-signal', spec.name);
  if (exit && isBefore(exit.at, network.read(at))) return undefined;
  const waited = hook && { ...hook, end: network.read(moment('hook-end', spec.name)) };
  const wasSet = network.stepsOf('node').length > 0;
  const ending = { ...stop, wasSet, facts, killings, hook: waited, exit, outcome, graceEnd };
  if (!proved && mayHaveEndedUnsignalled(ending)) return undefined;
  if (exit && !(exit.provisional && proved)) network.notAfter(at, exit.at);
  return { ...network.read(at), proved, name: nameOfSignal(stop.named ?? spec.container.lifecycle?.stopSignal) };
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
const endedBeforeNotice = (
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
function exitOfEarlierStop(
  context: InferContext,
  { spec, facts }: Pick<ContainerExit, 'spec' | 'facts'>,
  stop: Stop,
): Pick<ContainerExit, 'outcome' | 'exit' | 'settled'> {
  const seeming = outcomeOf(context, facts, spec, { killSince: stop.began, ended: stop.ended, isDoubtful: true });
  const isKilled = facts.terminated?.value.exitCode === 137;
  const exit = exitOf(context, spec, facts, { ...stop, mayHaveWaited: false, hasSignal: false });
  return {
    outcome: isKilled ? 'unknown' : seeming,
    exit,
    settled: exit !== undefined && !exit.provisional,
  };
}

/**
 * Nothing lies between K and its signal in which it may have ended by itself, with whatever code: no turn to wait for
 * (SIGNALS.md §2 S7), and no hook, which may itself have made it end (`kill -TERM 1`) or just go on without it.
 */
const isAtOnce = (spec: ContainerSpec, hook: HookFacts | undefined): boolean =>
  spec.kind !== 'sidecar' && hook === undefined;

/** Undefined where no probe asked it, or nothing bounds when it stopped. */
function servedOf({ network }: InferContext, container: string): Estimate | undefined {
  const at = moment('served', container);
  const known = network.has(at) ? network.read(at) : undefined;
  return known && Number.isFinite(known.client.lo) && Number.isFinite(known.client.hi) ? known : undefined;
}
