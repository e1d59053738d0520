/** When and how a container ended: by its status or, before that, its log's end (SIGNALS.md §5 "Exit codes"). */
import { millisecondsOf } from '../model/assumptions.ts';
import { isMadeUp, isMirror, isRunning, statusOf } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import { atLeast, atMost, second } from '../model/span.ts';
import { parseFloor } from '../model/stamps.ts';
import { stopSignalOfImage, numberOfSignal } from '../programs/rows.ts';
import { knownEnd } from '../programs/stop-behaviour.ts';
import type { ContainerFacts, Fact, LogFacts, Trace } from '../model/trace.ts';
import { deliverableSince, deliveryLagOf } from './arrival.ts';
import { mayHaveRestarted } from './before-deletion.ts';
import { minimumGrace, stopTimeout, type DeletionContext, type ExitFacts } from './context.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { moment, type PodNetwork } from './pod-network.ts';
import { isKubeletStart, lateRenewals, type Stop } from './stop.ts';

/** Constrains the exit by its status: in [finishedAt, + 1 s) on the node's clock, and before the status arrived. */
export function constrainExit(network: PodNetwork, container: string, facts: ContainerFacts): void {
  const { terminated, log } = facts;
  const finished = parseFloor(terminated?.value.finishedAt);
  if (!terminated || !finished || isMadeUp(terminated.value.reason, terminated.value.exitCode)) return;
  const at = moment('exit', container);
  const evidence = [terminated.seq];
  const arrived = { because: 'the status of its end had arrived (§2 S12)', evidence };
  network.within(at, { client: atMost(terminated.at + 1) }, arrived);
  const stopping = moment('stopping', container);
  const ranBefore = { because: 'the kubelet stops what it saw running just before (trap 7)' };
  // It notices an exit within about a second (its PLEG); 10 s later only if the runtime hardly answers.
  if (network.has(stopping)) network.follows(stopping, at, { min: -10 * second }, ranBefore);
  network.stamp('node', at, finished, { because: 'finishedAt (§5)', evidence });
  constrainByLastLine(network, container, log);
}

function constrainByLastLine(network: PodNetwork, container: string, { lastLine }: ContainerFacts['log']): void {
  if (!lastLine) return;
  const { stamp, isBurst } = lastLine.value;
  const lag = millisecondsOf('log-stamp-lag') * (isBurst ? 10 : 1);
  const proof = { because: 'log-stamp-lag', evidence: [lastLine.seq] };
  network.stamp('node', moment('exit', container), atLeast(stamp - lag), proof);
}

/** `mayHaveWaited`: a hook or a sidecar turn may have used up grace before the signal. Undefined: without a signal. */
export function exitOf(stop: Stop, mayHaveWaited?: boolean): ExitFacts | undefined {
  const { network, spec, ended } = stop;
  const { terminated } = stop.facts;
  const at = moment('exit', spec.name);
  if (ended && terminated) {
    const { exitCode: code, reason } = terminated.value;
    return { at: network.read(at), code, reason };
  }
  const end = exitLogEnd(stop);
  const signal = mayHaveWaited === undefined ? undefined : network.read(moment('stop-signal', spec.name));
  if (!end || !signal || end.at + 1 < signal.client.lo || terminated) return undefined;
  constrainByLogEnd(stop, end, mayHaveWaited ? signal : undefined);
  const exit = network.read(at);
  return Number.isFinite(exit.client.hi) ? { at: exit } : undefined;
}

/**
 * The kubelet ends a log within about a second of the exit (SIGNALS.md §5). If no status can follow, the kill at the
 * end of the grace bounds the exit. `lateSignal`: if grace may have been used up before it.
 */
function constrainByLogEnd(stop: Stop, end: Fact<unknown>, lateSignal: Estimate | undefined): void {
  const { network, trace, kubelet, stopStart, lag } = stop;
  const { name } = stop.spec;
  const { log } = stop.facts;
  const at = moment('exit', name);
  const proof = { because: 'log-end', evidence: [end.seq] };
  const wait = lateSignal ? kubelet.grace.max * second + minimumGrace : stopTimeout(kubelet, 'max');
  const killedBy = trace.gone ? wait + millisecondsOf(lag) : -Infinity;
  network.within(at, { client: atMost(Math.max(end.at + 1, stopStart.client.hi + killedBy)) }, proof);
  const earliest = earliestLogEnd(stop, end.at) - millisecondsOf('log-end');
  const cause = !lateSignal || lateSignal.client.lo <= earliest ? 'stop-signal' : 'stop-start';
  network.follows(moment(cause, name), at, {}, { because: 'it ended after its signal, or after the kubelet began' });
  network.within(at, { client: atLeast(earliest - deliveryLagOf(trace)) }, proof);
  constrainByLastLine(network, name, log);
}

