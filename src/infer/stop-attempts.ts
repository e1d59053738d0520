/** Whether the kubelet kept time: a failed kill or a restarted kubelet begins everything again (S11, trap 36). */
import { millisecondsOf, type AssumptionName } from '../model/assumptions.ts';
import { second } from '../model/span.ts';
import type { Fact, Occurrence } from '../model/trace.ts';
import { isBefore, moved, type Estimate } from './estimate.ts';
import { longestStop, minimumGrace, type InferContext, type Kubelet } from './context.ts';
import type { ContainerSpec } from '../model/pod.ts';

/** What is known of a container's stop when its attempts are judged. */
export interface StopAttempts {
  readonly began: Estimate;
  readonly killings: readonly Occurrence[];
  readonly ended: Estimate | undefined;
  readonly lag: AssumptionName;
}

/**
 * The kubelet did not keep time: a kill failed, the kubelet restarted, or the container outlived every deadline.
 * Everything begins again then, with a signal only if none was sent before (trap 36), and nothing but the exit or a
 * line that names the signal bounds it from above.
 */
export function mayHaveRetried(
  { trace, kubelet }: InferContext,
  { killings, ended, began, lag }: StopAttempts,
  ready: Estimate,
): boolean {
  const last = killings.at(-1);
  const since = killings[0]?.time.lo ?? began.node.lo;
  const again =
    killings.length > 1 ||
    trace.events.some((event) => beginsNewAttempt(event) && event.time.hi >= since) ||
    trace.nodeReady.some(
      (ready, index) => index > 0 && ready.value !== 'True' && ready.at >= (killings[0]?.at ?? -Infinity),
    );
  const late = killings.length < 2 && ended !== undefined && outlived(kubelet, began, ended, lag);
  // Without any Killing seen, attempts that failed would not have been seen either.
  // Of an Event that was repeated before, only its last time is known.
  const repeated = (killings[0]?.count ?? 1) > 2;
  return again || late || repeated || last === undefined || !Number.isFinite(ready.client.hi);
}

/** Without any Killing nothing speaks against one round, begun when the kubelet was first seen to know. */
export const isInTime = ({ trace, kubelet }: InferContext, { ended, began, lag }: StopAttempts): boolean =>
  !trace.events.some(beginsNewAttempt) &&
  !trace.nodeReady.some((ready, index) => index > 0 && ready.value !== 'True') &&
  !(ended !== undefined && outlived(kubelet, began, ended, lag));

/** It lived past hook, minimum grace and kill: the kubelet did not keep time. */
export function outlived(kubelet: Kubelet, began: Estimate, ended: Estimate, lag: AssumptionName): boolean {
  const deadline = longestStop(kubelet) + minimumGrace + second + millisecondsOf(lag);
  return isBefore(moved(began, { lo: 0, hi: deadline }), ended);
}

export const isStart = (event: Occurrence): boolean =>
  event.reason === 'Starting' && event.about.kind === 'Node' && event.component === 'kubelet';

export const beginsNewAttempt = (event: Occurrence): boolean => event.reason === 'FailedKillPod' || isStart(event);

/** Node clock, ms. */
interface PauseEnd {
  readonly at: number;
  /** The log line that shows it. */
  readonly evidence: readonly number[];
}

/**
 * A kubelet that paused (frozen, starved of CPU) while it waited goes on late: a sleep hook ends, and its signal is sent, when
 * it resumes. A late renewal of its node's Lease shows that, and so does an application that names its signal long after it
 * was due. When it last resumed; undefined where nothing shows a pause. `due`: node clock.
 */
export function pauseEndOf(
  { trace }: InferContext,
  { name, kind }: ContainerSpec,
  due: { readonly from: number; readonly to: number },
): PauseEnd | undefined {
  const { listedRenewal, renewals } = trace.nodeSigns;
  const stamps = [...(listedRenewal ? [listedRenewal] : []), ...renewals.map(stampOf)];
  const late = stamps.filter(
    ({ value }, index) => index > 0 && value - (stamps[index - 1]?.value ?? value) > longestRenewal && value > due.from,
  );
  // A sidecar gets its signal late anyway: it waits for its turn.
  const lines = kind === 'sidecar' ? [] : (trace.containers.get(name)?.log.signalLines ?? []);
  const line = lines.find(({ value }) => value >= due.from);
  const signs = [...late, ...(line && line.value > due.to ? [line] : [])].filter(({ value }) => value > due.to);
  const last = signs.at(-1);
  return last && { at: last.value, evidence: last === line ? [last.seq] : [] };
}

const stampOf = ({ value, seq, at }: Fact<{ readonly stamp: number }>): Fact<number> => ({
  value: value.stamp,
  seq,
  at,
});

/** The kubelet renews every 10 s, and up to 4 % later (kubelet.go, `wait.JitterUntil`). ms */
const longestRenewal = 10.5 * second;
