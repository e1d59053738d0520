/** When a container ended, by its status or, until one comes, by the end of its log; and what that means (SIGNALS.md §5 "Exit codes"). */
import { millisecondsOf } from '../model/assumptions.ts';
import { isMirror, isRunning, statusesOf, type ContainerSpec } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import { atLeast, atMost, second } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import type { ContainerFacts, Fact, LogFacts, Occurrence, Trace } from '../model/trace.ts';
import { arrival, deliverableSince, deliveryLagOf } from './arrival.ts';
import { mayHaveRestarted } from './before-deletion.ts';
import { longestStop, minimumGrace, type DeletionContext, type ExitFacts, type InferContext } from './context.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { moment, type PodNetwork } from './pod-network.ts';
import { isStart, longestRenewal, type Stop } from './stop.ts';

/** The status of an end: [finishedAt, + 1 s) on the node's clock, and it had arrived. */
export function stateEnd(network: PodNetwork, container: string, facts: ContainerFacts): void {
  const { terminated, log } = facts;
  const finished = parseFloor(terminated?.value.finishedAt);
  if (!terminated || !finished || isMadeUp(terminated.value.reason, terminated.value.exitCode)) return;
  const at = moment('exit', container);
  const evidence = [terminated.seq];
  network.within(
    at,
    { client: atMost(terminated.at + 1) },
    { because: 'the status of its end had arrived (§2 S12)', evidence },
  );
  network.stamp('node', at, finished, terminated.at + 1, { because: 'finishedAt (§5)', evidence });
  // Of a clock that was set, what it showed before does not come before what it showed after.
  if (!network.stepped.node) stateLastLine(network, container, log);
}

/** It lived while it wrote. */
function stateLastLine(network: PodNetwork, container: string, { lastLine }: ContainerFacts['log']): void {
  if (!lastLine) return;
  const { value, at, seq } = lastLine;
  const proof = { because: 'log-stamp-lag', evidence: [seq] };
  network.stamp('node', moment('exit', container), atLeast(value - millisecondsOf('log-stamp-lag')), at + 1, proof);
}

/** 137 ContainerStatusUnknown is made up by the kubelet (trap 24); 255 Unknown is a runtime that lost the status (§5). */
export const isMadeUp = (reason: string | undefined, code: number): boolean =>
  reason === 'ContainerStatusUnknown' || (reason === 'Unknown' && code === 255);

interface StopOfExit extends Stop {
  /** A hook or a turn may have eaten the grace before the signal. */
  readonly mayHaveWaited: boolean;
  /** The stop signal is stated. */
  readonly hasSignal: boolean;
}

export function exitOf(
  context: InferContext,
  spec: ContainerSpec,
  facts: ContainerFacts,
  stop: StopOfExit,
): ExitFacts | undefined {
  const { network, trace } = context;
  const { terminated } = facts;
  const at = moment('exit', spec.name);
  if (stop.ended && terminated) {
    const { exitCode: code, reason } = terminated.value;
    return { at: network.read(at), code, reason, provisional: false };
  }
  const end = exitLogEnd(trace, facts, stop.killings);
  const signal = stop.hasSignal ? network.read(moment('stop-signal', spec.name)) : undefined;
  if (!end || !signal || end.at + 1 < signal.client.lo || terminated) return undefined;
  stateLogEnd(context, spec, facts, { ...stop, end, signal });
  const known = network.read(at);
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
  { end, began, signal, mayHaveWaited, lag }: StopOfExit & { end: Fact<unknown>; signal: Estimate },
): void {
  const { network, trace, kubelet } = context;
  const at = moment('exit', name);
  const proof = { because: 'log-end', evidence: [end.seq] };
  const wait = mayHaveWaited ? kubelet.grace.max * second + minimumGrace : longestStop(kubelet);
  const latest = trace.gone ? wait + millisecondsOf(lag) : -Infinity;
  network.within(at, { client: atMost(Math.max(end.at + 1, began.client.hi + latest)) }, proof);
  const alone = endedSince(context, log.reopened, end.at) - millisecondsOf('log-end');
  const cause = !mayHaveWaited || signal.client.lo <= alone ? 'stop-signal' : 'began';
  network.follows(moment(cause, name), at, {}, { because: 'it ended after its signal, or after the kubelet began' });
  network.within(at, { client: atLeast(alone - deliveryLagOf(trace)) }, proof);
  stateLastLine(network, name, log);
}

