import { fromMs, perSecond, type Nanoseconds } from './nanoseconds.ts';

const ms = 1_000_000n;
/** From a write in the cluster to its arrival at the recorder, as measured where both are known. */
const writeToArrival = 4n * ms;
/** From a container's end to the arrival of the status that shows it (SIGNALS.md §0, 6: 85 to 110 ms). */
const exitToArrival = 95n * ms;
/** From an Event's making to the API server's stamp on it. */
const eventToStore = 5n * ms;

/**
 * A stamp of whole seconds is the floor of a time nobody wrote down. These are guesses of that time, always inside the
 * stamp's second, so that it can be moved and cut again. `seenAt` is when the recorder first saw it, in milliseconds.
 */
export function freshStamp(stamp: Nanoseconds, seenAt: number): Nanoseconds {
  const arrival = fromMs(seenAt);
  // Of an old stamp nothing is known but the second; its beginning never comes after what followed it.
  if (arrival - stamp > 2n * perSecond) return stamp;
  return within(stamp, arrival - writeToArrival);
}

/** When a DELETE was accepted whose deletionTimestamp and grace are these. */
export function acceptance(deadline: Nanoseconds, graceSeconds: number, seenAt: number): Nanoseconds {
  const grace = BigInt(graceSeconds) * perSecond;
  const arrival = fromMs(seenAt) - writeToArrival;
  // A grace that was shortened into the past is stored as "now" and 1 s (SIGNALS.md §1, repeat delete).
  const isNow = arrival - deadline < perSecond && arrival >= deadline;
  return isNow ? within(deadline, arrival) : within(deadline - grace, arrival) + grace;
}

/** When a container ended. */
export function containerEnd(stamp: Nanoseconds, seenAt: number, known: Nanoseconds | undefined): Nanoseconds {
  return within(stamp, known ?? fromMs(seenAt) - exitToArrival);
}

/** When the API server stored an Event whose name carries `made`. */
export function eventStored(stamp: Nanoseconds, made: Nanoseconds): Nanoseconds {
  return within(stamp, made + eventToStore);
}

function within(second: Nanoseconds, guess: Nanoseconds): Nanoseconds {
  const last = second + perSecond - 1n;
  return guess < second ? second : guess > last ? last : guess;
}
