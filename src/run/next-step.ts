/** What a live run does next about its end: by what the trace lacks, and by how its streams are doing. Pure. */
import type { Trace } from '../model/trace.ts';
import { endingOf } from './ending.ts';
import type { StreamHealth } from './stream-health.ts';

export type NextStep =
  | { kind: 'go-on' }
  /** Look again then (client ms), or when a stream says something. */
  | { kind: 'wait'; until: number }
  /** Everything is known. */
  | { kind: 'end' }
  /** Something is not, and no longer waited for. */
  | { kind: 'settled' };

/** ms for the streams to confirm that they have delivered everything. */
const doubtPatience = 2000;
/** ms for a stream that is lost to come back and deliver the rest: more than the longest pause between two tries. */
export const lostPatience = 10_000;

/** ms in which the streams that many pods share bring their last changes of one pod; none of them is asked. */
export const lastNewsMs = 500;

/** `quietMs`: from the pod's removal on. */
export function nextStep(
  trace: Trace,
  streams: Pick<StreamHealth, 'areWhole' | 'isComingBack'>,
  now: number,
  quietMs = 0,
): NextStep {
  const ending = endingOf(trace);
  if (ending.kind === 'open') return { kind: 'go-on' };
  const whole = streams.areWhole();
  const over = trace.gone?.at ?? trace.now;
  if (ending.kind === 'done' && whole)
    return now < over + quietMs ? { kind: 'wait', until: over + quietMs } : { kind: 'end' };
  const until = Math.max(
    ending.kind === 'settling' ? ending.until : 0,
    whole ? 0 : over + (streams.isComingBack() ? lostPatience : doubtPatience),
  );
  return now < until ? { kind: 'wait', until } : { kind: 'settled' };
}
