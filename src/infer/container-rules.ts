/** One container's exit. The API reports no signals; each constraint cites its source (SIGNALS.md §2 S5–S9, §5). */
import { driftOver, millisecondsOf } from '../model/assumptions.ts';
import { containersOf, isRunning, type PodContainer } from '../model/pod.ts';
import type { Trace } from '../model/trace.ts';
import {
  containerContext,
  mayBeStopped,
  mayHaveRestarted,
  mayHaveRunUntilEnd,
  ranUntilEnd,
  wasStartedLate,
} from './before-deletion.ts';
import { exitOf, isRemovedAtOnce, knownStopSignal, outcomeOf, outlivedRemoval } from './container-end.ts';
import {
  stopTimeout,
  type ContainerExit,
  type ExitFacts,
  type HookFacts,
  type InferContext,
  type SignalFacts,
} from './context.ts';
import { isBefore, onClient, type Estimate } from './estimate.ts';
import { killingsMissing } from './arrival.ts';
import { hookFacts } from './hook.ts';
import { moment } from './pod-network.ts';
import { probeResultsOf } from './probes.ts';
import {
  constrainExitByKill,
  constrainKill,
  constrainSignal,
  isAfterGrace,
  isDoubtfulKill,
  isLogRead,
  isSilentKill,
} from './signals.ts';
import { constrainGraceStart, constrainStopStart, sigkillCode, wasCertainlyStopped, type Stop } from './stop.ts';

/** `turn`: when all containers that a sidecar waits for had ended (§2 S7). */
export function containerExit(context: InferContext, spec: PodContainer, turn?: Estimate): ContainerExit {
  const container = containerContext(context, spec);
  const { deletion, network, facts, killings, status, ended } = container;
  const startedLate = wasStartedLate(container);
  const ran =
    isRunning(status?.state) ||
    killings.length > 0 ||
    startedLate ||
    mayHaveRestarted(container) ||
    ranUntilEnd(container);
  const mayHaveEndedBefore = !ran && mayHaveRunUntilEnd(container);
  const base = { spec, facts, ran: ran || mayHaveEndedBefore, killings, assumes: [] };
  if (!base.ran) return { ...base, outcome: 'not-running' };
  // It ended before the deletion, but its status still said running.
  if (killings.length === 0 && ended && isBefore(ended, deletion.accepted))
    return { ...base, ran: false, outcome: 'not-running' };
  const stop: Stop = { ...container, ...constrainStopStart(container, startedLate), turn };
  const stopping = stoppingOf(stop);
  if (mayHaveEndedBefore) return { ...base, stopping, ...exitOfEarlierStop(stop), outcome: 'unknown' };
  if (mayBeStopped(container)) return { ...base, stopping, ...exitOfEarlierStop(stop) };
  // The signal is often only likely, and a silent kill is assumed: constraints that follow must not date other containers.
  const { decision, exit } = network.withRollback(
    () => {
      const decision = decide(stop);
      constrainEffects(stop, decision);
      return { decision, exit: readExit(stop, stopping, decision) };
    },
    ({ decision }) => decision.isExitByStop && decision.kill !== 'silent',
  );
  const mayLackSignal = ended !== undefined && exit.signal === undefined && !decision.isExitByStop;
  const known = mayLackSignal ? { ...exit, ...exitWithoutSignal(stop, decision, exit.assumes) } : exit;
  return { ...base, stopping, ...known, served: servedOf(context, spec.name, known.exit) };
}

/** The first Killing, if any. Observed if its nanoseconds are known; a repeated Event has only seconds. */
const stoppingOf = ({ network, spec, killings: [first] }: Stop): Estimate | undefined =>
  first && network.read(moment('stopping', spec.name), first.time.lo === first.time.hi ? 'observed' : 'inferred');

type Decision = ReturnType<typeof decide>;

/** Whether SIGKILL ended it: `silent` is assumed, from the lack of any sign of life; `late`, certain by its time. */
type Kill = 'none' | 'probable' | 'silent' | 'late';

