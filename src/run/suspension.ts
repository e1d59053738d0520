/**
 * Notices that this process stood still (Ctrl-Z, SIGSTOP, a laptop that slept): what arrived meanwhile is dated by the
 * waking. A tick that comes too late shows it; what is read before that tick shows it by its own date.
 */
import type { Sighting, StreamName } from '../model/observation.ts';
import type { Clock } from './clock.ts';

export interface Suspension {
  /** To be asked before something that arrived at `at` is delivered: what has to be delivered first. */
  before(at: number): Sighting[];
  /**
   * ms from now on in which what arrived during a standstill may still be unread, so that nobody gives up meanwhile:
   * timers come first on waking, and a connection that broke has to be made anew.
   */
  unread(this: void): number;
  cancel(): void;
}

const tickMs = 1000;
/**
 * Beyond the tick itself. Standstills of 2 s are noticed whenever they begin, so that less than that adds to how late
 * a change may arrive (`delivery-lag`, 2.5 s). A busy machine is late too: then intervals get wider, and nothing else happens.
 */
const lateMs = 1000;

const readingMs = 5000;

/** `streams`: those whose changes may have waited. `deliver` gets what a late tick shows. */
export function watchSuspension(
  clock: Clock,
  streams: () => Iterable<StreamName>,
  deliver: (sighting: Sighting) => void,
): Suspension {
  /** Client ms: the process ran then. */
  let awakeAt = clock.now();
  let last: { since: number; at: number } | undefined;
  const resumed = (since: number, at: number): Sighting[] => {
    last = { since, at };
    return [...new Set(streams())].map((stream) => ({ kind: 'resumed', at, stream, since }));
  };
  const before = (at: number): Sighting[] => {
    const since = awakeAt;
    awakeAt = Math.max(awakeAt, at);
    if (at - since > tickMs + lateMs) return resumed(since, at);
    // Read on waking too, by another stream, a moment before what was delivered first.
    return last && at < last.at && at - last.since > tickMs + lateMs ? resumed(last.since, at) : [];
  };
  const tick = (): void => {
    before(clock.now()).forEach(deliver);
    cancel = clock.setTimeout(tick, tickMs);
  };
  let cancel = clock.setTimeout(tick, tickMs);
  const unread = (): number => {
    const now = clock.now();
    before(now).forEach(deliver);
    return Math.max(0, (last?.at ?? -Infinity) + readingMs - now);
  };
  return { before, unread, cancel: () => cancel() };
}
