/**
 * Sends at a fixed rate, whatever happens to the requests (an open model: a slow answer delays no later request, and so
 * hides no latencies or losses). At any moment no more requests were sent than the rate allows since the start.
 */

interface ScheduleOptions {
  ratePerSecond: number;
  /** The run's clock, ms: unlike the monotonic clock, it never stops while the machine sleeps. */
  now(): number;
  /** A request is due. */
  send(): void;
  /**
   * This process did not run for at least `standstillMs`. `missed` requests are skipped: a long standstill is not made
   * up for. Called before anything that arrived meanwhile is read.
   */
  onStandstill(kind: Standstill, missed: number): void;
}

/** `busy`: the process waited while its machine received answers. `asleep`: it received none; connections may break. */
export type Standstill = 'busy' | 'asleep';

/** A process that did not run for so long cannot judge what others did meanwhile. */
export const standstillMs = 250;
/** A later request is skipped. Others are sent late, at most at twice the rate, since a burst could harm the target. */
const maxLatenessMs = 1000;
/** One tick sends at most twice what is due in this time: on a busy machine ticks are that far apart. */
const catchUpMs = 50;
/** Ticks are never further apart, even if no request is due. */
const maxTickMs = 100;

/** Begins at once. */
export function startSchedule({ ratePerSecond, now, send, onStandstill }: ScheduleOptions) {
  const intervalMs = 1000 / ratePerSecond;
  const start = performance.now();
  let next = 0;
  let expected = start;
  let last = { monotonic: start, client: now() };
  let timer = setTimeout(tick, 0);

  /** ms that the machine slept since the last tick: only the run's clock shows them. */
  const sleptMs = (monotonic: number, client: number): number => client - last.client - (monotonic - last.monotonic);

  function tick(): void {
    const monotonic = performance.now();
    const client = now();
    const late = monotonic - expected;
    const sinceLast = Math.max(monotonic - last.monotonic, 1);
    const slept = sleptMs(monotonic, client);
    last = { monotonic, client };
    const firstDue = Math.ceil((monotonic - maxLatenessMs - start) / intervalMs);
    if (late >= standstillMs || slept >= standstillMs || firstDue > next) {
      const asleep = slept >= standstillMs ? Math.floor(slept / intervalMs) : 0;
      onStandstill(slept >= standstillMs ? 'asleep' : 'busy', Math.max(0, firstDue - next) + asleep);
      next = Math.max(next, firstDue);
    }
    const maxSends = Math.ceil((2 * Math.min(sinceLast, catchUpMs)) / intervalMs);
    for (let sent = 0; sent < maxSends && start + next * intervalMs <= monotonic; sent++) {
      next += 1;
      send();
    }
    const wait = Math.min(start + next * intervalMs - performance.now(), maxTickMs);
    expected = performance.now() + Math.max(wait, 0);
    timer = setTimeout(tick, Math.max(wait, 0));
  }

  return {
    /** A standstill that no tick has noticed yet: after a wake-up, what the system reports comes before any timer. */
    standstill(): Standstill | undefined {
      const [monotonic, client] = [performance.now(), now()];
      if (sleptMs(monotonic, client) >= standstillMs) return 'asleep';
      return client - last.client >= maxTickMs + standstillMs ? 'busy' : undefined;
    },
    stop: (): void => clearTimeout(timer),
  };
}
