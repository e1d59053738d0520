/** One line of a container's log, with the runtime's stamp. */
export interface Stamped {
  /** RFC 3339, nanoseconds, node clock. */
  time: string;
  text: string;
}

export interface Told extends Stamped {
  /** Lines left out since the last one that was told. */
  skipped?: number;
}

/**
 * Lets at most one line pass in each interval, so that a container which logs 100 MB while it dies costs neither
 * memory nor time: the first line at once, then the last one of each interval. Lines that `matters` says yes to have an
 * allowance of their own, so that chatter cannot hide them.
 */
export interface LogLimit {
  /** The line, if it may be told now. */
  offer(line: Stamped, now: number): Told | undefined;
  /** Client ms at which the line held back is due; undefined without one. */
  due(): number | undefined;
  /** The line held back. */
  release(now: number): Told | undefined;
}

export function createLogLimit(intervalMs: number, matters: (text: string) => boolean): LogLimit {
  let nextAt = Number.NEGATIVE_INFINITY;
  let nextThatMattersAt = Number.NEGATIVE_INFINITY;
  let skipped = 0;
  let held: Stamped | undefined;

  const tell = (line: Stamped, now: number): Told => {
    const told = skipped === 0 ? line : { ...line, skipped };
    skipped = 0;
    held = undefined;
    nextAt = now + intervalMs;
    return told;
  };

  return {
    offer(line, now) {
      const isDue = now >= nextAt;
      const isSpecial = !isDue && now >= nextThatMattersAt && matters(line.text);
      if (held !== undefined) skipped++;
      if (isSpecial) nextThatMattersAt = now + intervalMs;
      if (isDue || isSpecial) return tell(line, now);
      held = line;
      return undefined;
    },
    due: () => (held === undefined ? undefined : nextAt),
    release: (now) => (held === undefined ? undefined : tell(held, now)),
  };
}