/** The earliest (client ms) that a log which ended at `at` can have ended: its connection may have been away. */
function endedSince({ trace }: InferContext, reopened: { at: number } | undefined, at: number): number {
  if (reopened && at - reopened.at <= deliveryLagOf(trace)) return -Infinity;
  return deliverableSince(trace, 'logs', at);
}

/** The end of its log, unless something shows that the log may have ended before the container. */
function exitLogEnd(
  trace: Trace,
  { log: { ended: end } }: ContainerFacts,
  killings: readonly Occurrence[],
): LogFacts['ended'] {
  const doubted =
    !end?.value.clean ||
    killings.some((one) => one.at > end.at) ||
    trace.events.some((one) => isStart(one) && one.at > end.at) ||
    trace.nodeReady.some((one) => one.value !== 'True' && one.at >= end.at) ||
    mayHaveEndedWithKubelet(trace, end.at);
  return doubted ? undefined : end;
}

/** ms: the API server ends a log in order when the kubelet behind it has stood still for so long, about 42 s on a real cluster. */
const logsOutlive = 40 * second;

/** By then a renewal of its node's Lease is overdue, though the node is not called NotReady yet; where no Lease is read, any sign is. */
function mayHaveEndedWithKubelet(trace: Trace, at: number): boolean {
  const { listedRenewal, renewals } = trace.nodeSigns;
  const renewed = renewals.findLast((one) => one.at <= at) ?? listedRenewal;
  if (!renewed) return at - lastSignOfKubelet(trace) > logsOutlive;
  const longest = longestRenewal + millisecondsOf('event-lag') + deliveryLagOf(trace);
  return deliverableSince(trace, 'lease', at) - renewed.at > longest;
}

/** Client ms. */
const lastSignOfKubelet = ({ containers, events, acknowledged, deletion }: Trace): number =>
  Math.max(
    deletion?.seenAt ?? -Infinity,
    acknowledged?.at ?? -Infinity,
    ...events.filter(({ component }) => component === 'kubelet').map(({ at }) => at),
    ...[...containers.values()].map(({ log }) => log.lastLine?.at ?? -Infinity),
  );

/** What the end of a container means: the code alone does not say it. */
export function outcomeOf(
  context: InferContext,
  facts: ContainerFacts,
  spec: ContainerSpec,
  { killSince, ended, isDoubtful }: { killSince: Estimate; ended: Estimate | undefined; isDoubtful: boolean },
): ContainerOutcome {
  const { trace, kubelet } = context;
  const { value: end } = facts.terminated ?? {};
  if (!end || !ended) {
    const logEnd = exitLogEnd(trace, facts, kubelet.killings.get(spec.name) ?? []);
    const isThere = lastSeenRunning(trace, spec) || mayHaveRestarted(context, spec);
    return !end && isThere && isLeft(context, logEnd) ? 'abandoned' : 'unknown';
  }
  if (end.exitCode === 0) return 'completed';
  // The reason sticks to a container of which any process was ever killed for memory (SIGNALS.md §5 "Exit codes").
  if (end.reason === 'OOMKilled' && end.exitCode === 137) return mayBeOfKill(killSince, ended) ? 'unknown' : 'oom';
  if (fitsStopSignal(end.exitCode, numberOfSignal(stopSignalOf(trace, spec)))) return 'signalled';
  if (end.exitCode !== 137) return 'failed';
  if (!mayBeOfKill(killSince, ended)) return 'failed';
  return isDoubtful ? 'unknown' : 'killed';
}

/**
 * The object went while it ran, as its last status has it. That may be old, and a log ends once its container has
 * (SIGNALS.md §5): a log that ended before the removal arrived shows a container that ended before the removal, or
 * may have. Where the DELETE itself removed the object nothing was stopped before that; there only what was earlier counts.
 */
function isLeft(context: InferContext, logEnd: Fact<unknown> | undefined): boolean {
  const { trace, deletion } = context;
  if (trace.gone?.value !== 'deleted' || mayBeItsKubelets(context)) return false;
  const isAtOnce = deletion.grace === 0 && !trace.finalizing;
  const since = isAtOnce ? arrival(trace, trace.gone, 'pod', deletion.accepted).client.lo : trace.gone.at;
  return !(logEnd && logEnd.at < since);
}