function decide(stop: Stop) {
  const { trace, network, spec, ended } = stop;
  const graceStart = constrainGraceStart(stop);
  const found = endedBeforeNotice(stop) ? undefined : hookFacts(stop);
  const signalBasis = constrainSignal(stop, found);
  const hasSignal = signalBasis !== undefined;
  const killSince = constrainKill(stop, hasSignal);
  const isLate = ended !== undefined && isAfterGrace(stop, hasSignal);
  const likelyOutcome = outcomeOf(stop, killSince, isDoubtfulKill(stop, killSince, isLate));
  const wasStopped = signalBasis?.proved === true || likelyOutcome === 'killed' || wasCertainlyStopped(stop);
  // A missing Killing suggests an earlier end, unless Killings may be lost: then the exit code decides.
  const mayHaveEndedBefore = !wasStopped && !killingsMissing(trace, ended);
  const outcome = likelyOutcome === 'signalled' && mayHaveEndedBefore ? 'unknown' : likelyOutcome;
  const hook: HookFacts | undefined =
    found && !wasStopped ? { ...found, outcome: 'unknown', mayNotHaveRun: true } : found;
  const likelyKill = isLate ? 'late' : 'probable';
  const kill: Kill = outcome !== 'killed' || !ended ? 'none' : !isLate && isSilentKill(stop) ? 'silent' : likelyKill;
  return {
    graceStart,
    graceEnd: network.read(moment('grace-end', spec.name)),
    outcome,
    /** The container certainly ran when the kubelet stopped it. */
    wasStopped,
    hook,
    signalBasis: wasStopped ? signalBasis : undefined,
    kill,
    /** The stop signal, or the kill after it, ended the container. */
    isExitByStop:
      wasStopped && hasSignal && (isSure(kill) || (outcome === 'signalled' && isSignalledAtOnce(spec, hook))),
  };
}

const isSure = (kill: Kill): boolean => kill === 'silent' || kill === 'late';

function constrainEffects(stop: Stop, { kill, hook, isExitByStop }: Decision): void {
  const { network, kubelet, spec, killings } = stop;
  if (isSure(kill)) constrainExitByKill(stop);
  if (!isExitByStop) return;
  const [signal, exit] = [moment('stop-signal', spec.name), moment('exit', spec.name)];
  network.follows(signal, exit, {}, { because: 'it ended by its signal or its kill (§5)' });
  const timeout = stopTimeout(kubelet, 'min');
  const because = 'the kill came the grace after the signal (§2 S9)';
  if (isSure(kill) && isSignalledAtOnce(spec, hook) && killings.length === 1)
    network.follows(signal, exit, { min: timeout - driftOver(timeout) }, { because });
}

function readExit(
  stop: Stop,
  stopping: Estimate | undefined,
  decision: Decision,
): Omit<ContainerExit, 'spec' | 'facts' | 'killings' | 'ran'> {
  const { network, trace, spec, facts } = stop;
  const { outcome, hook, graceStart, graceEnd, kill, signalBasis } = decision;
  const exit = exitOf(stop, signalBasis && !isSignalledAtOnce(spec, hook));
  const signal = signalOf(stop, decision, exit);
  const hookEnd = moment('hook-end', spec.name);
  // A sleep goes on after its container has ended by itself: then no signal bounds its end.
  const isBounded = hook?.kind !== 'sleep' || decision.isExitByStop || signal?.proved === true;
  return {
    outcome,
    hook: hook && { ...hook, end: isBounded ? network.read(hookEnd, hook.end.basis) : hook.end },
    signal,
    kill: isSure(kill) ? network.read(moment('kill', spec.name)) : undefined,
    probable: outcome === 'abandoned' ? mayHaveEndedBeforeRemoval(stop) : isOnlyProbable(kill, stop),
    exit,
    graceStart: stopping && (graceStart.basis === 'observed' ? stopping : graceStart),
    graceEnd: stopping && graceEnd,
    mayHaveOverrun: mayHaveOverrun(trace, decision, exit),
    assumes: [
      ...(signal ? [stop.lag] : []),
      ...(signal && signalBasis?.isDatedByAcknowledgement ? (['kill-at-once'] as const) : []),
      ...(facts.log.lastLine && exit ? (['log-stamp-lag'] as const) : []),
      ...(isSure(kill) ? (['kill-lag'] as const) : []),
      ...(kill === 'silent' ? (['silent-kill'] as const) : []),
      ...(exit && exit.code === undefined && trace.gone ? (['log-end'] as const) : []),
    ],
  };
}

const isOnlyProbable = (kill: Kill, stop: Stop): boolean =>
  stop.spec.container.ignoresTerm !== true && (kill === 'probable' || (kill === 'silent' && !isLogRead(stop)));

/** The kubelet reports no exit before the last one (SIGNALS.md §2 S12); one that removes at once leaves no time. */
const mayHaveEndedBeforeRemoval = (stop: Stop): boolean =>
  !outlivedRemoval(stop) && !(isRemovedAtOnce(stop) && (stop.status?.restartCount ?? 0) === 0);

/** The stop signal. Undefined if the container may have ended before it was sent. */
function signalOf(stop: Stop, decision: Decision, exit?: ExitFacts): SignalFacts | undefined {
  const { signalBasis, hook } = decision;
  if (!signalBasis) return undefined;
  const { network, spec } = stop;
  const { proved } = signalBasis;
  const at = moment('stop-signal', spec.name);
  if (exit && isBefore(exit.at, network.read(at))) return undefined;
  // The hook died with its container: then none was sent (§2 S6).
  if (!proved && (hook?.mayHaveDied || mayHaveCrashed(stop, decision, exit))) return undefined;
  return { ...network.read(at), proved, name: knownStopSignal(stop) };
}

