/**
 * Recommended numbers, shared by a verdict's fix, `check`, `fix` and `recommend`. One exception: for an app that ignores
 * its signal, a verdict's fix keeps today's grace period in addition to the hook (fix.ts). Pure.
 */

/** The preStop sleep if nothing was measured: load balancers differ, so the text says "adjust". */
export const defaultPreStopSeconds = 10;

/**
 * Seconds of terminationGracePeriodSeconds for a hook and a drain: a quarter more than both, rounded up to 5 s. The
 * quarter covers slower shutdowns; the 5 s keep the number from looking more exact than it is.
 */
export const graceFor = ({ hookSeconds, drainSeconds }: { hookSeconds: number; drainSeconds: number }): number =>
  Math.max(5, Math.ceil(((hookSeconds + drainSeconds) * 1.25) / 5 - 1e-9) * 5);

/**
 * Seconds to leave for the drain if none was measured: what the application has today, but enough that the hook takes
 * less than half of the grace period.
 */
export const unmeasuredDrain = (today: { graceSeconds: number; hookSeconds: number }, hookSeconds: number): number =>
  Math.max(today.graceSeconds - today.hookSeconds, 0.65 * hookSeconds, 2);