/**
 * A static pod's copy that somebody else removed at once: its kubelet does so when the manifest is gone, having stopped the
 * containers (kubelet_pods.go `HandlePodCleanups`), and a forced deletion, which stops nothing, looks the same.
 */
export const mayBeItsKubelets = ({ trace, deletion }: DeletionContext): boolean =>
  isMirror(deletion.facts.first.value) && deletion.grace === 0 && trace.requests.length === 0;

/** Its kubelet reported that it stopped it, and removed the copy afterwards: the manifest is gone. */
export const wasStoppedAsStatic = (context: DeletionContext, { name }: Pick<ContainerSpec, 'name'>): boolean =>
  mayBeItsKubelets(context) &&
  context.trace.events.some(
    ({ reason, about, isOld, message }) =>
      reason === 'Killing' && about.container === name && !isOld && message.startsWith('Stopping container '),
  );

/**
 * Where the API does not name the stop signal it is the image's (SIGNALS.md §2 S8): one of those that ask a program to end.
 * A signal of a crash (SEGV, ABRT, BUS) or of a broken pipe is no stop signal.
 */
const fitsStopSignal = (code: number, own: number | undefined): boolean =>
  own !== undefined
    ? code === 128 + own
    : usualStopSignals.some((name) => code === 128 + (numberOfSignal(name) ?? NaN));

const usualStopSignals = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGTERM'];

const lastSeenRunning = (trace: Trace, spec: ContainerSpec): boolean =>
  trace.pod !== undefined &&
  statusesOf(trace.pod.value).some((status) => status.name === spec.name && isRunning(status.state));

/** 137 before any kill can have come is the application's own, or somebody else's SIGKILL (SIGNALS.md §5 "Exit codes"). */
const mayBeOfKill = (killSince: Estimate, ended: Estimate): boolean => !isBefore(ended, killSince);

function stopSignalOf(trace: Trace, spec: ContainerSpec): string | undefined {
  const status = statusesOf(
    trace.pod?.value ?? { kind: 'Pod', metadata: { name: '', uid: '' }, spec: { containers: [] }, status: {} },
  );
  return status.find((one) => one.name === spec.name)?.stopSignal ?? spec.container.lifecycle?.stopSignal;
}

/** Signals by name and number (Linux). The API names a stop signal only where lifecycle.stopSignal is in use. */
const named = [
  ...['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'USR2', 'PIPE', 'ALRM'],
  ...['TERM', 'STKFLT', 'CHLD', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'XCPU', 'XFSZ', 'VTALRM', 'PROF'],
  ...['WINCH', 'IO', 'PWR', 'SYS'],
].map((name, index) => [`SIG${name}`, index + 1] as const);

const numbers = new Map<string, number>([...named, ['SIGIOT', 6], ['SIGCLD', 17], ['SIGPOLL', 29], ['SIGUNUSED', 31]]);

const realTime = { first: 34, last: 64 };

/** `SIGTERM` for `TERM`, `SIGTERM` or `15`; undefined where the API names none. */
export function nameOfSignal(given: string | undefined): string | undefined {
  if (given === undefined || given === '') return undefined;
  if (/^\d+$/.test(given)) return nameOfNumber(Number(given)) ?? given;
  return given.startsWith('SIG') ? given : `SIG${given}`;
}

function nameOfNumber(number: number): string | undefined {
  if (number < realTime.first || number > realTime.last) return named.find(([, one]) => one === number)?.[0];
  return number === realTime.first ? 'SIGRTMIN' : `SIGRTMIN+${number - realTime.first}`;
}

function numberOfSignal(given: string | undefined): number | undefined {
  const name = nameOfSignal(given);
  if (name === undefined) return undefined;
  const [, end, offset = '0'] = /^SIGRT(MIN|MAX)([+-]\d{1,2})?$/.exec(name) ?? [];
  if (end === undefined) return numbers.get(name);
  const number = (end === 'MIN' ? realTime.first : realTime.last) + Number(offset);
  return number >= realTime.first && number <= realTime.last ? number : undefined;
}
