/**
 * The numbers of an advice, in one place, for a verdict's fix, `check`, `fix` and `recommend`. They differ in one case: of an app
 * that ignores its signal a verdict keeps today's grace beside the hook (fix.ts). Pure.
 */

/** Seconds of a preStop sleep where nothing was measured: load balancers differ, so the text says "adjust". */
export const defaultPreStopSeconds = 10;

/**
 * Seconds of terminationGracePeriodSeconds for a hook and a drain: a quarter more than both, rounded up to 5 s. The
 * quarter covers slower days; the 5 s keep the number from looking more exact than it is.
 */
export const graceFor = ({ hookSeconds, drainSeconds }: { hookSeconds: number; drainSeconds: number }): number =>
  Math.max(5, Math.ceil(((hookSeconds + drainSeconds) * 1.25) / 5 - 1e-9) * 5);

/**
 * Seconds that an application is left for its drain where none was measured: what it has today, and never so little
 * that the hook would take half of the grace period.
 */
export const unmeasuredDrain = (today: { graceSeconds: number; hookSeconds: number }, hookSeconds: number): number =>
  Math.max(today.graceSeconds - today.hookSeconds, 0.65 * hookSeconds, 2);
