/** The numbers of an advice, in one place: `check`, `fix`, `recommend` and a verdict's fix give the same. Pure. */

/** Seconds of a preStop sleep where nothing was measured: load balancers differ, so the text says "adjust". */
export const defaultPreStopSeconds = 10;

/** What an application is allowed after its stop signal where nothing was measured: Kubernetes' default grace period is 30 s. */
const defaultDrainSeconds = 15;

/**
 * Seconds of terminationGracePeriodSeconds for a hook and a drain: a quarter more than both, rounded up to 5 s. The
 * quarter covers slower days; the 5 s keep the number from looking more exact than it is.
 */
export const graceFor = (needs: { hookSeconds: number; drainSeconds?: number }): number =>
  roundedUp((needs.hookSeconds + (needs.drainSeconds ?? defaultDrainSeconds)) * 1.25);

// The tolerance keeps 20.000000000000004 from becoming 25.
const roundedUp = (seconds: number): number => Math.max(5, Math.ceil(seconds / 5 - 1e-9) * 5);
