/** The one place that sizes a preStop sleep and a grace period, for every command. Pure; seconds. */
import { limitText, type Limit } from './limits.ts';

/** The preStop sleep if nothing was measured: load balancers differ, so the text says "adjust". */
export const defaultPreStopSeconds = 10;

/** The API's default of terminationGracePeriodSeconds. */
export const defaultGraceSeconds = 30;

export interface GraceNeed {
  readonly hookSeconds: number;
  readonly drainSeconds: number;
  /** What `drainSeconds` is: `grace today`, `drain`. */
  readonly drainWords: string;
  /** What is known of the drain where `drainSeconds` is assumed. */
  readonly knownSeconds?: number;
}

/** The grace period for what needs the longest: hook + drain + 25 % for slower shutdowns, rounded up to 5 s. */
export function graceSize(needs: readonly GraceNeed[], limits: readonly Limit[] = []) {
  const sizes = needs.map(({ hookSeconds, drainSeconds, drainWords, knownSeconds }) => {
    const [hook, drain] = [tenths(hookSeconds), tenths(drainSeconds)];
    const seconds = Math.max(5, Math.ceil(((hook + drain) * 1.25) / 5 - 1e-9) * 5);
    const parts = [...(hook > 0 ? [`${hook}s preStop`] : []), `${drain}s ${drainWords}`];
    const rounded = seconds > (hook + drain) * 1.25 ? ', rounded up' : '';
    const least = hook + Math.max(Math.min(drain, defaultGraceSeconds), (knownSeconds ?? drain) * 1.25);
    return { seconds, work: hook + drain, least, sum: `${parts.join(' + ')} + 25%${rounded}` };
  });
  const [most] = sizes.sort((a, b) => b.work - a.work);
  if (!most) return undefined;
  const limit = limits.find(({ seconds }) => seconds < most.seconds);
  return {
    seconds: limit?.seconds ?? most.seconds,
    work: most.work,
    /** What is known to be needed: of a drain that is assumed the API's default at most, of any other 25 % more. */
    least: Math.max(...sizes.map(({ least }) => least)),
    /** The printed sum, which gives the printed number: `10s preStop + 10s grace today + 25%`. */
    sum: limit ? `${most.sum} is ${most.seconds}s, and ${limitText(limit)}` : most.sum,
    /** A limit that ends the pod earlier than the sum asks for: the earliest. */
    limit,
  };
}

/** Rounded up, so that the printed operands are those of the sum. */
const tenths = (seconds: number): number => Math.ceil(seconds * 10 - 1e-6) / 10;

/** What an application gets to stop after a hook: as today; where that is nothing, or the hook would be heavy, the API's default. */
export function drainBeside(hookSeconds: number, today: { graceSeconds: number; hookSeconds: number }): GraceNeed {
  const left = today.graceSeconds - today.hookSeconds;
  const need = { hookSeconds, drainSeconds: left, drainWords: 'grace today' };
  return left > 0 && !isHeavyHook(hookSeconds, graceSize([need])?.seconds ?? 0)
    ? need
    : { hookSeconds, drainSeconds: defaultGraceSeconds, drainWords: "to stop (Kubernetes' default)" };
}

/** It takes more than half of the grace period, and leaves less than the API's default, for which applications are written. */
export const isHeavyHook = (hookSeconds: number, graceSeconds: number): boolean =>
  hookSeconds > graceSeconds / 2 && graceSeconds - hookSeconds < defaultGraceSeconds;
