/**
 * Sends on schedule, whatever became of what was sent (an open model: a slow answer delays no later request, so latencies
 * and losses are not flattered). By any moment no more was sent than the rate allows since the start.
 */

export interface Pace {
  ratePerSecond: number;
  /** The run's clock, ms: it goes on while the machine sleeps, the monotonic one may not. */
  now(): number;
  /** A request is due. */
  send(): void;
  /**
   * This process did not run for a while, at least `standstillMs`. `missed` requests will not be sent: those of a long standstill
   * are not made up for. Comes before what arrived meanwhile is read.
   */
  onStandstill(kind: Standstill, missed: number): void;
}

/** A busy machine lets a process wait and takes its answers meanwhile; one that sleeps takes nothing, and its connections may break. */
export type Standstill = 'busy' | 'asleep';

/** ms: who did not run for so long cannot tell what others did meanwhile. */
export const standstillMs = 250;
/** ms: what is late by less is sent late, at most at twice the rate since a burst could harm the target; the rest not at all. */
const latestMs = 1000;
/** ms that count for what one look may send: on a busy machine looks are that far apart. */
const burstMs = 50;
/** ms between two looks at the clock, where nothing is due for longer. */
const lookMs = 100;

export type Schedule = ReturnType<typeof startSchedule>;

/** Begins at once. */
export function startSchedule({ ratePerSecond, now, send, onStandstill }: Pace) {
  const intervalMs = 1000 / ratePerSecond;
  const start = performance.now();
  let next = 0;
  let expected = start;
  let last = { monotonic: start, client: now() };
  let timer = setTimeout(tick, 0);

  /** ms since the last look: a machine that slept shows on the run's clock alone. */
  const sleptUntil = (monotonic: number, client: number): number => client - last.client - (monotonic - last.monotonic);

  function tick(): void {
    const monotonic = performance.now();
    const client = now();
    const late = monotonic - expected;
    const sinceLast = Math.max(monotonic - last.monotonic, 1);
    const slept = sleptUntil(monotonic, client);
    last = { monotonic, client };
    const firstDue = Math.ceil((monotonic - latestMs - start) / intervalMs);
    if (late >= standstillMs || slept >= standstillMs || firstDue > next) {
      const asleep = slept >= standstillMs ? Math.floor(slept / intervalMs) : 0;
      onStandstill(slept >= standstillMs ? 'asleep' : 'busy', Math.max(0, firstDue - next) + asleep);
      next = Math.max(next, firstDue);
    }
    const most = Math.ceil((2 * Math.min(sinceLast, burstMs)) / intervalMs);
    for (let sent = 0; sent < most && start + next * intervalMs <= monotonic; sent++) {
      next += 1;
      send();
    }
    const wait = Math.min(start + next * intervalMs - performance.now(), lookMs);
    expected = performance.now() + Math.max(wait, 0);
    timer = setTimeout(tick, Math.max(wait, 0));
  }

  return {
    /** How it stands still, or did and has not noticed yet: what the system says on waking comes before any timer. */
    standstill(): Standstill | undefined {
      const [monotonic, client] = [performance.now(), now()];
      if (sleptUntil(monotonic, client) >= standstillMs) return 'asleep';
      return client - last.client >= lookMs + standstillMs ? 'busy' : undefined;
    },
    stop: (): void => clearTimeout(timer),
  };
}
