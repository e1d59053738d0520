/** What the end of a container means (SIGNALS.md §5 "Exit codes"): the code alone does not say it. */
import { isMirror, isRunning, statusesOf, type ContainerSpec } from '../model/pod.ts';
import type { ContainerOutcome } from '../model/report.ts';
import type { ContainerFacts, Fact, Trace } from '../model/trace.ts';
import { arrival } from './arrival.ts';
import { isBefore, type Estimate } from './estimate.ts';
import { exitLogEnd } from './exit.ts';
import type { InferContext } from './context.ts';
import { mayHaveRestarted } from './was-running.ts';

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
export const mayBeItsKubelets = ({ trace, deletion }: Pick<InferContext, 'trace' | 'deletion'>): boolean =>
  isMirror(deletion.facts.first.value) && deletion.grace === 0 && trace.requests.length === 0;

/** Its kubelet reported that it stopped it, and removed the copy afterwards: the manifest is gone. */
export const wasStoppedAsStatic = (
  context: Pick<InferContext, 'trace' | 'deletion'>,
  { name }: Pick<ContainerSpec, 'name'>,
): boolean =>
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
