/**
 * A kubelet that paused (frozen, starved of CPU) while it waited goes on late: a sleep hook ends, and its signal is sent, when it
 * resumes. A late
 * renewal of its node's Lease shows that, and so does an application that names its signal long after it was due.
 */
import type { ContainerSpec } from '../model/pod.ts';
import { second } from '../model/span.ts';
import type { Fact } from '../model/trace.ts';
import type { InferContext } from './context.ts';

/** Node clock, ms. */
interface PauseEnd {
  readonly at: number;
  /** The log line that shows it. */
  readonly evidence: readonly number[];
}

/** When the kubelet last resumed after a wait was due; undefined where nothing shows a pause. `due`: node clock. */
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
