/** Notices by late ticks that this process was suspended. */
import type { RawObservation, StreamName } from '../../model/observation.ts';
import type { Clock } from '../../output/ports.ts';

const tickMs = 1000;
/** Tolerated lateness of a tick: of a suspension, less than 2 s is added to an arrival (`delivery-lag`, 2.5 s). */
const tolerableDelayMs = 1000;

export type Suspension = ReturnType<typeof watchSuspension>;

/** `streams`: those whose changes may have had to wait. */
export function watchSuspension(
  clock: Clock,
  streams: () => Iterable<StreamName>,
  deliver: (rawObservation: RawObservation) => void,
) {
  /** Client ms at which the process was last known to run. */
  let awakeAt = clock.now();
  let last: { since: number; at: number } | undefined;
  const resumed = (since: number, at: number): RawObservation[] => {
    last = { since, at };
    return [...new Set(streams())].map((stream) => ({ kind: 'resumed', at, stream, since }));
  };
  /** Call before delivering something that arrived at `at`; returns what must be delivered first. */
  const before = (at: number): RawObservation[] => {
    const since = awakeAt;
    awakeAt = Math.max(awakeAt, at);
    if (at - since > tickMs + tolerableDelayMs) return resumed(since, at);
    // Another stream read this on waking too, a moment before the delivery that noticed the suspension.
    return last && at < last.at && at - last.since > tickMs + tolerableDelayMs ? resumed(last.since, at) : [];
  };
  /** Delivers a suspension that has just ended and that no tick has noticed yet. */
  const notice = (): void => before(clock.now()).forEach(deliver);
  const tick = (): void => {
    notice();
    cancel = clock.setTimeout(tick, tickMs);
  };
  let cancel = clock.setTimeout(tick, tickMs);
  /**
   * ms during which data that arrived while this process was suspended may still be unread, so that nothing must time
   * out: after waking, timers fire first, and a broken connection has to be reopened.
   */
  const unreadMs = (): number => Math.max(0, (last?.at ?? -Infinity) + 5000 - clock.now());
  return { before, notice, unreadMs, cancel: (): void => cancel() };
}