/** One that has exited by itself before, or whose log had ended, may be gone as the kubelet stops it: its view is old (§2 S2). */
const mayHaveCrashed = (stop: Stop, { outcome }: Decision, exit?: ExitFacts): boolean =>
  ((stop.status?.restartCount ?? 0) > 0 || logEndOf(stop) < stop.stopStart.client.hi) &&
  exit !== undefined &&
  outcome !== 'killed' &&
  outcome !== 'signalled' &&
  !isBefore(stop.stopStart, exit.at);

const logEndOf = ({ facts: { log } }: Stop): number => (log.ended?.value.clean ? log.ended.at : Infinity);

/** A hook that may not have run counts only if its Events may be missing. */
const mayHaveOverrun = (trace: Trace, { hook, graceEnd }: Decision, exit?: ExitFacts): boolean =>
  hook?.outcome === 'unknown' &&
  !(hook.mayNotHaveRun && !killingsMissing(trace, exit?.at)) &&
  !isBefore(hook.end, graceEnd) &&
  exit?.code !== undefined &&
  !isBefore(exit.at, graceEnd);

/** Whether the kubelet reported the exit before it knew of the deletion. Then no hook ran. */
const endedBeforeNotice = ({ trace, facts: { terminated }, killings }: Stop): boolean =>
  killings.length === 0 &&
  terminated !== undefined &&
  trace.acknowledged !== undefined &&
  terminated.seq < trace.acknowledged.seq;

/** Without a signal, only a relist before the stop or the acknowledgement bounds the exit (SIGNALS.md §2 S2). */
function exitWithoutSignal(
  stop: Stop,
  { wasStopped }: Decision,
  assumes: ContainerExit['assumes'],
): Pick<ContainerExit, 'exit' | 'assumes'> {
  const { trace, network, spec, facts } = stop;
  const ranByAcknowledgement =
    trace.acknowledged !== undefined && (facts.terminated?.seq ?? -Infinity) > trace.acknowledged.seq;
  const seenRunning = wasStopped ? moment('stop-start', spec.name) : ranByAcknowledgement ? 'accepted' : undefined;
  if (seenRunning !== undefined)
    network.follows(seenRunning, moment('exit', spec.name), { min: -millisecondsOf('relist') }, { because: 'relist' });
  return {
    exit: exitOf(stop),
    assumes: seenRunning === undefined ? assumes : [...assumes, 'relist'],
  };
}

/** The kubelet may have stopped it before the deletion, with another grace: why it exited with 137 is unknown. */
function exitOfEarlierStop(stop: Stop): Pick<ContainerExit, 'outcome' | 'probable' | 'exit'> {
  const isSigkill = stop.facts.terminated?.value.exitCode === sigkillCode;
  const outcome = isSigkill ? 'unknown' : outcomeOf(stop, stop.stopStart, true);
  return {
    outcome,
    probable: outcome === 'abandoned' && !outlivedRemoval(stop),
    exit: exitOf(stop),
  };
}

/** Whether the stop signal follows K at once: no turn (SIGNALS.md §2 S7), and no hook, which could have ended it. */
const isSignalledAtOnce = (spec: PodContainer, hook: HookFacts | undefined): boolean =>
  spec.kind !== 'sidecar' && hook === undefined;

/**
 * When the container stopped accepting requests: between the last answer and the first refused connection, or the exit.
 * Only if nobody else can have answered: another container, a pod on the node's network or, if its name is used again,
 * the successor. Nor once the exit is known.
 */
function servedOf({ trace, deletion }: InferContext, name: string, exit?: ExitFacts): Estimate | undefined {
  const { pod } = deletion;
  const { uid, ownerReferences = [] } = pod.metadata;
  const isOwnName = ownerReferences.some(({ kind }) => ['ReplicaSet', 'DaemonSet', 'Job'].includes(kind));
  if (containersOf(pod).length > 1 || !isOwnName || pod.spec.hostNetwork === true) return undefined;
  const endKnownAt = trace.containers.get(name)?.terminated?.at ?? Infinity;
  const [served] = probeResultsOf(trace.probes, {}).flatMap(({ pod: probed, answered, refusedBy }) => {
    if (probed !== uid || !answered || answered.last >= endKnownAt) return [];
    const hi = Math.min((refusedBy?.at ?? Infinity) + 1, exit?.at.client.hi ?? Infinity);
    if (hi < answered.last || !Number.isFinite(hi)) return [];
    return [onClient({ lo: answered.last, hi }, [answered.seq, ...(refusedBy ? [refusedBy.seq] : [])])];
  });
  return served;
}