/** The earliest end (client ms) of a log whose end arrived at `at`: connection or kubelet may have stood still. */
function earliestLogEnd({ trace, facts }: Stop, at: number): number {
  const { reopened } = facts.log;
  if (reopened && at - reopened.at <= deliveryLagOf(trace)) return -Infinity;
  const longest = millisecondsOf('log-end') + deliveryLagOf(trace);
  const isAfterPause = lateRenewals(trace).some((renewal) => Math.abs(at - renewal.at) <= longest);
  return isAfterPause ? -Infinity : deliverableSince(trace, 'logs', at);
}

/** The end of the container's log, unless the log may have ended before the container. */
function exitLogEnd({ trace, facts, killings }: Stop): LogFacts['ended'] {
  const end = facts.log.ended;
  const isDoubtful =
    !end?.value.clean ||
    killings.some((killing) => killing.at > end.at) ||
    trace.events.some((event) => isKubeletStart(event) && event.at > end.at) ||
    trace.nodeReady.some((ready) => ready.value !== 'True' && ready.at >= end.at) ||
    mayHaveEndedWithKubelet(trace, end.at);
  return isDoubtful ? undefined : end;
}

/** The API server ends a log stream cleanly once the kubelet behind it hangs: after about 42 s on a real cluster. */
function mayHaveEndedWithKubelet({ nodeSigns: { listedRenewal, renewals }, deletion }: Trace, at: number): boolean {
  const renewed = renewals.findLast((renewal) => renewal.at <= at) ?? listedRenewal;
  return at - (renewed?.at ?? deletion?.seenAt ?? -Infinity) > 40 * second;
}

/** The outcome of a container. The exit code alone does not show it. */
export function outcomeOf(stop: Stop, killSince: Estimate, isDoubtfulKill: boolean): ContainerOutcome {
  const { trace, spec, facts, ended } = stop;
  const { value: end } = facts.terminated ?? {};
  const status = statusOf(trace.pod?.value, spec.name);
  if (!end || !ended) {
    const seemsRunning = isRunning(status?.state) || mayHaveRestarted(stop);
    return !end && seemsRunning && wasLeftRunning(stop) ? 'abandoned' : 'unknown';
  }
  if (end.exitCode === 0) return 'completed';
  // Any OOM kill of any process in the container sets this reason for good (SIGNALS.md §5 "Exit codes").
  if (end.reason === 'OOMKilled' && end.exitCode === 137) return isBefore(ended, killSince) ? 'oom' : 'unknown';
  if (fitsStopSignal(end.exitCode, status?.stopSignal)) return 'signalled';
  if (knownEnd(spec.container, knownStopSignal({ spec, status }), end.exitCode)?.isNormal) return 'signalled';
  if (end.exitCode !== 137 || isBefore(ended, killSince)) return 'failed';
  return isDoubtfulKill ? 'unknown' : 'killed';
}

/** Whether the object was removed while the container ran: no log that ended before shows that it may have ended. */
function wasLeftRunning(stop: Stop): boolean {
  const { trace, network } = stop;
  if (trace.gone?.value !== 'deleted' || isMirror(stop.deletion.pod)) return false;
  const since = isRemovedAtOnce(stop) ? network.read('removed').client.lo : trace.gone.at;
  const logEnd = exitLogEnd(stop);
  return !(logEnd && logEnd.at < since);
}

/** The DELETE itself removed the object. */
export const isRemovedAtOnce = ({ trace, deletion }: DeletionContext): boolean =>
  deletion.grace === 0 && !trace.finalizing;

/** Whether the log ended so long after the removal of the pod that the container certainly ran until then. */
export const outlivedRemoval = (stop: Stop): boolean =>
  (exitLogEnd(stop)?.at ?? -Infinity) > (stop.trace.gone?.at ?? Infinity) + millisecondsOf('log-end');

/** By default (SIGNALS.md §2 S8) any signal that asks a program to end, but not one of a crash or a broken pipe. */
const fitsStopSignal = (code: number, named: string | undefined): boolean =>
  (numberOfSignal(named) === undefined ? usualStopSignals : [named]).some(
    (name) => numberOfSignal(name) === code - 128,
  );

const usualStopSignals = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGTERM'];

/**
 * The stop signal that the runtime reports, else that of a well-known image. Undefined: SIGTERM, as far as is known. A
 * runtime that ignores the spec's, such as containerd before 2.3.0, reports none (KEP-4960).
 */
export const knownStopSignal = ({ spec, status }: Pick<Stop, 'spec' | 'status'>): string | undefined =>
  status?.stopSignal ?? stopSignalOfImage(spec.container.image);
